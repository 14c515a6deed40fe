"""Records on a real server: whose time it is, what erasing leaves, how tables of an older version become new."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import memcore
import pytest
from memcore import (
    MalformedMemoryPayload,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConflict,
    MemoryHit,
    MemoryItem,
    MemoryQuery,
    MemoryWrite,
    RecordHistory,
    RecordLifecycle,
    RecordQuery,
    Transfer,
)
from memcore.kit.text import ANALYSIS_VERSION
from memcore.records.clock import StillClock
from memcore.records.rows import RecordRow
from memcore_postgres import schema

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conftest import Explain, Store
    from memcore_postgres.backend import PostgresBackend
    from memcore_postgres.records import PostgresRecords

ME = {"user": "me"}
SECRET = MemoryWrite(
    content="zanzibarcontent",
    scope={"user": "zanzibarscope"},
    tags=("zanzibartag",),
    context="zanzibarcontext",
    payload={"zanzibarkey": "zanzibarvalue"},
)


def contents(hits: list[MemoryHit]) -> list[str]:
    return [hit.record.content for hit in hits]


async def chain(backend: PostgresBackend, length: int = 2) -> list[UUID]:
    ids: list[UUID] = []
    for number in range(length):
        write = MemoryWrite(content=f"tea {number}", scope=ME, supersedes=tuple(ids[-1:]))
        await backend.records.write([write])
        ids.append(write.id)
    return ids


async def test_every_extension_is_there(backend: PostgresBackend) -> None:
    assert isinstance(backend.records, RecordHistory)
    assert isinstance(backend.records, RecordLifecycle)
    assert isinstance(backend.records, Transfer)
    claims = backend.records.capabilities()
    assert (claims.search, claims.history, claims.lifecycle, claims.transfer) == ("keyword", True, True, True)


async def test_a_namespace_sees_nothing_of_another_and_is_dropped_alone(backend: PostgresBackend, store: Store) -> None:
    other = store.connect(namespace="other")
    (first, second) = await chain(backend)
    await backend.items.store(MemoryItem(content="tea"))
    assert await other.records.get(second) is None
    assert await other.records.history(first) == []
    assert await other.records.search(RecordQuery(text="tea", scope=ME, include_invalidated=True)) == []
    await other.records.write([MemoryWrite(id=first, content="mine")])
    await backend.drop_namespace()
    assert (await backend.records.count(), await backend.items.count()) == (0, 0)
    assert contents(await other.records.search(RecordQuery())) == ["mine"]


# --- time ---


async def server_time(store: Store) -> Any:
    (row,) = await store.fetch("SELECT clock_timestamp() AS now")
    return row["now"]


async def test_the_time_is_the_server_s(backend: PostgresBackend, store: Store) -> None:
    before = await server_time(store)
    old = MemoryWrite(content="tea")
    await backend.records.write([old])
    (new,) = await backend.records.write([MemoryWrite(content="coffee", supersedes=(old.id,))])
    found = await backend.records.get(old.id)
    assert found is not None
    assert before < found.created_at < new.created_at == found.invalid_at < await server_time(store)


async def test_clients_whose_clocks_are_an_hour_apart_agree(store: Store) -> None:
    clock, late = StillClock(), StillClock()
    late.advance(-3600)
    first, second = memcore.connect(store.url(), clock=clock), memcore.connect(store.url(), clock=late)
    async with first, second:
        (old,) = await first.records.write([MemoryWrite(content="tea", scope=ME)])
        (new,) = await second.records.write([MemoryWrite(content="coffee", scope=ME, supersedes=(old.id,))])
        ended = await first.records.invalidate(new.id)
        assert old.created_at < new.created_at < (ended.invalid_at or old.created_at)
        assert new.created_at == old.created_at + timedelta(microseconds=1)
        assert contents(await second.records.search(RecordQuery(text="tea coffee", as_of=old.created_at))) == ["tea"]
        assert contents(await second.records.search(RecordQuery(as_of=new.created_at))) == ["coffee"]
        assert await second.records.search(RecordQuery()) == []


ASK = """
import asyncio, sys
from datetime import datetime
import memcore

async def main():
    async with memcore.connect(sys.argv[1]) as backend:
        query = memcore.RecordQuery(as_of=datetime.fromisoformat(sys.argv[2]), include_invalidated=True)
        print([hit.record.model_dump_json() for hit in await backend.records.search(query)])
        print([record.model_dump_json() for record in (await backend.records.scan()).records])

