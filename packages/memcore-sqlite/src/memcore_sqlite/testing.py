# ruff: noqa: S608 - the SQL is put together from constants of this package, and every value is bound
"""The harness by which memcore-conformance judges `sqlite://`: a folder of its own for every case.

Faults are injected at SQLite's connection, so that all of the adapter's code runs. A call of the transport is what
`Session.insist` begins: every group of reads or writes, and every step of opening.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar, get_args
from urllib.parse import quote

from memcore.records.clock import StillClock

from memcore_sqlite.backend import SqliteBackend
from memcore_sqlite.items import ITEMS
from memcore_sqlite.record_table import RECORDS
from memcore_sqlite.session import Session
from memcore_sqlite.settings import SqliteSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

T = TypeVar("T")

Fault = Literal["refused", "timeout", "lost_answer", "malformed", "no_identity", "denied"]
StorageFault = Literal["full", "read_only", "garbage", "missing", "locked"]


class SqliteHarness:
    """One file in a folder of its own, with every faculty that a file can have."""

    name: ClassVar[str] = "sqlite"
    backend_type: ClassVar[type[SqliteBackend]] = SqliteBackend

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="memcore-")
        self._place = Path(self._folder.name, "data")
        self._place.mkdir()
        self._wire = _Wire()
        self._locking: sqlite3.Connection | None = None
        self._clock: StillClock | None = None

    async def make_backend(self, **settings: object) -> SqliteBackend:
        """Make a backend on the file."""
        given = {"path": self._path, "clock": self._clock, **settings}
        resolved = SqliteSettings.resolve("sqlite://", given, prefix="MEMCORE_SQLITE_", environ={})
        return self.backend_type(resolved, make_session=partial(_WiredSession, self._wire))

    async def reset(self) -> None:
        """Start without a file, on the system's own clock."""
        await self.mend_storage()
        self._clock = None
        shutil.rmtree(self._place)
        self._place.mkdir()
        self._wire.fault = None

    async def make_search_index_visible(self) -> None:
        """It always is."""

    async def make_transport_unavailable(self) -> None:
        """Move the folder away."""
        await self.break_storage("missing")

    async def restore_transport(self) -> None:
        """Put the folder back."""
        await self.mend_storage()

    async def close(self) -> None:
        """Remove the folder."""
        await self.mend_storage()
        self._folder.cleanup()

    def url(self) -> str:
        """Return the URL of the file."""
        return f"sqlite:///{quote(str(self._path))}"

    def advance(self, seconds: float) -> None:
        """Stop the clock of all backends that are made from now on, and move it."""
        self._clock = self._clock or StillClock()
        self._clock.advance(seconds)

    # --- faults ---

    @property
    def faults(self) -> frozenset[Fault]:
        """All of them."""
        return frozenset(get_args(Fault))

    def calls(self) -> int:
        """Return how often something was asked of the file."""
        return self._wire.calls

    def fail_next(self, fault: Fault) -> None:
        """Make the next call fail."""
        self._wire.fault = fault

    @property
    def storage_faults(self) -> frozenset[StorageFault]:
        """All of them."""
        return frozenset(get_args(StorageFault))

    async def break_storage(self, fault: StorageFault) -> None:
        """Break the file: `full` and `read_only` by what SQLite itself reports then, the others in the file system.

        `full` is seen by the backends of this harness alone, `read_only` also by whoever opens the file from now on.
        """
        self._wire.storage = fault
        if fault == "read_only":
            self._write_format(_UNKNOWN_FORMAT)
        elif fault == "missing":
            self._place.rename(self._away)
        elif fault == "garbage":
            shutil.copytree(self._place, self._away)
            self._path.write_bytes(b"no database " * 1_000)
        elif fault == "locked":
            self._locking = sqlite3.connect(self._path, isolation_level=None)
            self._locking.execute("BEGIN IMMEDIATE")

    async def mend_storage(self) -> None:
        """Make everything as it was."""
        if self._wire.storage == "read_only":
            self._write_format(_WAL_FORMAT)
        self._wire.storage = None
        if self._locking is not None:
            self._locking.close()
            self._locking = None
        if self._away.exists():
            shutil.rmtree(self._place, ignore_errors=True)
            self._away.rename(self._place)

    # --- what is stored ---

    async def plant_foreign(self, item_id: UUID) -> None:
        """Put rows of that id into another namespace: the file holds nothing else that has an id."""
        with self._raw() as raw:
            raw.execute("INSERT INTO namespaces (name) VALUES ('foreign')")
            for plant in _FOREIGN:
                raw.execute(f"{plant} FROM namespaces WHERE name = 'foreign'", (item_id.bytes,))

    async def truncate(self, item_id: UUID) -> None:
        """Cut three characters off the payload."""
        with self._raw() as raw:
            for table in _TABLES:
                shorter = f"UPDATE {table.name} SET payload = substr(payload, 1, length(payload) - 3) WHERE id = ?"
                raw.execute(shorter, (item_id.bytes,))

    async def damage_index(self, item_id: UUID) -> None:
        """Take the item, or the record, out of the word index and the term index."""
        with self._raw() as raw:
            for table in _TABLES:
                found = f"SELECT seq FROM {table.name} WHERE id = ?"
                raw.execute(f"DELETE FROM {table.terms} WHERE seq IN ({found})", (item_id.bytes,))
                fields = ", ".join((*table.fields, "namespace"))
                words = f"INSERT INTO {table.words} ({table.words}, rowid, {fields})"
                taken_out = f"{words} SELECT 'delete', seq, {fields} FROM {table.name} WHERE id = ?"
                raw.execute(taken_out, (item_id.bytes,))

    async def make_newer(self) -> None:
        """Raise the version of the schema."""
        with self._raw() as raw:
            ((version,),) = raw.execute("PRAGMA user_version")
            raw.execute(f"PRAGMA user_version = {version + 1}")

    async def fingerprint(self) -> str:
        """Return a digest of the file and its log."""
        return hashlib.sha256(b"\0".join(self._bytes())).hexdigest()

    async def holds(self, text: str) -> bool:
        """Tell whether the file or its log holds these bytes."""
        return any(text.encode() in part for part in self._bytes())

    @property
    def _path(self) -> Path:
        return self._place / "memory.db"

    @property
    def _away(self) -> Path:
        return self._place.with_name("away")

    def _raw(self) -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(self._path, timeout=30, isolation_level=None))

    def _write_format(self, version: int) -> None:
        """Change what the file says of its format: SQLite does not write to one that it does not know."""
        with self._path.open("r+b") as file:
            file.seek(_FORMAT_PLACE)
            file.write(bytes([version]))

    def _bytes(self) -> list[bytes]:
        return [file.read_bytes() for file in (self._path, Path(f"{self._path}-wal")) if file.exists()]


