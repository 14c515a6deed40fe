"""Records stay whole whoever writes at the same time, and whatever breaks in the middle."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest
from memcore import (
    Invalidation,
    MemoryAdapterUnavailable,
    MemoryConflict,
    MemoryNotFound,
    MemoryRecord,
    MemoryWrite,
    RecordQuery,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conftest import Hop, Statement, Store
    from memcore_postgres.backend import PostgresBackend

ME = {"user": "me"}


def writes(count: int, *, scope: dict[str, str] = ME) -> list[MemoryWrite]:
    return [MemoryWrite(content=f"tea {number}", scope=scope) for number in range(count)]


def successor(*old: MemoryWrite, content: str = "coffee") -> MemoryWrite:
    return MemoryWrite(content=content, supersedes=tuple(write.id for write in old))


async def clients(store: Store, count: int) -> list[PostgresBackend]:
    backends = [store.connect() for _ in range(count)]
    await asyncio.gather(*(backend.open() for backend in backends))
    return backends


def winners(results: list[object]) -> list[MemoryRecord]:
    return [result[0] for result in results if isinstance(result, list)]


def losses(results: list[object]) -> list[MemoryConflict]:
    return [result for result in results if isinstance(result, MemoryConflict)]


async def test_new_records_and_every_read_are_one_round_trip(
    counted: PostgresBackend, statements: list[Statement]
) -> None:
    records = counted.records
    new = writes(5)
    calls: list[Awaitable[object]] = [
        records.write(new),
        records.get(new[0].id),
        records.search(RecordQuery(scope=ME)),
        records.search(RecordQuery(text="tea", scope=ME, include_invalidated=True)),
        records.history(new[0].id),
        records.scan(),
        records.count(),
    ]
    for number, call in enumerate(calls, 1):
        await call
        assert len(statements) == number


async def test_gets_at_the_same_time_share_a_round_trip(counted: PostgresBackend, statements: list[Statement]) -> None:
    new = writes(64)
    stored = await counted.records.write(new)
    statements.clear()
    assert await asyncio.gather(*(counted.records.get(write.id) for write in new)) == stored
    assert len(statements) <= 2


async def test_new_records_at_the_same_time_share_a_commit(
    counted: PostgresBackend, statements: list[Statement]
) -> None:
    stored = await asyncio.gather(*(counted.records.write([write]) for write in writes(64)))
    assert len(statements) <= 2
    times = [record.created_at for (record,) in stored]
    assert times == sorted(set(times))


async def test_a_write_that_was_done_before_takes_no_other_with_it(store: Store) -> None:
    (backend,) = await clients(store, 1)
    new = writes(8)
    first = await backend.records.write([new[3]])
    results = await asyncio.gather(
        *(backend.records.write([write]) for write in new),
        backend.records.write([MemoryWrite(id=new[3].id, content="something else")]),
        return_exceptions=True,
    )
    assert results[3] == first
    assert [record.id for (record,) in results[:8]] == [write.id for write in new]
    assert isinstance(results[8], MemoryConflict)
    assert results[8].current == first[0]


async def test_of_many_that_supersede_one_record_one_wins(store: Store) -> None:
    backends = await clients(store, 3)
    for _ in range(5):
        (old,) = writes(1)
        await backends[0].records.write([old])
        results = await asyncio.gather(
            *(backend.records.write([successor(old)]) for backend in backends for _ in range(5)),
            return_exceptions=True,
        )
        (winner,) = winners(results)
        assert [loss.current for loss in losses(results)] == [winner] * 14
        assert [record.id for record in await backends[1].records.history(old.id)] == [old.id, winner.id]


async def test_a_batch_that_loses_writes_nothing(store: Store) -> None:
    backends = await clients(store, 4)
    old = writes(6)
    await backends[0].records.write(old)
    batches = [[successor(old[0]), *writes(3), successor(*old[1:]), Invalidation(id=old[0].id)] for _ in range(4)]
    results = await asyncio.gather(
        *(backend.records.write(batch) for backend, batch in zip(backends, batches, strict=True)),
        return_exceptions=True,
    )
    assert (len(winners(results)), len(losses(results))) == (1, 3)
    assert await backends[0].records.count() == 6 + 5


async def test_a_batch_with_an_unknown_record_writes_nothing(store: Store) -> None:
    (backend,) = await clients(store, 1)
    (old,) = writes(1)
    await backend.records.write([old])
    with pytest.raises(MemoryNotFound):
        await backend.records.write([*writes(2), successor(old), Invalidation(id=uuid4())])
    (record,) = (await backend.records.scan()).records
    assert record.invalid_at is None


async def test_one_write_by_many_clients_is_one_record(store: Store) -> None:
    backends = await clients(store, 4)
    for new in ([*writes(1)], writes(120)):
        results = await asyncio.gather(*(backend.records.write(new) for backend in backends))
        assert all(result == results[0] for result in results)
    assert await backends[0].records.count() == 121


async def test_a_superseding_write_by_many_clients_never_conflicts_with_itself(store: Store) -> None:
    backends = await clients(store, 4)
    for _ in range(10):
        (old,) = writes(1)
        await backends[0].records.write([old])
        new = successor(old)
        results = await asyncio.gather(*(backend.records.write([new]) for backend in backends))
        assert [[record.id for record in result] for result in results] == [[new.id]] * 4


async def test_of_different_writes_with_one_id_one_wins(store: Store) -> None:
    backends = await clients(store, 4)
    record_id = uuid4()
    different = [MemoryWrite(id=record_id, content=f"tea {number}") for number in range(4)]
    results = await asyncio.gather(
        *(backend.records.write([write]) for backend, write in zip(backends, different, strict=True)),
        return_exceptions=True,
    )
    (winner,) = winners(results)
    assert [loss.current for loss in losses(results)] == [winner] * 3


async def test_a_retry_is_the_same_write_whatever_happened_since(store: Store) -> None:
    backends = await clients(store, 2)
    (old,) = writes(1)
    first, second = successor(old), MemoryWrite(content="water")
    await backends[0].records.write([old])
    await backends[0].records.write([first])
    await backends[0].records.write([second.model_copy(update={"supersedes": (first.id,)})])
    (again,) = await backends[1].records.write([first])
    assert (again.id, again.superseded_by) == (first.id, second.id)


async def test_neighbours_that_are_erased_at_the_same_time_leave_no_link_to_nothing(store: Store) -> None:
    backends = await clients(store, 3)
    for _ in range(10):
        chain = writes(1)
        await backends[0].records.write(chain)
        for _ in range(4):
            chain.append(successor(chain[-1]))
            await backends[0].records.write([chain[-1]])
        await asyncio.gather(
            *(backend.records.delete(write.id) for backend, write in zip(backends, chain[2:], strict=True))
        )
        kept = await backends[0].records.history(chain[0].id)
        assert [(record.id, record.superseded_by) for record in kept] == [
            (chain[0].id, chain[1].id),
            (chain[1].id, None),
        ]


async def test_what_is_erased_while_it_is_superseded_leaves_a_whole_chain(store: Store) -> None:
    backends = await clients(store, 2)
    for _ in range(20):
        (first,) = writes(1)
        second = successor(first)
        third = successor(second)
        await backends[0].records.write([first])
        await backends[0].records.write([second])
        _, done = await asyncio.gather(
            backends[0].records.delete(second.id), backends[1].records.write([third]), return_exceptions=True
        )
        found = await backends[0].records.get(first.id)
        assert found is not None
        assert found.superseded_by == (None if isinstance(done, MemoryNotFound) else third.id)


async def test_every_touch_counts(store: Store) -> None:
    backends = await clients(store, 3)
    new = writes(20)
    await backends[0].records.write(new)
    ids = [write.id for write in new]
    await asyncio.gather(
        *(backend.records.touch(order) for backend in backends for order in (ids, ids[::-1], ids[5:15]))
    )
    hits = [record.hits for record in (await backends[0].records.scan()).records]
    assert sorted(hits) == [6] * 10 + [9] * 10


async def test_sweeps_at_the_same_time_take_each_record_once(store: Store) -> None:
    backends = await clients(store, 3)
    now = (await backends[0].records.write(writes(1)))[0].created_at
    gone = [MemoryWrite(content="tea", expires_at=now) for _ in range(70)]
    await backends[0].records.write(gone)
    reports = await asyncio.gather(*(backend.records.sweep() for backend in backends))
    assert sum(report.erased for report in reports) == 70
    assert await store.fetch("SELECT count(*) FROM records WHERE expires_at IS NOT NULL") == [(0,)]


SUPERSEDE = """
import asyncio, random, sys
from uuid import UUID
import memcore

