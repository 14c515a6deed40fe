"""Records in one file: what SQLite and the group commit add to what the contract's cases judge."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from memcore import (
    Invalidation,
    MalformedMemoryPayload,
    MemoryAdapterUnavailable,
    MemoryConflict,
    MemoryItem,
    MemoryNotFound,
    MemoryRecord,
    MemoryWrite,
    RecordHistory,
    RecordLifecycle,
    RecordQuery,
    SweepPolicy,
    SweepReport,
    Transfer,
)
from memcore.records.clock import StillClock
from memcore.records.query import MOST_CONDITIONS
from memcore_sqlite import database, schema
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    from pathlib import Path

Connect = Callable[..., SqliteBackend]


def tea(number: int = 0, **fields: object) -> MemoryWrite:
    return MemoryWrite(**{"id": UUID(int=number + 1), "content": f"tea number {number}", **fields})


async def ids(backend: SqliteBackend, **query: object) -> list[int]:
    return [hit.record.id.int - 1 for hit in await backend.records.search(RecordQuery(**query))]


@pytest.fixture
async def told(backend: SqliteBackend) -> list[str]:
    """What the writer's connection is told from now on."""
    statements: list[str] = []
    await backend._database.maintain(lambda session: session.set_trace_callback(statements.append))
    return statements


def test_the_records_have_every_extension(connect: Connect) -> None:
    records = connect().records
    for extension in (RecordHistory, RecordLifecycle, Transfer):
        assert isinstance(records, extension)


async def test_a_file_of_the_first_version_is_brought_up_to_date(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, raw: sqlite3.Connection
) -> None:
    item = MemoryItem(content="tea", tags=["t"])
    with monkeypatch.context() as old:
        old.setattr(schema, "_STEPS", schema._STEPS[:1])
        old.setattr(schema, "SCHEMA_VERSION", 1)
        async with connect() as backend:
            await backend.items.store(item)
    assert raw.execute("PRAGMA user_version").fetchone() == (1,)
    async with connect() as backend:
        assert await backend.items.retrieve(item.id) == item
        (record,) = await backend.records.write([tea()])
        assert await backend.records.get(record.id) == record
        assert (await backend.check(repair=False)).faults == ()
    assert raw.execute("PRAGMA user_version").fetchone() == (2,)