asyncio.run(main())
"""


async def test_no_time_zone_of_a_client_or_the_server_changes_an_answer(backend: PostgresBackend, store: Store) -> None:
    (first, _) = await chain(backend)
    await backend.records.write([MemoryWrite(content="soon", expires_at=await server_time(store) + timedelta(hours=1))])
    role = f"far_{store.schema}"
    await store.server.execute(f"CREATE ROLE {role} LOGIN SUPERUSER", f"ALTER ROLE {role} SET timezone = 'Asia/Kabul'")
    found = await backend.records.get(first)
    assert found is not None
    outputs = []
    for zone, url in [
        ("UTC", store.url()),
        ("Pacific/Kiritimati", store.url()),
        ("America/St_Johns", store.server.url(user=role, schema=store.schema)),
    ]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ASK, url, str(found.invalid_at)),
            env={**os.environ, "TZ": zone},
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate()
        assert process.returncode == 0
        outputs.append(output)
    assert outputs[0].count(b"tea") == 4
    assert outputs == [outputs[0]] * 3
    await store.server.execute(f"DROP ROLE {role}")


# --- erasing ---


async def everything(store: Store) -> str:
    return repr(
        [await store.fetch(f"SELECT kept::text FROM {table} AS kept") for table in ("items", "records", "meta")]
    )


async def files(store: Store) -> bytes:
    await store.fetch("CHECKPOINT")
    rows = await store.fetch("SELECT pg_relation_filepath(oid) AS path FROM pg_class WHERE relfilenode <> 0")
    return b"".join(file.read_bytes() for row in rows if (file := store.server.data / row["path"]).exists())


@pytest.mark.parametrize("way", ["delete", "delete_where", "sweep", "drop_namespace"])
async def test_nothing_of_what_is_erased_stays_in_the_tables(backend: PostgresBackend, store: Store, way: str) -> None:
    expired = SECRET.model_copy(update={"expires_at": await server_time(store)})
    await backend.records.write([expired if way == "sweep" else SECRET])
    await backend.records.invalidate(SECRET.id, reason="zanzibarreason") if way != "sweep" else None
    assert "zanzibar" in await everything(store)
    await {
        "delete": lambda: backend.records.delete(SECRET.id),
        "delete_where": lambda: backend.records.delete_where(SECRET.scope),
        "sweep": backend.records.sweep,
        "drop_namespace": backend.drop_namespace,
    }[way]()
    assert "zanzibar" not in await everything(store)


async def test_purge_removes_the_bytes_of_what_was_erased(backend: PostgresBackend, store: Store) -> None:
    long = MemoryWrite(content=" ".join(f"zanzibar{number}" for number in range(5000)), tags=("zanzibartag",))
    await backend.records.write([long, SECRET, MemoryWrite(content="keptforever")])
    await backend.records.invalidate(SECRET.id, reason="zanzibarreason")
    await store.fetch("ANALYZE records")
    assert b"zanzibar" in await files(store)
    await backend.records.delete(long.id)
    await backend.records.delete(SECRET.id)
    await backend.purge()
    data = await files(store)
    assert b"keptforever" in data
    assert b"zanzibar" not in data


async def test_the_statistics_of_the_server_keep_no_content(backend: PostgresBackend, store: Store) -> None:
    for _ in range(3):
        await chain(backend)
    await store.fetch("ANALYZE records")
    kept = await store.fetch(
        "SELECT attname FROM pg_stats WHERE tablename = 'records' AND schemaname = $1", store.schema
    )
    assert {name for (name,) in kept} & {"payload", "ending", "words", "tag_words", "context_words", "lexemes"} == set()


# --- upkeep ---


@pytest.mark.parametrize(
    ("damage", "query"),
    [
        ("words = 'coffe'", RecordQuery(text="tea")),
        ("tag_words = ''", RecordQuery(text="green")),
        ("context_words = ''", RecordQuery(text="morning")),
        ("terms = '{}'", RecordQuery(scope=ME)),
    ],
)
async def test_a_damaged_index_is_found_and_repaired(
    backend: PostgresBackend, store: Store, damage: str, query: RecordQuery
) -> None:
    write = MemoryWrite(content="tea", scope=ME, tags=("green",), context="in the morning")
    await backend.records.write([write])
    before = await backend.records.search(query)
    await store.fetch(f"UPDATE records SET {damage}")
    assert await backend.records.search(query) != before
    found = await backend.check(repair=False)
    assert found.faults == (f"record {write.id} of namespace 'default': {damage.split(maxsplit=1)[0]} differ",)
    assert (await backend.check()).repaired
    assert await backend.records.search(query) == before


async def test_a_damaged_payload_is_reported_and_not_called_repaired(backend: PostgresBackend, store: Store) -> None:
    (first, second) = await chain(backend)
    await store.fetch("UPDATE records SET payload = '{' WHERE id = $1", first)
    report = await backend.check()
    assert report.faults == (f"record {first} of namespace 'default': the payload is damaged",)
    assert not report.repaired
    with pytest.raises(MalformedMemoryPayload):
        await backend.records.get(first)
    assert await backend.records.get(second) is not None


async def test_a_record_that_is_used_while_its_words_are_made_anew_gets_them(
    backend: PostgresBackend, store: Store
) -> None:
    (first,) = await chain(backend, 1)
    await store.fetch("UPDATE records SET words = ''")
    update = backend._maintenance._update

    async def late(*changes: Any) -> None:
        await backend.records.touch([first])
        await update(*changes)

    backend._maintenance._update = late  # type: ignore[method-assign]
    assert await backend.reindex() == 1
    assert len(await backend.records.search(RecordQuery(text="tea"))) == 1


async def test_words_of_another_analysis_stop_text_search_alone(backend: PostgresBackend, store: Store) -> None:
    await chain(backend)
    await store.fetch("UPDATE meta SET analysis = $1", ANALYSIS_VERSION - 1)
    with pytest.raises(MemoryAdapterUnavailable, match="memcore reindex URL"):
        await backend.records.search(RecordQuery(text="tea"))
    assert contents(await backend.records.search(RecordQuery(scope=ME))) == ["tea 1"]
    await backend.records.write([MemoryWrite(content="more tea")])
    assert await store.fetch("SELECT analysis, is_complete FROM meta") == [(ANALYSIS_VERSION, False)]
    await backend.reindex()
    assert contents(await backend.records.search(RecordQuery(text="tea"))) == ["more tea", "tea 1"]


async def test_words_of_a_newer_analysis_are_not_written_beside(backend: PostgresBackend, store: Store) -> None:
    await store.fetch("UPDATE meta SET analysis = $1", ANALYSIS_VERSION + 1)
    with pytest.raises(MemoryAdapterUnavailable, match="upgrade memcore"):
        await backend.records.write([MemoryWrite(content="tea")])
    assert await backend.records.count() == 0


async def test_counting_a_use_writes_to_no_index(backend: PostgresBackend, store: Store) -> None:
    write = MemoryWrite(content="tea", scope=ME, tier="long")
    await backend.records.write([write])
    await backend.records.touch([write.id])
    await backend.close()  # the server counts what a session did when it ends
    counts = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = 'records'::regclass"
    while (updates := await store.fetch(counts)) == [(0, 0)]:  # noqa: ASYNC110 - the server's doing
        await asyncio.sleep(0.01)
    assert updates == [(1, 1)]


async def test_the_table_may_be_partitioned_by_namespace(backend: PostgresBackend, store: Store) -> None:
    (first, second) = await chain(backend)
    derived = ("words", "tag_words", "context_words", "terms")
    columns = ", ".join(("namespace", *RecordRow._fields, *derived))
    for statement in (
        "ALTER TABLE records RENAME TO records_whole",
        "CREATE TABLE records (LIKE records_whole INCLUDING ALL) PARTITION BY HASH (namespace)",
        "CREATE TABLE records_0 PARTITION OF records FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
        "CREATE TABLE records_1 PARTITION OF records FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
        f"INSERT INTO records ({columns}) SELECT {columns} FROM records_whole",
        "DROP TABLE records_whole",
    ):
        await store.fetch(statement)
    again = store.connect()
    third = MemoryWrite(content="green tea", scope=ME, supersedes=(second,))
    await again.records.write([third])
    assert contents(await again.records.search(RecordQuery(text="tea", scope=ME))) == ["green tea"]
    assert await again.records.touch([first, third.id]) == 2
    assert await again.records.delete(second)
    assert [record.id for record in await again.records.history(first)] == [first, third.id]
    assert (await again.check()).faults == ()


# --- older versions ---


@pytest.fixture
async def old(store: Store, monkeypatch: pytest.MonkeyPatch) -> MemoryItem:
    """A store as version 1 left it, with one item in it."""
    item = MemoryItem(content="tea")
    with monkeypatch.context() as past:
        past.setattr(schema, "_STEPS", schema._STEPS[:1])
        for module in ("schema", "writer", "items"):
            past.setattr(f"memcore_postgres.{module}.SCHEMA_VERSION", 1)
        past.setattr("memcore_postgres.backend.PostgresRecords", lambda *_: None)
        async with store.connect() as backend:
            await backend.items.store(item)
    assert await store.fetch("SELECT schema_version, to_regclass('records') FROM meta") == [(1, None)]
    return item


async def test_tables_of_version_1_become_new_with_all_that_is_in_them(store: Store, old: MemoryItem) -> None:
    backend = store.connect()
    assert await backend.items.search(MemoryQuery(text="tea")) == [old]
    (first, _) = await chain(backend)
    assert len(await backend.records.history(first)) == 2
    assert await store.fetch("SELECT schema_version FROM meta") == [(schema.SCHEMA_VERSION,)]
    assert (await backend.check()).faults == ()


OPEN_AND_WRITE = """
import asyncio, sys, memcore

