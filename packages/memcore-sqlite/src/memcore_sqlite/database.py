"""Connections on their own threads: one writer with group commit, readers that answer what waits in one hop.

A call becomes a job, a function over a `Session`. The jobs that wait are handed to a connection's thread together, so
that a call costs one thread hop at most and a group of writes one commit. A job runs to its end whatever becomes of its
caller: cancelling a call leaves no transaction open (I-71), and writes take effect in the order of their calls.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import aiosqlite
from memcore.errors import MemcoreError, MemoryConfigurationError

from memcore_sqlite.faults import breaks_connection, translate
from memcore_sqlite.schema import check_version, prepare
from memcore_sqlite.session import open_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memcore_sqlite.session import Session
    from memcore_sqlite.settings import SqliteSettings

    Job = Callable[[Session], "T"]

T = TypeVar("T")
Outcome = tuple[Any, Exception | None]
"""The result of a job, or why it has none."""

LARGEST_GROUP: Final = 512
"""Jobs of one group at most, so that other processes get their turn."""


class Database:
    """The database of one backend; opened once, belongs to one event loop."""

    def __init__(self, settings: SqliteSettings, make_session: Callable[..., Session], *, leaving: Job[None]) -> None:
        """`leaving` is run outside any transaction when everything else is done, before the log is folded."""
        self._settings = settings
        self._leaving = leaving
        self._open = partial(_open, settings, make_session)
        self._is_closed = False

    @property
    def patience(self) -> float:
        """Seconds to wait for other processes."""
        return self._settings.busy_timeout

    async def open(self) -> None:
        """Connect, and bring the schema up to date; in vain or cancelled, it may be called again.

        Raises:
            MemoryAdapterUnavailable: the file cannot be opened, or a newer version wrote it.
            MalformedMemoryPayload: the file is no database of ours.
        """
        connecting = asyncio.ensure_future(self._connect())
        try:
            self._connections = await asyncio.shield(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(self._close_abandoned)
            raise
        self._writer = _Lane(self._connections[0], commit_together)
        self._short_reads = _Lane(self._connections[1 % len(self._connections)], read_together)
        long = self._connections[2:] or self._connections[:1]
        self._long_reads = [_Lane(connection, read_together) for connection in long]

    async def close(self) -> None:
        """Finish what was accepted, fold the log into the file, and release everything, even if cancelled."""
        self._is_closed = True
        self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    def write(self, job: Job[T]) -> asyncio.Future[T]:
        """Run a job in a transaction, with others that wait; done when it is committed.

        A job first checks and then writes: one that refuses before it has written fails alone and costs the others
        nothing. If one fails later, or the commit does, the group is undone and each job gets its own transaction.
        """
        self._refuse_closed()
        return self._writer.submit(job)

    def read(self, job: Job[T], *, long: bool = False) -> asyncio.Future[T]:
        """Run a job in a snapshot that holds every write that is done; a long one keeps no short one waiting."""
        self._refuse_closed()
        lane = min(self._long_reads, key=_Lane.load) if long else self._short_reads
        return lane.submit(job)

    def maintain(self, function: Job[T]) -> asyncio.Future[T]:
        """Run a function on the writer's connection, between groups and outside any transaction."""
        self._refuse_closed()
        return self._connections[0].perform(function)

    def _refuse_closed(self) -> None:
        """Stop work of several steps whose backend was closed between two of them."""
        if self._is_closed:
            raise MemoryConfigurationError(f"{self._settings.url} was closed meanwhile; connect again")

    async def _connect(self) -> list[_Connection]:
        count = 1 if self._settings.path is None else 2 + self._settings.readers
        connections: list[_Connection] = []
        try:
            for _ in range(count):
                connection = _Connection(self._open, connections)
                await connection.open()
                connections.append(connection)
        except BaseException:
            await _close_all(connections)
            raise
        return connections

    def _close_abandoned(self, connecting: asyncio.Future[list[_Connection]]) -> None:
        if not connecting.cancelled() and connecting.exception() is None:
            self._closing = asyncio.ensure_future(_close_all(connecting.result()))

    async def _close(self) -> None:
        for lane in (self._short_reads, *self._long_reads, self._writer):
            await lane.drain()
        for last in (self._leaving, fold_log):
            with suppress(MemcoreError):  # another process may hold a lock; what was acknowledged is in the log
                await self._connections[0].perform(last)
        await _close_all(reversed(self._connections))


