"""The tables are made once whoever comes first, and nothing that is not ours, or newer, is touched (B-05)."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest
from memcore import (
    MalformedMemoryPayload,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    MemoryItem,
    MemoryQuery,
)
from memcore_postgres.schema import SCHEMA_VERSION, prepare

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from conftest import Store
    from memcore_postgres.backend import PostgresBackend

OPEN_AND_STORE = """
import asyncio, sys, memcore

async def main():
    async with memcore.connect(sys.argv[1]) as backend:
        await backend.items.store(memcore.MemoryItem(content="tea"))

asyncio.run(main())
"""


async def test_ten_processes_may_open_at_once(store: Store) -> None:
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-W", "error", "-c", OPEN_AND_STORE, store.url())
        for _ in range(10)
    ]
    assert [await process.wait() for process in processes] == [0] * 10
    assert await store.connect().items.count() == 10


async def test_ten_backends_may_open_at_once(store: Store) -> None:
    await asyncio.gather(*(store.connect().open() for _ in range(10)))
    assert [tuple(row) for row in await store.fetch("SELECT schema_version FROM meta")] == [(SCHEMA_VERSION,)]


async def test_sessions_that_a_pooler_keeps_warm_may_make_the_tables_at_once(store: Store) -> None:
    sessions = [await store.server.connect() for _ in range(4)]
    for schema in (store.schema, f"{store.schema}_b", f"{store.schema}_c"):
        await asyncio.gather(*(prepare(session, f'"{schema}"') for session in sessions))
        await store.server.execute(f"DROP SCHEMA {schema} CASCADE")
    for session in sessions:
        await session.close()


async def test_opening_again_changes_nothing(store: Store) -> None:
    await store.connect().items.store(MemoryItem(content="tea"))
    again = store.connect()
    assert [item.content for item in await again.items.search(MemoryQuery(text="tea"))] == ["tea"]


async def test_a_newer_schema_is_refused_and_left_untouched(backend: PostgresBackend, store: Store) -> None:
    await backend.items.store(MemoryItem(content="tea"))
    await store.fetch("UPDATE meta SET schema_version = 7")
    before = await store.fetch("SELECT * FROM meta, items")
    with pytest.raises(MemoryAdapterUnavailable, match=r"version 7.*up to 2.*upgrade"):
        await store.connect().open()
    assert await store.fetch("SELECT * FROM meta, items") == before


@pytest.mark.parametrize("table", ["items", "meta"])
async def test_a_schema_with_other_tables_is_refused_and_left_untouched(store: Store, table: str) -> None:
    await store.server.execute(f"CREATE SCHEMA {store.schema}", f"CREATE TABLE {store.schema}.{table} (mine text)")
    with pytest.raises(MalformedMemoryPayload, match="another application"):
        await store.connect().open()
    rows = await store.fetch("SELECT relname::text FROM pg_class WHERE relnamespace = $1::regnamespace", store.schema)
    assert [row["relname"] for row in rows] == [table]


async def test_a_server_that_is_too_old_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcore_postgres.schema.OLDEST_SERVER", 99)
    with pytest.raises(MemoryConfigurationError, match="PostgreSQL 99 or newer"):
        await store.connect().open()


async def test_an_opening_that_failed_may_be_tried_again(store: Store) -> None:
    await store.server.execute(f"CREATE SCHEMA {store.schema}", f"CREATE TABLE {store.schema}.items (mine text)")
    backend = store.connect()
    with pytest.raises(MalformedMemoryPayload):
        await backend.open()
    await store.fetch("DROP TABLE items")
    await backend.open()
    assert await backend.items.count() == 0


@pytest.fixture
async def role(store: Store) -> AsyncIterator[str]:
    """A role without any right."""
    name = f"role_{store.schema}"
    await store.server.execute(f"CREATE ROLE {name} LOGIN")
    yield name
    for backend in store.backends:
        await backend.close()
    await store.server.execute(
        f"DROP SCHEMA IF EXISTS {store.schema} CASCADE", f"DROP OWNED BY {name}", f"DROP ROLE {name}"
    )


async def granted_by(store: Store, role: str) -> str:
    """Return the statements that an error asks an administrator for."""
    with pytest.raises(MemoryAdapterError, match="lacks a right") as caught:
        await store.connect(user=role).open()
    assert type(caught.value) is MemoryAdapterError
    return str(caught.value).partition("execute: ")[2]


async def works(store: Store, role: str) -> bool:
    backend = store.connect(user=role)
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    return await backend.items.search(MemoryQuery(text="tea")) == [item] and await backend.items.delete(item.id)


async def test_a_role_that_may_create_nothing_is_told_the_statement_that_helps(store: Store, role: str) -> None:
    statements = await granted_by(store, role)
    assert statements == f'CREATE SCHEMA "{store.schema}" AUTHORIZATION "{role}";'
    await store.server.execute(statements)
    assert await works(store, role)


async def test_a_role_without_rights_on_the_schema_is_told_the_statement_that_helps(store: Store, role: str) -> None:
    await store.server.execute(f"CREATE SCHEMA {store.schema}")
    statements = await granted_by(store, role)
    assert statements == f'GRANT USAGE, CREATE ON SCHEMA "{store.schema}" TO "{role}";'
    await store.server.execute(statements)
    assert await works(store, role)


@pytest.mark.usefixtures("backend")
async def test_a_role_without_rights_on_the_tables_is_told_the_statements_that_help(store: Store, role: str) -> None:
    statements = await granted_by(store, role)
    assert statements.startswith(f'GRANT USAGE ON SCHEMA "{store.schema}" TO "{role}"; GRANT SELECT, INSERT')
    await store.server.execute(statements)
    assert await works(store, role)


@pytest.mark.usefixtures("backend")
async def test_a_role_that_loses_a_right_later_is_no_outage(store: Store, role: str) -> None:
    await store.server.execute(await granted_by(store, role))
    weak = store.connect(user=role)
    await weak.open()
    await store.fetch(f"REVOKE INSERT ON items FROM {role}")
    with pytest.raises(MemoryAdapterError, match="grant it") as caught:
        await weak.items.store(MemoryItem(content="tea"))
    assert type(caught.value) is MemoryAdapterError


async def test_the_table_may_be_partitioned_by_namespace(backend: PostgresBackend, store: Store) -> None:
    item = MemoryItem(content="tea", tags=["t"])
    await backend.items.store(item)
    columns = "namespace, id, created_at, payload, words, tag_words, terms"
    for statement in (
        "ALTER TABLE items RENAME TO items_whole",
        "CREATE TABLE items (LIKE items_whole INCLUDING ALL) PARTITION BY HASH (namespace)",
        "CREATE TABLE items_0 PARTITION OF items FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
        "CREATE TABLE items_1 PARTITION OF items FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
        "ALTER TABLE items ALTER payload SET STATISTICS 0, ALTER words SET STATISTICS 0",
        "ALTER TABLE items ALTER tag_words SET STATISTICS 0, ALTER lexemes SET STATISTICS 0",
        f"INSERT INTO items ({columns}) SELECT {columns} FROM items_whole",
        "DROP TABLE items_whole",
    ):
        await store.fetch(statement)
    again = store.connect()
    await again.items.store_many([MemoryItem(id=item.id, content="green tea"), MemoryItem(content="tea")])
    assert len(await again.items.search(MemoryQuery(text="tea"))) == 2
    assert await again.items.delete(item.id)
    assert (await again.check()).faults == ()
    await store.fetch("ANALYZE items")
    content = "schemaname = $1 AND attname IN ('payload', 'words', 'tag_words', 'lexemes')"
    assert await store.fetch(f"SELECT tablename, attname FROM pg_stats WHERE {content}", store.schema) == []