async def main():
    async with memcore.connect(sys.argv[1]) as backend:
        await backend.records.write([memcore.MemoryWrite(content="tea")])

asyncio.run(main())
"""


@pytest.mark.usefixtures("old")
async def test_ten_processes_may_bring_them_up_to_date_at_once(store: Store) -> None:
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-W", "error", "-c", OPEN_AND_WRITE, store.url())
        for _ in range(10)
    ]
    assert [await process.wait() for process in processes] == [0] * 10
    assert await store.connect().records.count() == 10


@pytest.mark.usefixtures("old")
async def test_a_role_that_may_not_bring_them_up_to_date_is_told_the_statement_that_helps(store: Store) -> None:
    role = f"role_{store.schema}"
    await store.server.execute(f"CREATE ROLE {role} LOGIN", f"GRANT USAGE ON SCHEMA {store.schema} TO {role}")
    await store.server.execute(f"GRANT SELECT ON {store.schema}.meta TO {role}")
    with pytest.raises(MemoryAdapterError, match="lacks a right") as caught:
        await store.connect(user=role).open()
    await store.server.execute(str(caught.value).partition("execute: ")[2])
    backend = store.connect(user=role)
    await chain(backend)
    await backend.close()
    await store.server.execute(f"DROP OWNED BY {role} CASCADE", f"DROP ROLE {role}")


# --- the server's plans ---


@pytest.fixture
async def filled(counted: PostgresBackend, store: Store) -> PostgresBackend:
    """A store of 3,000 records of 1,000 users: most are valid, a few expire, some have a tier."""
    soon = await server_time(store) + timedelta(days=1)
    for part in range(3):
        await counted.records.write(
            [
                MemoryWrite(
                    id=UUID(int=1000 * part + number),
                    content=f"tea word{number % 97} word{number % 89}",
                    scope={"user": str(number)},
                    tags=(f"tag{number}",),
                    tier="short" if number % 50 == 0 else None,
                    expires_at=soon if number % 100 == part else None,
                )
                for number in range(1000)
            ]
        )
    await counted.records.write([MemoryWrite(content="coffee", supersedes=(UUID(int=7),))])
    await store.fetch("ANALYZE records")
    return counted


async def refused(call: Awaitable[object]) -> None:
    with pytest.raises(MemoryConflict):
        await call


LATER = datetime(2100, 1, 1, tzinfo=UTC)
CALLS: dict[str, tuple[Callable[[PostgresRecords], Awaitable[object]], str]] = {
    "words in a scope": (lambda records: records.search(RecordQuery(text="tea", scope={"user": "7"})), "records_found"),
    "a scope": (lambda records: records.search(RecordQuery(scope={"user": "7"})), "records_found"),
    "a scope as of": (lambda records: records.search(RecordQuery(scope={"user": "7"}, as_of=LATER)), "records_found"),
    "a tag": (lambda records: records.search(RecordQuery(tags=("tag7",))), "records_found"),
    "the newest": (lambda records: records.search(RecordQuery(limit=5)), "records_valid"),
    "as of": (lambda records: records.search(RecordQuery(limit=5, as_of=LATER)), "records_by_time"),
    "ended ones too": (lambda records: records.search(RecordQuery(include_invalidated=True)), "records_by_time"),
    "a page": (lambda records: records.scan(limit=5), "records_pkey"),
    "one": (lambda records: records.get(UUID(int=7)), "records_pkey"),
    "a chain": (lambda records: records.history(UUID(int=7)), "records_superseded"),
    "a successor": (
        lambda records: records.write([MemoryWrite(content="x", supersedes=(UUID(int=8),))]),
        "records_pkey",
    ),
    "a use": (lambda records: records.touch([UUID(int=9), UUID(int=10)]), "records_pkey"),
    "the head of a chain": (lambda records: refused(records.refresh(UUID(int=7))), "records_pkey"),
    "an erasure": (lambda records: records.delete(UUID(int=7)), "records_superseded"),
    "an erasure of a scope": (lambda records: records.delete_where({"user": "7"}), "records_found"),
    "a sweep of what has expired": (lambda records: records.sweep(), "records_expiring"),
    "a sweep of what lies idle": (lambda records: records.sweep(), "records_decaying"),
}


@pytest.mark.parametrize("name", CALLS)
async def test_an_index_answers(filled: PostgresBackend, explain: Explain, name: str) -> None:
    call, index = CALLS[name]

    found = await explain(call(filled.records))
    assert index in {read for _, read in found}
    assert ("Seq Scan", "records") not in found
