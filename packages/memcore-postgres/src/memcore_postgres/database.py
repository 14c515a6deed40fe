"""`Database`: the connections of one backend, made when it opens, and what is read through them.

A connection carries no state from one call to the next: no setting, no lock of the session, no name that depends on a
search path. So any of them serves anybody, also behind a pooler that changes them after every transaction, and the
pool need not reset them, which would cost a round trip a call.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg
from memcore.errors import MemoryAdapterUnavailable

from memcore_postgres.faults import NATIVE, translated
from memcore_postgres.schema import check_version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from memcore_postgres.lanes import Lane
    from memcore_postgres.settings import PostgresSettings

T = TypeVar("T")


class Database:
    """The pool of one backend; opened once, belongs to one event loop.

    Attributes:
        schema: the quoted name of the schema, for statements.
        place: where the data are, for messages.

    Args:
        settings: where to connect, and how long to wait.
        connection_class: what a connection is made of; another one may inject faults.
    """

    def __init__(
        self, settings: PostgresSettings, *, connection_class: type[asyncpg.Connection] = asyncpg.Connection
    ) -> None:
        self._settings = settings
        self._connection_class = connection_class
        self._lanes: list[Lane[Any, Any]] = []
        self.schema = f'"{settings.db_schema}"'
        self.place = settings.place

    async def open(self, prepare: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
        """Make the pool, and return what `prepare` found by its first connection.

        Raises:
            MemoryAdapterUnavailable: the server cannot be reached.
            MemoryAdapterError: it refused the role.
        """
        pool = self._make_pool()
        try:
            with translated(self.place):
                await pool
                async with pool.acquire(timeout=self._settings.acquire_timeout) as connection:
                    found = await prepare(connection)
        except BaseException:
            pool.terminate()
            raise
        self._pool = pool
        return found

    def drain_on_close(self, lane: Lane[Any, Any]) -> None:
        """Finish the jobs of a lane before the connections are closed."""
        self._lanes.append(lane)

    async def close(self) -> None:
        """Finish what was accepted and close all connections; cut short if that takes too long."""
        try:
            for lane in self._lanes:
                await lane.drain()
            async with asyncio.timeout(self._settings.command_timeout):
                await self._pool.close()
        except NATIVE:
            pass  # the server is gone, and so are its connections
        finally:
            self._pool.terminate()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[asyncpg.Connection]:
        """Lend a connection.

        Raises:
            MemoryAdapterUnavailable: none became free in time.
        """
        try:
            connection = await self._pool.acquire(timeout=self._settings.acquire_timeout)
        except TimeoutError as error:
            raise self._starved() from error
        try:
            yield connection
        finally:
            await self._pool.release(connection)

    async def fetch(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """Return the rows of one statement, as `accept` does: one round trip, on a connection of its own.

        Raises:
            MemoryAdapterUnavailable: the server cannot be asked now.
        """
        with translated(self.place):
            async with self.connection() as connection:
                rows: list[asyncpg.Record] = await connection.fetch(statement, *arguments)
        return self.accept(rows)

    def accept(self, rows: list[asyncpg.Record]) -> list[asyncpg.Record]:
        """Return the rows of a statement if its tables are ours: each has `schema_version`, and there is at least one.

        Raises:
            MemoryAdapterUnavailable: a newer version wrote the tables, or they were emptied by hand.
        """
        if not rows:
            raise MemoryAdapterUnavailable(f"the tables lost their version ({self.place})")
        check_version(rows[0]["schema_version"], self.schema)
        return rows

    def _make_pool(self) -> asyncpg.Pool:
        settings = self._settings
        return asyncpg.create_pool(
            settings.dsn,
            password=settings.password.get_secret_value() if settings.password else None,
            min_size=settings.min_size,
            max_size=settings.max_size,
            timeout=settings.connect_timeout,
            command_timeout=settings.command_timeout,
            max_inactive_connection_lifetime=settings.idle_lifetime,
            statement_cache_size=settings.statement_cache_size,
            server_settings={"application_name": settings.application_name},
            connection_class=self._connection_class,
            reset=_keep,
        )

    def _starved(self) -> MemoryAdapterUnavailable:
        size = self._settings.max_size
        if self._pool.get_size() < size:
            return MemoryAdapterUnavailable(f"the server did not answer in time ({self.place})")
        return MemoryAdapterUnavailable(
            f"all {size} connections were in use for too long: raise max_size ({self.place})"
        )


async def _keep(_connection: asyncpg.Connection) -> None:
    """Keep the session as it is when a connection goes back: nothing was changed in it."""
