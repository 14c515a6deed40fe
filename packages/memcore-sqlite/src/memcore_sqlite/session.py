"""`Session`: one SQLite connection that knows its file, its namespace's number there, and how to wait for a lock."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from memcore.errors import MalformedMemoryPayload, MemoryAdapterUnavailable
from memcore.kit import exact_json

from memcore_sqlite.faults import is_busy

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore_sqlite.settings import SqliteSettings

T = TypeVar("T")

OLDEST_SQLITE: Final = (3, 34, 0)
"""The oldest SQLite library that this adapter was tested with."""
_FIRST_PAUSE: Final = 0.0002
_LONGEST_PAUSE: Final = 0.01


class Session(sqlite3.Connection):
    """A connection without implicit transactions; used by one thread only."""

    path: Path | None
    """The file, or `None` for a database in memory."""
    url: str
    """How the file is named on the command line."""
    namespace: str
    """The name of the namespace."""
    number: int
    """The number of the namespace in this file."""
    patience: float
    """Seconds that `insist` waits for another process."""
    broken: bool = False
    """Whether an error made what this connection knows of its file doubtful."""
    _name: str | None = None
    _identity: tuple[int, int] | None = None

    def insist(self, action: Callable[[], T]) -> T:
        """Do what needs a lock of the file, again and again until it succeeds or patience ends.

        SQLite's own waiting takes ever longer steps, the same in every process, so that some process may never have its
        turn; short random pauses let everybody through.
        """
        deadline = time.monotonic() + self.patience
        pause = _FIRST_PAUSE
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise
            time.sleep(random.uniform(0.5, 1.0) * pause)  # noqa: S311 - no secret hangs on it
            pause = min(2 * pause, _LONGEST_PAUSE)

    def check_file(self) -> None:
        """Check that the file still lies at its path: writing on would acknowledge what nobody ever finds.

        Raises:
            FileNotFoundError: it was moved or deleted.
            MemoryAdapterUnavailable: another file is there. Opening that one beside this one's log would damage it.
        """
        if self._name is not None and _identify(self._name) != self._identity:
            raise MemoryAdapterUnavailable(
                f"{self.path} was replaced by another file while it was open; close everything that uses it, delete "
                f"{self.path}-wal and {self.path}-shm, which belong to the file that was there, and connect again"
            )

    def remember_file(self) -> None:
        """Remember which file this is."""
        if self.path is not None:
            self._name = str(self.path)
            self._identity = _identify(self._name)

    def abandon(self) -> None:
        """Close, whatever state it is in."""
        self.broken = True
        with suppress(sqlite3.Error):
            self.close()


def open_session(settings: SqliteSettings, make_session: Callable[..., Session], *, create: bool) -> Session:
    """Open the file, made first if `create`: readable by its owner only (B-05).

    Raises:
        MemoryAdapterUnavailable: this Python's SQLite cannot do what is needed.
        OSError: the file cannot be made.
        sqlite3.Error: it cannot be opened.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise MemoryAdapterUnavailable(f"SQLite {needed} is needed, and this Python has {sqlite3.sqlite_version}")
    path = settings.path and Path(os.path.realpath(settings.path))
    if path is not None and create:
        _create_private(path)
    location = ":memory:" if path is None else f"{path.as_uri()}?mode=rw"
    session = make_session(location, timeout=0, isolation_level=None, uri=True)
    session.path, session.url, session.namespace = path, settings.url, settings.namespace
    session.patience = settings.busy_timeout
    try:
        session.insist(partial(_configure, session, settings))
        session.remember_file()
    except BaseException:
        session.abandon()
        raise
    return session


def _create_private(path: Path) -> None:
    """Make the file with its final permissions at once; SQLite gives the files beside it the same."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _configure(session: Session, settings: SqliteSettings) -> None:
    for name, value in _PRAGMAS.items():
        session.execute(f"PRAGMA {name} = {value}")
    session.execute(f"PRAGMA synchronous = {settings.synchronous}")
    session.create_function("lacks", 2, _lacks, deterministic=True)
    try:
        session.execute("SELECT fts5_source_id()").fetchone()
    except sqlite3.OperationalError as error:
        raise MemoryAdapterUnavailable("this Python's SQLite was built without full-text search (FTS5)") from error


_PRAGMAS: Final = {
    "cache_size": -16_000,  # KiB at most; bulk writes to 10,000 items are a sixth faster than with SQLite's 2,000
    "secure_delete": "ON",  # what is erased does not linger in free pages
    "fullfsync": "ON",  # macOS alone: without it a flush does not reach the disk
    "checkpoint_fullfsync": "ON",
}


def _lacks(payload: str, key: str) -> bool:
    """Tell whether the metadata of a payload lack a key, or hold null there: the one filter without an index (I-67)."""
    try:
        return exact_json.decode(payload)["metadata"].get(exact_json.decode(key)) is None
    except (MalformedMemoryPayload, TypeError, KeyError, AttributeError):
        return True  # decoding the row as a hit will say what is wrong with it


def _identify(name: str) -> tuple[int, int]:
    status = os.stat(name)  # noqa: PTH116 - on the way of every call, and twice as fast without a Path
    return status.st_dev, status.st_ino
