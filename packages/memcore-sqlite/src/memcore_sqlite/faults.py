"""The one place that turns what SQLite and the file system report into memcore's errors (I-70).

Messages name the file and say what to do; they hold neither content nor SQL. The native error is the cause.
"""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, Final

from memcore.errors import MalformedMemoryPayload, MemoryAdapterError, MemoryAdapterUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PRIMARY: Final = 0xFF
"""The low byte of an extended result code is the primary one."""
_BUSY: Final = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL))
_DAMAGED: Final = frozenset((sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT))
_UNREACHABLE: Final = frozenset((sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM))
_BREAKING: Final = _DAMAGED | _UNREACHABLE | {sqlite3.SQLITE_IOERR}

_Meaning = tuple[type[MemoryAdapterError], str]
_MEANINGS: Final[dict[int, _Meaning]] = {
    sqlite3.SQLITE_CORRUPT_VTAB: (MalformedMemoryPayload, "the word index is damaged; `memcore check` repairs it"),
    **dict.fromkeys(_DAMAGED, (MalformedMemoryPayload, "it is not a sound SQLite database; it was left as it is")),
    **dict.fromkeys(_BUSY, (MemoryAdapterUnavailable, "others have locked it for longer than busy_timeout; try again")),
    sqlite3.SQLITE_FULL: (MemoryAdapterUnavailable, "no space is left; nothing of this call was kept: free some space"),
    sqlite3.SQLITE_IOERR: (MemoryAdapterUnavailable, "reading or writing failed: its disk is full, broken or gone"),
}
_UNKNOWN: Final[_Meaning] = (MemoryAdapterError, "SQLite failed")


def is_busy(error: BaseException) -> bool:
    """Tell whether another connection holds the lock that was needed."""
    return _code(error) in _BUSY


def breaks_connection(error: BaseException) -> bool:
    """Tell whether a connection should be made anew after this error: what it knows of its file may be wrong."""
    return _code(error) in _BREAKING


def translate(error: Exception, path: Path | None) -> Exception:
    """Return the error that a caller sees, with the native one as its cause; other errors as they are."""
    if not isinstance(error, sqlite3.Error | OSError):
        return error
    translated = _explain(error, path)
    translated.__cause__ = error
    return translated


def _code(error: BaseException) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY


def _explain(error: sqlite3.Error | OSError, path: Path | None) -> MemoryAdapterError:
    if isinstance(error, OSError) or _code(error) in _UNREACHABLE:
        return MemoryAdapterUnavailable(next(_obstacles(path, error)))
    if type(error) is sqlite3.OperationalError and not hasattr(error, "sqlite_errorcode"):  # Python's own, of a text
        return MalformedMemoryPayload(f"{path or 'the database in memory'}: a stored text is not UTF-8")
    extended = getattr(error, "sqlite_errorcode", 0)
    kind, text = _MEANINGS.get(extended) or _MEANINGS.get(_code(error), _UNKNOWN)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return kind(f"{path or 'the database in memory'}: {text} ({name})")


def _obstacles(path: Path | None, error: Exception) -> Iterator[str]:
    """Look at the file system for what keeps a file from being opened or written, and what to do about it."""
    if path is None:
        yield "the database in memory cannot be opened"
        return
    if isinstance(error, OSError) and not isinstance(error, (FileNotFoundError, PermissionError)):
        yield f"{path} cannot be opened: {error.strerror}"
    folder = path.parent
    yield from (  # from the root on: what lies in a closed folder cannot even be asked about
        f"this user may not enter the folder {parent}; change its permissions"
        for parent in reversed(path.parents)
        if parent.is_dir() and not os.access(parent, os.X_OK)
    )
    if not folder.is_dir():
        yield f"the folder {folder} does not exist; create it first: mkdir -p '{folder}'"
    if path.is_dir():
        yield f"{path} is a folder; name a file in it"
    for file in (str(path), f"{path}-wal", f"{path}-shm"):  # SQLite gives all three the permissions of the first
        if os.access(file, os.F_OK) and not os.access(file, os.R_OK | os.W_OK):
            yield f"this user may not read and write {file}; change its permissions: chmod u+rw '{file}'"
    if not os.access(folder, os.W_OK | os.X_OK):
        yield f"this user may not write in the folder {folder}, where SQLite needs files; change its permissions"
    if not path.exists():
        yield f"{path} is gone: it was moved or deleted while it was open; put it back, or connect again"
    yield f"{path} cannot be opened and written; look at the file, its folder and its disk"