async def main():
    wins = 0
    async with memcore.connect(sys.argv[1]) as backend:
        for number in random.sample(range(200), 200):
            write = memcore.MemoryWrite(content="coffee", supersedes=(UUID(int=number),))
            try:
                await backend.records.write([write])
                wins += 1
            except memcore.MemoryConflict as conflict:
                assert conflict.current is not None and conflict.current.invalid_at is None
    print(wins)

asyncio.run(main())
"""


async def test_eight_processes_that_supersede_the_same_records_leave_no_fork(store: Store) -> None:
    (backend,) = await clients(store, 1)
    old = [MemoryWrite(id=UUID(int=number), content="tea") for number in range(200)]
    await backend.records.write(old)
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", SUPERSEDE, store.url(), stdout=asyncio.subprocess.PIPE
        )
        for _ in range(8)
    ]
    outputs = await asyncio.gather(*(process.communicate() for process in processes))
    assert [process.returncode for process in processes] == [0] * 8
    assert sum(int(output) for output, _ in outputs) == 200
    chains = [await backend.records.history(write.id) for write in old]
    assert {len(chain) for chain in chains} == {2}
    assert all(before.superseded_by == after.id for before, after in chains)
    assert all(before.invalid_at == after.created_at for before, after in chains)
    assert await backend.records.count() == 400


CANCELLABLE: dict[str, Callable[[PostgresBackend, MemoryWrite], Awaitable[object]]] = {
    "write": lambda backend, _: backend.records.write(writes(1)),
    "supersede": lambda backend, old: backend.records.write([successor(old), *writes(300)]),
    "search": lambda backend, _: backend.records.search(RecordQuery(text="tea")),
    "get": lambda backend, old: backend.records.get(old.id),
    "touch": lambda backend, old: backend.records.touch([old.id]),
    "delete": lambda backend, old: backend.records.delete(old.id),
    "sweep": lambda backend, _: backend.records.sweep(),
}


@pytest.mark.parametrize("name", CANCELLABLE)
async def test_a_call_cancelled_anywhere_leaves_the_backend_usable(store: Store, name: str) -> None:
    backend = store.connect(max_size=2)
    await backend.open()
    for turns in range(12):
        (old,) = writes(1)
        await backend.records.write([old])
        task = asyncio.ensure_future(CANCELLABLE[name](backend, old))
        for _ in range(turns):
            await asyncio.sleep(0 if turns < 8 else 0.0005)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert len(await backend.records.write(writes(2))) == 2
    assert await store.sessions("state LIKE 'idle in transaction%'") == []


async def test_a_session_that_the_server_ends_leaves_all_of_a_write_or_nothing(store: Store) -> None:
    backend, watcher = await clients(store, 2)
    for pause in range(12):
        old = writes(3)
        await backend.records.write(old)
        before = await watcher.records.count()
        batch = [successor(*old), *writes(400)]
        task = asyncio.ensure_future(backend.records.write(batch))
        await asyncio.sleep(0.004 * pause)
        await store.fetch(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'memcore' AND state <> 'idle' AND pid <> pg_backend_pid()"
        )
        with suppress(MemoryAdapterUnavailable):
            await task
        written = await watcher.records.count() - before
        ended = [(await watcher.records.get(write.id)).superseded_by for write in old]  # type: ignore[union-attr]
        assert (written, set(ended)) in [(0, {None}), (401, {batch[0].id})]
        assert len(await backend.records.write(batch)) == 401


async def test_nothing_depends_on_the_session(hop: Hop) -> None:
    backend = hop(statement_cache_size=0)
    old = writes(300)
    await backend.records.write(old)
    await asyncio.gather(*(backend.records.write([successor(write)]) for write in old[:20]))
    found = await asyncio.gather(*(backend.records.search(RecordQuery(text="tea", scope=ME)) for _ in range(50)))
    assert {len(hits) for hits in found} == {20}
    assert await backend.records.touch([write.id for write in old]) == 300
    assert await backend.records.delete(old[0].id)
    assert await backend.records.delete_where(ME) == 299
    assert await backend.records.count() == 20
