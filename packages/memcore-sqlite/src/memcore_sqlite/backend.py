"""`sqlite://`: one SQLite file, or a database in memory, as a backend (B-02).

When connections open: on first use, on `open()`, or by `async with`; one writer, one for short reads, and `readers` for
searches, each with a thread of its own. In memory there is one for everything. Concurrency: any number of tasks of one
event loop, any number of processes on one file. Closing: finishes what was accepted, folds the log into the file and
ends the threads; a process that forgot to close ends too, and loses nothing that was acknowledged. Retries: none, but
for waiting `busy_timeout` for another process's lock. Scope: one namespace of the file, fixed by the settings.
Conflicts: the last write of an id wins. Health: `ping()`.
"""

from __future__ import annotations

import sqlite3
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self

from memcore.backend import Capabilities, Health, not_offered
from memcore.kit.lifecycle import Lifecycle
from memcore.kit.text import ANALYSIS_VERSION
from memcore.records.chain import Thresholds
from memcore.records.clock import clock_of

from memcore_sqlite import maintenance
from memcore_sqlite.database import Database
from memcore_sqlite.index import erase_all, note_erasure
from memcore_sqlite.items import ITEMS, SqliteItems
from memcore_sqlite.record_table import RECORDS
from memcore_sqlite.records import SqliteRecords
from memcore_sqlite.schema import SCHEMA_VERSION, analysis_version
from memcore_sqlite.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore.backend import CheckReport

    from memcore_sqlite.settings import SqliteSettings


class SqliteBackend:
    """One namespace of one file."""

    name: ClassVar[str] = "sqlite"

    def __init__(self, settings: SqliteSettings, *, make_session: Callable[..., Session] = Session) -> None:
        self._settings = settings
        self._database = Database(settings, make_session, leaving=maintenance.forget_erased)
        self._lifecycle = Lifecycle(repr(self), opening=self._database.open, closing=self._database.close)
        self._items = SqliteItems(self._database, self._lifecycle, settings.limits, namespace=settings.namespace)
        self._records = SqliteRecords(
            self._database,
            self._lifecycle,
            settings.limits,
            namespace=settings.namespace,
            clock=clock_of(settings.clock),
            thresholds=Thresholds(settings.long_after, settings.permanent_after),
        )
        in_file = settings.path is not None
        self._capabilities = Capabilities(
            contracts=frozenset({"items", "records"}),
            durable=in_file,
            power_safe=in_file and settings.synchronous == "full",
            shared=in_file,
            analysed=True,
            search="keyword",
            extensions=frozenset({"managed", "history", "lifecycle", "transfer", "maintenance"}),
            limits=settings.limits,
        )

    @property
    def items(self) -> SqliteItems:
        """The items; usable before the backend is open, which the first call does."""
        return self._items

    @property
    def records(self) -> SqliteRecords:
        """The records, with every extension; usable before the backend is open, as the items are."""
        return self._records

    @property
    def conversations(self) -> NoReturn:
        """Not offered."""
        raise not_offered(self.name, "conversations")

    @property
    def capabilities(self) -> Capabilities:
        """The claims of this backend, once it is open."""
        self._lifecycle.require_open("the capabilities")
        return self._capabilities

    async def open(self) -> None:
        """Connect, and bring the file's schema up to date (B-05).

        Raises:
            MemoryAdapterUnavailable: the file cannot be opened, or a newer version wrote it.
            MalformedMemoryPayload: the file is no SQLite database, or another application's; it is left untouched.
        """
        await self._lifecycle.open()

    async def close(self) -> None:
        """Finish what was accepted, fold the log into the file and release everything; again does nothing.

        If records were erased, the file is rewritten first without a trace of them, as by `purge`.
        """
        await self._lifecycle.close()

    async def ping(self) -> Health:
        """Ask the database for its versions; degraded if its words are of another analysis."""
        await self.open()
        started = time.perf_counter()
        analysis = await self._database.read(analysis_version)
        is_current = analysis == ANALYSIS_VERSION
        return Health(
            status="ok" if is_current else "degraded",
            latency=time.perf_counter() - started,
            versions={
                "memcore-sqlite": version("memcore-sqlite"),
                "aiosqlite": version("aiosqlite"),
                "sqlite": sqlite3.sqlite_version,
                "schema": str(SCHEMA_VERSION),
            },
            detail=None
            if is_current
            else f"no text search until its words are rebuilt: memcore reindex {self._settings.url}",
        )

    async def drop_namespace(self) -> None:
        """Erase every item and every record of the namespace, in one commit."""
        await self.open()
        await self._database.write(_erase_everything)

    async def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Bring every index to what this version derives from the payloads; return how many items and records it did.

        In batches; others read and write meanwhile. Words that another version's analysis made are not searched until
        it is done.
        """
        await self.open()
        return await maintenance.reindex(self._database, progress=progress)

    async def check(self, *, repair: bool = True, progress: Callable[[int, int], None] | None = None) -> CheckReport:
        """Compare every index of the file with a fresh derivation from the payloads, and put right what differs."""
        await self.open()
        return await maintenance.check(self._database, repair=repair, progress=progress)

    async def purge(self) -> None:
        """Remove the bytes of what was erased from the file and its log.

        Needs free space for a second copy of the file; other writers wait meanwhile.

        Raises:
            MemoryAdapterUnavailable: another process reads, so that the log cannot be emptied yet.
        """
        await self.open()
        await maintenance.purge(self._database)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{self._settings.url} backend, namespace {self._settings.namespace!r}>"


def _erase_everything(session: Session) -> None:
    note_erasure(session)
    for table in (ITEMS, RECORDS):
        erase_all(session, table)