class _Wire:
    """What the sessions of one harness are to do."""

    def __init__(self) -> None:
        self.calls = 0
        self.fault: Fault | None = None
        self.storage: StorageFault | None = None


class _WiredSession(Session):
    """A connection that counts its calls and fails as it is told."""

    def __init__(self, wire: _Wire, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as sqlite3.Connection
        super().__init__(*arguments, **options)
        self._wire = wire
        self._fault: Fault | None = None
        self._storage: StorageFault | None = None
        self._writes = False

    def insist(self, action: Callable[[], T]) -> T:
        self._wire.calls += 1
        self._fault, self._wire.fault = self._wire.fault, None
        self._apply_storage()
        if self._fault in _NATIVE:
            raise _error(*_NATIVE[self._fault])
        usual = self.patience
        if self._storage == "locked":
            self.patience = _SHORT
        try:
            return super().insist(action)
        finally:
            self.patience = usual

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as sqlite3.Connection
        answer = super().execute(sql, *parameters)
        if sql.startswith(("BEGIN", "COMMIT", "ROLLBACK")):
            self._writes = sql == "BEGIN IMMEDIATE"
        if self._fault == "lost_answer" and (sql == "COMMIT" or (sql.startswith("SELECT") and not self._writes)):
            self._fault = None
            raise _error(sqlite3.OperationalError, "SQLITE_IOERR")
        return answer

    def executemany(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as sqlite3.Connection
        if self._fault == "no_identity" and sql.startswith(("INSERT INTO items ", "INSERT INTO records ")):
            self._fault = None
            return super().executemany(sql, ())  # as if a foreign trigger ignored the rows
        return super().executemany(sql, *parameters)

    def _apply_storage(self) -> None:
        if self._storage != self._wire.storage:
            self._storage = self._wire.storage
            super().execute(f"PRAGMA max_page_count = {1 if self._storage == 'full' else _MOST_PAGES}")
            super().execute(f"PRAGMA query_only = {self._storage == 'read_only'}")


_NATIVE: Final[dict[Fault | None, tuple[type[sqlite3.Error], str]]] = {
    "refused": (sqlite3.OperationalError, "SQLITE_CANTOPEN"),
    "timeout": (sqlite3.OperationalError, "SQLITE_BUSY"),
    "malformed": (sqlite3.DatabaseError, "SQLITE_CORRUPT"),
    "denied": (sqlite3.DatabaseError, "SQLITE_AUTH"),
}
"""What SQLite reports where it cannot open its file, waits in vain, finds no database, or may not read it."""
_TABLES: Final = (ITEMS, RECORDS)
_FOREIGN: Final = (
    "INSERT INTO items (namespace, id, created_at, payload, words, tag_words) SELECT number, ?, 0, '{}', '', ''",
    """INSERT INTO records (namespace, id, kind, created_at, updated_at, hits, payload, scope, words, tag_words,
        context_words) SELECT number, ?, 'fact', 0, 0, 0, '{}', '', '', '', ''""",
)
"""What puts a row of an id into a namespace."""
_MOST_PAGES: Final = 0xFFFFFFFE
_FORMAT_PLACE: Final = 18
_WAL_FORMAT: Final = 2
_UNKNOWN_FORMAT: Final = 3
"""Of the byte in the header that tells what it takes to write; what it takes to read stands beside it."""
_SHORT: Final = 0.05
"""Seconds: nobody is going to unlock the file meanwhile."""


def _error(kind: type[sqlite3.Error], name: str) -> sqlite3.Error:
    error = kind(name)
    error.sqlite_errorname = name
    error.sqlite_errorcode = getattr(sqlite3, name)
    return error