async def test_a_client_of_the_first_version_refuses_a_file_that_was_brought_up_meanwhile(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    with monkeypatch.context() as old:
        old.setattr(schema, "_STEPS", schema._STEPS[:1])
        old.setattr(schema, "SCHEMA_VERSION", 1)
        backend = connect()
        await backend.open()
        with sqlite3.connect(path) as raw:
            raw.execute("PRAGMA user_version = 2")
        raw.close()
        with pytest.raises(MemoryAdapterUnavailable, match="newer memcore-sqlite"):
            await backend.items.store(MemoryItem())


async def test_a_call_hops_once(backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    hops: list[object] = []
    run = database._Connection.run

    def counting(connection: database._Connection, function: object, *, then: object) -> None:
        hops.append(function)
        run(connection, function, then=then)

    monkeypatch.setattr(database._Connection, "run", counting)
    records, key = backend.records, UUID(int=1)
    restored: list[MemoryRecord] = []
    calls = [
        lambda: records.write([tea(n, scope={"user": "ada"}, tags=["t"]) for n in range(500)]),
        lambda: records.write([tea(1_000, supersedes=[UUID(int=9)]), Invalidation(id=UUID(int=8))]),
        lambda: records.search(RecordQuery(text="tea", scope={"user": "ada"}, tags=["t"], include_invalidated=True)),
        lambda: records.search(RecordQuery()),
        lambda: records.get(UUID(int=9)),
        lambda: records.invalidate(key),
        lambda: records.history(UUID(int=9)),
        records.scan,
        records.count,
        lambda: records.touch([key]),
        lambda: records.refresh(UUID(int=2)),
        records.sweep,
        lambda: records.restore(restored),
        lambda: records.delete(key),
        lambda: records.delete_where({"user": "ada"}),
    ]
    restored += await records.write([tea(2_000)])
    hops.clear()
    for number, call in enumerate(calls, 1):
        await call()
        assert len(hops) == number


async def test_what_needs_no_database_does_not_hop(backend: SqliteBackend, told: list[str]) -> None:
    records = backend.records
    assert await records.write([]) == []
    assert await records.restore([]) == []
    assert await records.touch([]) == 0
    for query in ({"limit": 0}, {"text": "?!"}, {"kinds": ()}, {"tiers": ()}):
        assert await records.search(RecordQuery(**query)) == []
    assert told == []


async def test_of_many_that_supersede_one_record_in_one_group_the_first_wins(
    backend: SqliteBackend, told: list[str]
) -> None:
    await backend.records.write([tea()])
    told.clear()
    writes = [backend.records.write([tea(n, supersedes=[UUID(int=1)])]) for n in range(1, 33)]
    others = [backend.records.write([tea(n)]) for n in range(100, 132)]
    *outcomes, _ = await asyncio.gather(*writes, asyncio.gather(*others), return_exceptions=True)
    won = [outcome for outcome in outcomes if isinstance(outcome, list)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, MemoryConflict)]
    assert (len(won), len(lost)) == (1, 31)
    assert {conflict.current for conflict in lost} == {won[0][0]}
    assert [record.id.int for record in await backend.records.history(UUID(int=1))] == [1, won[0][0].id.int]
    assert await backend.records.count() == 34
    assert told.count("COMMIT") <= 2
    assert "ROLLBACK" not in told


async def test_a_batch_that_fails_in_its_midst_leaves_nothing_of_itself(backend: SqliteBackend) -> None:
    await backend.records.write([tea()])
    batch = [tea(1, supersedes=[UUID(int=1)]), tea(2), Invalidation(id=UUID(int=99))]
    with pytest.raises(MemoryNotFound):
        await backend.records.write(batch)
    assert await ids(backend) == [0]


async def test_a_damaged_record_undoes_the_call_that_would_return_it_and_no_other(
    backend: SqliteBackend, raw: sqlite3.Connection
) -> None:
    await backend.records.write([tea(), tea(1)])
    raw.execute("UPDATE records SET payload = '{}' WHERE id = ?", (UUID(int=1).bytes,))
    broken, sound = await asyncio.gather(
        backend.records.invalidate(UUID(int=1)), backend.records.invalidate(UUID(int=2)), return_exceptions=True
    )
    assert isinstance(broken, MalformedMemoryPayload)
    assert isinstance(sound, MemoryRecord)
    assert raw.execute("SELECT id FROM records WHERE invalid_at IS NOT NULL").fetchall() == [(UUID(int=2).bytes,)]


async def test_a_damaged_record_can_be_superseded_and_erased_with_all_that_was_derived_from_it(
    backend: SqliteBackend, raw: sqlite3.Connection
) -> None:
    await backend.records.write([tea(tags=["t"], scope={"user": "ada"}), tea(1, tags=["t"])])
    raw.execute("UPDATE records SET payload = '{' WHERE id = ?", (UUID(int=1).bytes,))
    await backend.records.write([tea(2, supersedes=[UUID(int=1)])])
    assert await ids(backend, tags=["t"]) == [1]
    assert await backend.records.delete(UUID(int=1)) is True
    assert (await backend.check(repair=False)).faults == ()
    assert await ids(backend, text="tea", include_invalidated=True) == [2, 1]


@pytest.mark.parametrize("text", [None, "tea"])
@pytest.mark.parametrize("include_invalidated", [False, True])
async def test_as_many_conditions_as_a_query_takes_are_answered(
    backend: SqliteBackend, text: str | None, *, include_invalidated: bool
) -> None:
    scope = {str(number): "x" for number in range(MOST_CONDITIONS)}
    tags = tuple(map(str, range(MOST_CONDITIONS)))
    near = [tea(1, scope={**scope, "0": "y"}, tags=tags), tea(2, scope=scope, tags=tags[1:])]
    await backend.records.write([tea(scope=scope, tags=tags), *near])
    query = {"text": text, "include_invalidated": include_invalidated, "scope": scope, "tags": tags}
    assert await ids(backend, **query, match_tags="all") == [0]
    assert sorted(await ids(backend, **query)) == [0, 2]


@pytest.mark.parametrize("user", ["' OR 1=1 --", 'a" OR scope : "b', "*", "ada\0", "%", "AND", ""])
async def test_no_scope_is_an_operator(backend: SqliteBackend, user: str) -> None:
    await backend.records.write([tea(n, scope={"user": name}) for n, name in enumerate([user, "ada", "b"])])
    for text in (None, "tea"):
        assert await ids(backend, text=text, scope={"user": user}) == [0]


async def test_a_scope_narrows_the_search_of_a_large_store(backend: SqliteBackend) -> None:
    for start in range(0, 4_000, 1_000):
        await backend.records.write(
            [tea(n, scope={"half": str(n % 2), "user": str(n % 3_000)}) for n in range(start, start + 1_000)]
        )
    assert sorted(await ids(backend, text="tea", scope={"half": "1"}, limit=9_999)) == list(range(1, 4_000, 2))
    assert sorted(await ids(backend, text="number", scope={"half": "1", "user": "7"})) == [7, 3_007]
    found = await ids(backend, text="tea", scope={"half": "0"}, limit=5)
    assert found == [3_998, 3_996, 3_994, 3_992, 3_990]


async def test_two_namespaces_of_a_file_never_see_each_other(connect: Connect) -> None:
    ours, theirs = connect(), connect(namespace="theirs")
    await ours.records.write([tea(scope={"user": "ada"}, tags=["t"]), tea(7)])
    await theirs.records.write([tea(1, scope={"user": "ada"}, tags=["t"])])
    await theirs.records.write([tea(7, supersedes=[UUID(int=2)])])
    for query in ({}, {"text": "tea"}, {"scope": {"user": "ada"}}, {"tags": ["t"]}):
        assert 1 not in await ids(ours, **query, include_invalidated=True)
        assert 0 not in await ids(theirs, **query, include_invalidated=True)
    assert await theirs.records.get(UUID(int=1)) is None
    assert await ours.records.delete(UUID(int=2)) is False
    assert [record.id.int for record in await ours.records.history(UUID(int=8))] == [8]
    await ours.drop_namespace()
    assert (await ours.records.count(), await theirs.records.count()) == (0, 2)


async def test_two_clients_whose_clocks_differ_by_an_hour_agree_on_every_chain(connect: Connect) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    ahead, behind = connect(clock=StillClock(start + timedelta(hours=1))), connect(clock=StillClock(start))
    await ahead.records.write([tea(scope={"user": "ada"})])
    for number in range(1, 6):
        writer = (behind, ahead)[number % 2]
        await writer.records.write([tea(number, scope={"user": "ada"}, supersedes=[UUID(int=number)])])
    chain = await behind.records.history(UUID(int=1))
    assert [record.id.int - 1 for record in chain] == list(range(6))
    times = [record.created_at for record in chain]
    assert times == sorted(set(times))
    assert [record.invalid_at for record in chain] == [*times[1:], None]
    for client in (ahead, behind):
        assert await ids(client, text="tea", scope={"user": "ada"}) == await ids(client) == [5]
    for number, record in enumerate(chain):
        assert await ids(behind, as_of=record.created_at) == [number]


async def test_a_time_is_the_stores_whatever_the_caller_waited_for(connect: Connect) -> None:
    clock = StillClock(datetime(2026, 1, 1, tzinfo=UTC))
    backend = connect(clock=clock)
    records = [await backend.records.write([tea(n)]) for n in range(2)]
    clock.advance(1)
    records.append(await backend.records.write([tea(2), tea(3)]))
    seconds = [(record.created_at - datetime(2026, 1, 1, tzinfo=UTC)) for batch in records for record in batch]
    second, tick = timedelta(seconds=1), timedelta(microseconds=1)
    assert seconds == [timedelta(0), timedelta(0), second, second + tick]


async def test_a_sweep_takes_as_many_commits_as_batches(connect: Connect) -> None:
    clock = StillClock(datetime(2026, 1, 1, tzinfo=UTC))
    backend = connect(clock=clock)
    soon = clock() + timedelta(hours=1)
    await backend.records.write([tea(n, expires_at=soon) for n in range(25)])
    await backend.records.write([tea(n, tier="short") for n in range(25, 50)])
    told: list[str] = []
    await backend._database.maintain(lambda session: session.set_trace_callback(told.append))
    clock.advance(7 * 24 * 3600 + 1)
    assert await backend.records.sweep(SweepPolicy(batch=10)) == SweepReport(erased=25, archived=25)
    assert told.count("COMMIT") == 6
    assert await backend.records.sweep() == SweepReport(erased=0, archived=0)
    assert (await backend.check(repair=False)).faults == ()


async def test_two_backends_that_sweep_at_once_count_each_record_once(connect: Connect) -> None:
    clock = StillClock(datetime(2026, 1, 1, tzinfo=UTC))
    backends = [connect(clock=clock) for _ in range(2)]
    await backends[0].records.write([tea(n, tier="long") for n in range(100)])
    clock.advance(30 * 24 * 3600 + 1)
    reports = await asyncio.gather(*(backend.records.sweep(SweepPolicy(batch=7)) for backend in backends))
    assert sum(report.archived for report in reports) == 100
    ended = await backends[0].records.search(RecordQuery(include_invalidated=True, limit=200))
    assert {hit.record.invalid_reason for hit in ended} == {"idle"}
