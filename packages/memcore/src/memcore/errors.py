"""Every error that memcore raises on purpose, in one tree.

MemcoreError(Exception)
├── MemoryAdapterError(RuntimeError)            an explicit store operation failed
│   ├── UnsupportedMemoryQuery                  the store cannot answer such a query
│   ├── UnsupportedMemoryItem                   the store cannot keep such an item exactly
│   ├── MemoryAdapterUnavailable                transport or service not available now
│   ├── MemoryConflict                          lost a race, or contradicts what is stored
│   ├── MemoryNotFound                          an operation named a record that does not exist
│   └── MalformedMemoryPayload                  the service, or a stored row, is not its contract
└── MemoryConfigurationError(ValueError)        unknown scheme, bad setting, not open, wrong event loop

Native exceptions are chained as causes and never leak. No message holds a secret or stored content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memcore.records.model import MemoryRecord


class MemcoreError(Exception):
    """The root of every error of memcore."""


class MemoryAdapterError(MemcoreError, RuntimeError):
    """An explicit operation on a store failed."""


class UnsupportedMemoryQuery(MemoryAdapterError):
    """The store cannot answer a query with these keys; nothing was sent (I-62, I-63)."""

    rejected_keys: tuple[str, ...]
    """The offending keys, sorted and unique."""

    def __init__(self, rejected_keys: Iterable[str], *, reason: str | None = None) -> None:
        self.rejected_keys = tuple(sorted(set(rejected_keys)))
        self.reason = reason
        message = "unsupported memory query keys: " + ", ".join(map(_printable, self.rejected_keys))
        super().__init__(f"{message} ({reason})" if reason else message)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), (self.rejected_keys,), {"reason": self.reason})


class UnsupportedMemoryItem(MemoryAdapterError):
    """The store cannot give this item back exactly, so it refused it; nothing was sent (I-40, I-45)."""

    def __init__(self, *, field: str, reason: str, path: str | None = None) -> None:
        self.field = field
        self.path: str = field if path is None else path
        self.reason = reason
        super().__init__(f"unsupported memory item: {_printable(self.path)}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), (), {"field": self.field, "path": self.path, "reason": self.reason})


class MemoryAdapterUnavailable(MemoryAdapterError):
    """Transport or service is not available now; a write was applied wholly or not at all (I-70)."""


class MemoryConflict(MemoryAdapterError):
    """The operation lost a race, or contradicts what is stored."""

    current: MemoryRecord | None
    """The valid head of the chain, or the record that has the id; `None` where there is none (R-11, R-12)."""

    def __init__(self, message: str, *, current: MemoryRecord | None = None) -> None:
        self.current = current
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, {"current": self.current})


class MemoryNotFound(MemoryAdapterError):
    """An operation named a record that does not exist."""


class MalformedMemoryPayload(MemoryAdapterError):
    """The service, or a stored row, is not what its contract says."""


class MemoryConfigurationError(MemcoreError, ValueError):
    """The caller's set-up is wrong: scheme, setting, contract not offered, not open, closed, other event loop."""


def _printable(text: str) -> str:
    """Keep a message printable everywhere: a lone surrogate or a control character becomes an escape."""
    return text if text.isprintable() else text.encode("unicode_escape", "backslashreplace").decode("ascii")


def _rebuild(cls: type[MemcoreError], args: tuple[object, ...], keywords: dict[str, object]) -> MemcoreError:
    return cls(*args, **keywords)
