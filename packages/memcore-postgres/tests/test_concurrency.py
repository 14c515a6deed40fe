"""Calls at the same time share round trips and commits, and none of them suffers by another."""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from memcore import MemoryAdapterError, MemoryAdapterUnavailable, MemoryConfigurationError, MemoryItem, MemoryQuery

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conftest import Hop, Statement, Store
    from memcore_postgres.backend import PostgresBackend


def items(count: int) -> list[MemoryItem]:
    return [MemoryItem(content=f"tea {number}") for number in range(count)]


async def test_every_call_is_one_round_trip(counted: PostgresBackend, statements: list[Statement]) -> None:
    (item,) = items(1)
    calls: list[Awaitable[object]] = [
        counted.items.store(item),
        counted.items.retrieve(item.id),
        counted.items.search(MemoryQuery()),
        counted.items.search(MemoryQuery(text="tea", tags=["t"], filters={"k": 1})),
        counted.items.store_many(items(100)),
        counted.items.scan(),
        counted.items.count(),
        counted.items.delete(item.id),
        counted.items.delete_where({"k": 1}),
        counted.ping(),
    ]
    for number, call in enumerate(calls, 1):
        await call
        assert len(statements) == number


async def test_gets_at_the_same_time_share_a_round_trip(counted: PostgresBackend, statements: list[Statement]) -> None:
    stored = items(64)
    await counted.items.store_many(stored)
    statements.clear()
    assert await asyncio.gather(*(counted.items.retrieve(item.id) for item in stored)) == stored
    assert len(statements) <= 2


async def test_stores_at_the_same_time_share_a_commit(counted: PostgresBackend, statements: list[Statement]) -> None:
    await asyncio.gather(*(counted.items.store(item) for item in items(64)))
    assert len(statements) <= 2
    assert await counted.items.count() == 64


async def test_stores_of_one_id_take_effect_in_the_order_of_their_calls(backend: PostgresBackend) -> None:
    (item,) = items(1)
    versions = [MemoryItem(id=item.id, content=number) for number in range(50)]
    await asyncio.gather(*(backend.items.store(version) for version in versions))
    found = await backend.items.retrieve(item.id)
    assert found is not None
    assert found.content == 49


async def test_writes_of_every_kind_keep_the_order_of_their_calls(backend: PostgresBackend) -> None:
    (item,) = items(1)
    done = await asyncio.gather(
        backend.items.store(item),
        backend.items.delete(item.id),
        backend.items.store_many([item]),
        backend.items.delete(item.id),
        backend.items.delete(item.id),
    )
    assert done == [item.id, True, [item.id], True, False]


async def test_an_item_that_the_server_refuses_fails_alone(backend: PostgresBackend, store: Store) -> None:
    await store.fetch("ALTER TABLE items ADD CHECK (payload NOT LIKE '%bad%')")
    stored = [MemoryItem(content="bad" if number == 3 else "good") for number in range(8)]
    results = await asyncio.gather(*(backend.items.store(item) for item in stored), return_exceptions=True)
    assert [type(result) for result in results].count(MemoryAdapterError) == 1
    assert await backend.items.count() == 7


async def test_a_cancelled_store_takes_nobody_else_s_with_it(backend: PostgresBackend) -> None:
    stored = items(8)
    tasks = [asyncio.create_task(backend.items.store(item)) for item in stored]
    await asyncio.sleep(0)
    tasks[2].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [item.id for number, item in enumerate(stored) if number != 2] == [
        r for r in results if r in {i.id for i in stored}
    ]
    for item in stored[:2] + stored[3:]:
        assert await backend.items.retrieve(item.id) == item


async def test_a_cancelled_get_takes_nobody_else_s_with_it(backend: PostgresBackend) -> None:
    stored = items(8)
    await backend.items.store_many(stored)
    tasks = [asyncio.create_task(backend.items.retrieve(item.id)) for item in stored]
    await asyncio.sleep(0)
    tasks[2].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert results[:2] + results[3:] == stored[:2] + stored[3:]


CANCELLABLE: dict[str, Callable[[PostgresBackend, MemoryItem], Awaitable[object]]] = {
    "store": lambda backend, item: backend.items.store(item),
    "retrieve": lambda backend, item: backend.items.retrieve(item.id),
    "search": lambda backend, _: backend.items.search(MemoryQuery(text="tea")),
    "store_many": lambda backend, item: backend.items.store_many([item, *items(600)]),
    "delete_where": lambda backend, _: backend.items.delete_where({"k": None, "j": 1}),
    "scan": lambda backend, _: backend.items.scan(),
}


