"""The one place that turns what PostgreSQL, its driver and the network report into memcore's errors (I-70).

Messages say where it happened and what to do; they hold neither content nor SQL nor a secret. The native error is the
cause.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import asyncpg
from memcore.errors import (
    MalformedMemoryPayload,
    MemcoreError,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

NATIVE: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, EOFError)
"""Every error that comes from beyond this package; a timeout is an `OSError`."""
CONTENDED: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.UniqueViolationError)
"""The statement lost against another one, perhaps for an id, and was undone; trying again is all that it takes."""

_Fault = tuple[type[MemcoreError], str]
_REFUSED: Final = (MemoryAdapterError, "the server refused the role or its password")
_POOLER: Final = (
    MemoryConfigurationError,
    "a pooler in transaction mode does not follow prepared statements: set statement_cache_size=0",
)
_GONE: Final = (MemoryAdapterUnavailable, "the tables are gone, or of another version: connect again")
_OVERTAKEN: Final = (MemoryAdapterUnavailable, "other writers were faster again and again: try later")
_DAMAGED: Final = (MalformedMemoryPayload, "the server reports damaged data")
_BY_CODE: Final[dict[str, _Fault]] = {
    "08P01": (
        MemoryAdapterUnavailable,
        "the server or a pooler broke off; behind one in transaction mode set statement_cache_size=0",
    ),
    "23505": _OVERTAKEN,
    "25006": (MemoryAdapterUnavailable, "the server is read-only, a standby perhaps: connect to the primary"),
    "26000": _POOLER,
    "28000": _REFUSED,
    "28P01": _REFUSED,
    "3D000": (MemoryAdapterUnavailable, "the database does not exist: create it first"),
    "3F000": _GONE,
    "40001": _OVERTAKEN,
    "40P01": _OVERTAKEN,
    "42501": (MemoryAdapterError, "the role lacks a right that is needed here: grant it"),
    "42703": _GONE,
    "42P01": _GONE,
    "42P05": _POOLER,
    "53100": (MemoryAdapterUnavailable, "the server's disk is full"),
    "53300": (MemoryAdapterUnavailable, "the server has too many connections: lower max_size, or raise its limit"),
    "55000": (MemoryAdapterUnavailable, "the database accepts no connections now"),
    "55P03": (MemoryAdapterUnavailable, "somebody else holds a lock that is needed"),
    "57014": (MemoryAdapterUnavailable, "the statement was cancelled: it took too long, or somebody did so by hand"),
    "57P03": (MemoryAdapterUnavailable, "the server is starting up or shutting down"),
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}
_BY_CLASS: Final[dict[str, _Fault]] = {
    "08": (MemoryAdapterUnavailable, "the connection was lost or refused"),
    "53": (MemoryAdapterUnavailable, "the server is out of resources"),
    "57": (MemoryAdapterUnavailable, "the server ended the connection"),
    "58": (MemoryAdapterUnavailable, "the server cannot read or write its files"),
}
_FAILED: Final = (MemoryAdapterError, "PostgreSQL failed")


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise memcore's error in place of a native one, which becomes its cause.

    Args:
        place: where the data are, for the message.
    """
    try:
        yield
    except NATIVE as error:
        raise translate(error, place) from error


def translate(error: Exception, place: str) -> MemcoreError:
    """Return memcore's error for a native one."""
    kind, text = _classify(error)
    return kind(f"{text} ({_name(error)}; {place})")


def _classify(error: Exception) -> _Fault:
    if isinstance(error, asyncpg.PostgresError):
        code = error.sqlstate or ""
        return _BY_CODE.get(code) or _BY_CLASS.get(code[:2]) or _FAILED
    if isinstance(error, asyncpg.ClientConfigurationError):
        return MemoryConfigurationError, "the driver cannot make a connection of these settings"
    if isinstance(error, asyncpg.ProtocolError):
        return MalformedMemoryPayload, "what answers there does not speak PostgreSQL's protocol"
    if isinstance(error, TimeoutError):
        return MemoryAdapterUnavailable, "the server did not answer in time"
    if isinstance(error, OSError):
        return MemoryAdapterUnavailable, "the server cannot be reached"
    return MemoryAdapterUnavailable, "the connection cannot be used"


def _name(error: Exception) -> str:
    code = getattr(error, "sqlstate", None)
    return f"{type(error).__name__} {code}" if code else type(error).__name__