class _Connection(aiosqlite.Connection):
    """One SQLite session on aiosqlite's thread for it; nothing else knows how aiosqlite works inside."""

    def __init__(self, opening: Callable[..., Session], peers: Sequence[_Connection]) -> None:
        super().__init__(partial(opening, create=not peers), iter_chunk_size=64)
        self._open = opening
        self._peers = peers
        self._thread.daemon = True  # a process that forgot to close must be able to end

    async def open(self) -> None:
        """Start the thread and open the session there."""
        self._thread.start()
        try:
            await self.perform(_do_nothing)
        except MemcoreError:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the session and end the thread."""
        closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._post(self._end, then=partial(_settle, closed))
        await closed

    def run(self, function: Job[T], *, then: Callable[[T | None, Exception | None], None]) -> None:
        """Run a whole function on the thread, then give its result or error to the event loop: one hop."""
        self._post(lambda: function(self._usable()), then=then)

    def perform(self, function: Job[T]) -> asyncio.Future[T]:
        """Run a whole function on the thread; cancelling the future stops nothing."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.run(function, then=partial(_settle, future))
        return future

    def _post(self, action: Callable[[], T], *, then: Callable[[T | None, Exception | None], None]) -> None:
        loop = asyncio.get_running_loop()
        # aiosqlite logs what it executes: the repr of a lambda shows no content as that of a partial would
        self._tx.put_nowait((None, lambda: self._carry_out(action, then, loop)))

    def _carry_out(
        self,
        action: Callable[[], T],
        then: Callable[[T | None, Exception | None], None],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        outcome: tuple[T | None, Exception | None]
        try:
            outcome = action(), None
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to the caller
            outcome = None, _note(self._session, error)
        if self._session is not None and self._session.broken:
            for peer in self._peers:  # what SQLite knows of a file is shared by all that this process has open
                peer._tx.put_nowait((None, peer._abandon))  # noqa: SLF001 - of our own class
        with suppress(RuntimeError):  # the loop ended without closing us: nobody waits any more
            loop.call_soon_threadsafe(then, *outcome)

    def _usable(self) -> Session:
        """Return the session, opened first if it is not, anew if it broke."""
        if self._session is None:
            self._connection = self._connector()
        else:
            self._session.check_file()
            if self._session.broken:
                self._connection = self._open(create=False)
        return cast("Session", self._connection)

    def _abandon(self) -> None:
        if self._session is not None:
            self._session.abandon()

    def _end(self) -> None:
        self._abandon()
        self._connection = None
        self.stop()

    @property
    def _session(self) -> Session | None:
        return cast("Session | None", self._connection)


class _Lane:
    """The jobs that wait for one connection; its thread takes those that wait together."""

    def __init__(self, connection: _Connection, work: Callable[[Session, Sequence[Any]], list[Outcome]]) -> None:
        self._connection = connection
        self._work = work
        self._waiting: deque[tuple[Job[Any], asyncio.Future[Any]]] = deque()
        self._running = 0
        self._drained: asyncio.Future[None] | None = None

    def load(self) -> int:
        """Return how many jobs wait or run."""
        return len(self._waiting) + self._running

    def submit(self, job: Job[T]) -> asyncio.Future[T]:
        """Queue a job; a future that is cancelled before its job starts takes the job with it."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        if not self._running:
            self._start()
        return future

    async def drain(self) -> None:
        """Wait until no job waits or runs."""
        if self._running:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained

    def _start(self) -> None:
        jobs: list[Job[Any]] = []
        futures: list[asyncio.Future[Any]] = []
        while self._waiting and len(jobs) < LARGEST_GROUP:
            job, future = self._waiting.popleft()
            if not future.cancelled():
                jobs.append(job)
                futures.append(future)
        self._running = len(jobs)
        if jobs:
            work = self._work
            self._connection.run(lambda session: work(session, jobs), then=partial(self._finish, futures))
        elif self._drained:
            self._drained.set_result(None)

    def _finish(
        self, futures: list[asyncio.Future[Any]], outcomes: list[Outcome] | None, error: Exception | None
    ) -> None:
        self._start()  # before the callers wake: the thread need not wait for them
        for future, outcome in zip(futures, outcomes or [(None, error)] * len(futures), strict=True):
            _settle(future, *outcome)


def commit_together(session: Session, jobs: Sequence[Job[Any]]) -> list[Outcome]:
    """Run write jobs in one transaction; if it fails, each in its own, so that only those fail that must."""
    has_begun = False
    try:
        session.insist(partial(session.execute, "BEGIN IMMEDIATE"))
        has_begun = True
        check_version(session)
        outcomes = _attempt_all(session, jobs)
        session.execute("COMMIT")
    except Exception as error:  # noqa: BLE001 - whatever it is belongs to the callers
        _end(session)
        if has_begun and len(jobs) > 1:
            return [commit_together(session, [job])[0] for job in jobs]
        return [(None, _note(session, error)) for _ in jobs]
    return outcomes


def read_together(session: Session, jobs: Sequence[Job[Any]]) -> list[Outcome]:
    """Run read jobs in one snapshot, each failing alone."""
    session.execute("BEGIN")
    try:
        session.insist(partial(check_version, session))  # the first read: from here on the snapshot is held
        return [_read(session, job) for job in jobs]
    finally:
        _end(session)


def fold_log(session: Session) -> bool:
    """Move everything from the write-ahead log into the file and empty it; tell whether nobody prevented it."""
    busy, _, _ = session.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _attempt_all(session: Session, jobs: Sequence[Job[Any]]) -> list[Outcome]:
    """Attempt jobs in order; neighbours whose class can `join` them into one job without a result, at once."""
    outcomes: list[Outcome] = []
    for join, neighbours in groupby(jobs, key=lambda job: getattr(type(job), "join", None)):
        alike = list(neighbours)
        if join is None or len(alike) == 1:
            outcomes += [_attempt(session, job) for job in alike]
        else:
            join(alike)(session)
            outcomes += [(None, None)] * len(alike)
    return outcomes


def _attempt(session: Session, job: Job[Any]) -> Outcome:
    before = session.total_changes
    try:
        return job(session), None
    except MemcoreError as error:
        if session.total_changes != before:
            raise
        return None, error


def _read(session: Session, job: Job[Any]) -> Outcome:
    try:
        return job(session), None
    except Exception as error:  # noqa: BLE001 - whatever it is belongs to the caller
        return None, _note(session, error)


def _note(session: Session | None, error: Exception) -> Exception:
    """Return the error for the caller, and remember what it says about the session."""
    if session is None:
        return error  # of an opening, which translated it
    if session.path is not None and breaks_connection(error):
        session.broken = True
    return translate(error, session.path)


def _end(session: Session) -> None:
    if session.in_transaction:  # some errors end it by themselves
        with suppress(sqlite3.Error):
            session.execute("ROLLBACK")


def _open(settings: SqliteSettings, make_session: Callable[..., Session], *, create: bool) -> Session:
    try:
        session = open_session(settings, make_session, create=create)
        try:
            prepare(session)
        except BaseException:
            session.abandon()
            raise
    except Exception as error:  # noqa: BLE001 - raised again, translated
        raise translate(error, settings.path)  # noqa: B904 - it brings its cause
    return session


def _settle(future: asyncio.Future[Any], result: object, error: Exception | None) -> None:
    if future.done():
        return  # its caller was cancelled
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


async def _close_all(connections: Iterable[_Connection]) -> None:
    for connection in connections:
        await connection.close()


def _do_nothing(_session: Session) -> None:
    """Only open."""