@pytest.mark.parametrize("name", CANCELLABLE)
async def test_a_call_cancelled_anywhere_leaves_the_backend_usable(store: Store, name: str) -> None:
    backend = store.connect(max_size=2)
    (item,) = items(1)
    await backend.items.store(item)
    for turns in range(12):
        task = asyncio.ensure_future(CANCELLABLE[name](backend, item))
        for _ in range(turns):
            await asyncio.sleep(0 if turns < 8 else 0.0005)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await backend.items.store(item)
        assert await backend.items.retrieve(item.id) == item
    assert len(await asyncio.gather(*(backend.items.search(MemoryQuery(limit=1)) for _ in range(4)))) == 4
    assert await store.sessions("state LIKE 'idle in transaction%'") == []


async def test_an_opening_that_is_cancelled_may_be_tried_again(store: Store) -> None:
    for turns in range(10):
        backend = store.connect()
        task = asyncio.create_task(backend.open())
        for _ in range(turns):
            await asyncio.sleep(0.001)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert await backend.items.count() == 0


async def test_a_write_after_one_of_unknown_outcome_takes_effect_after_it(store: Store) -> None:
    """The connection breaks while the server waits to write; the next write must not be overtaken by that."""
    backend = store.connect()
    (item,) = items(1)
    await backend.items.store(item)
    holder = await store.server.connect()
    transaction = holder.transaction()
    await transaction.start()
    await holder.execute(f"SELECT FROM {store.schema}.items WHERE id = $1 FOR UPDATE", item.id)
    first = asyncio.create_task(backend.items.store(MemoryItem(id=item.id, content="first")))
    while not await store.sessions("wait_event_type = 'Lock'"):  # noqa: ASYNC110 - the server's doing
        await asyncio.sleep(0.01)
    for lent in backend._database._pool._holders:
        if lent._con is not None:
            lent._con._transport.abort()  # as a network does that breaks
    with pytest.raises(MemoryAdapterUnavailable):
        await first
    then = [
        asyncio.create_task(backend.items.delete(item.id)),
        asyncio.create_task(backend.items.store(MemoryItem(id=item.id, content="last"))),
    ]
    while len(await store.sessions("wait_event_type = 'Lock'")) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await transaction.rollback()
    await holder.close()
    assert await asyncio.gather(*then) == [True, item.id]
    found = await backend.items.retrieve(item.id)
    assert found is not None
    assert found.content == "last"


async def test_two_clients_that_write_the_same_items_both_succeed(store: Store) -> None:
    stored = items(40)
    clients = [store.connect(), store.connect()]
    await asyncio.gather(*(client.open() for client in clients))

    async def write(client: PostgresBackend, seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(15):
            some = dice.sample(stored, 20)
            await client.items.store_many(some)
            await client.items.delete_many([item.id for item in some[:5]])

    await asyncio.gather(*(write(client, seed) for seed, client in enumerate(clients)))
    assert (await clients[0].check()).faults == ()


STORE_MANY = """
import asyncio, sys, memcore

async def main():
    async with memcore.connect(sys.argv[1]) as backend:
        new = [memcore.MemoryItem(content=f"tea {number}") for number in range(200)]
        await asyncio.gather(*(backend.items.store(item) for item in new))

asyncio.run(main())
"""


async def test_four_processes_that_write_at_once_lose_nothing(store: Store) -> None:
    await store.connect().open()
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-W", "error", "-c", STORE_MANY, store.url())
        for _ in range(4)
    ]
    assert [await process.wait() for process in processes] == [0] * 4
    assert await store.connect().items.count() == 800


ACKNOWLEDGE = """
import asyncio, sys, memcore

async def main():
    async with memcore.connect(sys.argv[1]) as backend:
        while True:
            item = memcore.MemoryItem(content="tea")
            await backend.items.store(item)
            print(item.id, flush=True)

asyncio.run(main())
"""


async def test_what_was_acknowledged_survives_the_death_of_the_process(store: Store) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ACKNOWLEDGE, store.url(), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    acknowledged = [(await process.stdout.readline()).decode().strip() for _ in range(50)]
    process.kill()
    acknowledged += (await process.stdout.read()).decode().split()
    await process.wait()
    stored = {str(row["id"]) for row in await store.fetch("SELECT id FROM items")}
    assert set(acknowledged) <= stored


async def test_nothing_depends_on_the_session(hop: Hop) -> None:
    backend = hop(statement_cache_size=0)
    stored = [MemoryItem(content=f"tea {number}", tags=["t"], metadata={"k": None}) for number in range(600)]
    await backend.items.store_many(stored)
    found = await asyncio.gather(*(backend.items.search(MemoryQuery(text="tea", tags=["t"])) for _ in range(100)))
    assert {len(hits) for hits in found} == {20}
    assert await backend.items.delete_where({"k": None}) == 600
    assert await backend.reindex() == 0


async def test_prepared_statements_that_a_pooler_lost_point_to_the_setting(hop: Hop) -> None:
    backend = hop()

    async def count_twice() -> None:
        await backend.items.count()
        await backend.items.count()

    with pytest.raises(MemoryConfigurationError, match="statement_cache_size=0"):
        await count_twice()
