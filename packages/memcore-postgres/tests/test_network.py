"""A network that fails between the adapter and the server: the right error, nothing acknowledged lost, and recovery."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from memcore import MemoryAdapterUnavailable, MemoryItem, MemoryQuery
from memcore_conformance.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from conftest import Server, Store
    from memcore_conformance.proxy import Failure
    from memcore_postgres.backend import PostgresBackend

FAULTS: list[tuple[Failure, int]] = [("refuse", 0), ("hang", 0), ("cut", 0), ("cut", 3), ("reset", 0), ("reset", 3)]
IMPATIENT = {"connect_timeout": 0.3, "command_timeout": 0.3, "acquire_timeout": 0.3}


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[Proxy]:
    async with Proxy(server.socket / ".s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
async def backend(store: Store, proxy: Proxy) -> PostgresBackend:
    await store.connect().open()
    return store.connect(host="127.0.0.1", port=proxy.port, **IMPATIENT)


@pytest.mark.parametrize(("failure", "after"), FAULTS)
async def test_a_fault_is_told_by_every_operation_and_the_same_store_recovers(
    proxy: Proxy, backend: PostgresBackend, failure: Failure, after: int
) -> None:
    items = backend.items
    tea = MemoryItem(content="tea")
    await items.store(tea)
    proxy.fail(failure, after=after)
    for call in (
        lambda: items.store(tea),
        lambda: items.store_many([tea]),
        lambda: items.retrieve(tea.id),
        lambda: items.search(MemoryQuery(text="tea")),
        items.scan,
        items.count,
        lambda: items.delete_where({"none": 1}),
    ):
        with pytest.raises(MemoryAdapterUnavailable) as caught:
            await call()
        assert type(caught.value) is MemoryAdapterUnavailable
    proxy.heal()
    assert await items.retrieve(tea.id) == tea
    await items.store(MemoryItem(content="coffee"))
    assert await items.count() == 2


async def test_a_slow_network_is_no_fault(proxy: Proxy, backend: PostgresBackend) -> None:
    proxy.delay = 0.02
    tea = MemoryItem(content="tea")
    await backend.items.store(tea)
    assert await backend.items.retrieve(tea.id) == tea


async def test_cutting_the_network_amid_writes_loses_none_that_was_acknowledged(
    proxy: Proxy, backend: PostgresBackend, store: Store
) -> None:
    acknowledged: set[object] = set()
    failures: list[type[BaseException]] = []
    may_stop = asyncio.Event()

    async def write() -> None:
        while not may_stop.is_set():
            item = MemoryItem(content="tea")
            try:
                await backend.items.store(item)
                acknowledged.add(item.id)
            except Exception as error:  # noqa: BLE001 - the test looks at what it is
                failures.append(type(error))
                await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as group:
        for _ in range(8):
            group.create_task(write())
        for failure, after in FAULTS:
            before, failed = len(acknowledged), len(failures)
            while len(acknowledged) < before + 8:  # noqa: ASYNC110 - the writers' doing
                await asyncio.sleep(0.01)
            proxy.fail(failure, after=after)
            while len(failures) == failed:  # noqa: ASYNC110 - the writers' doing
                await asyncio.sleep(0.01)
            proxy.heal()
        may_stop.set()
    assert set(failures) == {MemoryAdapterUnavailable}
    await backend.items.store(MemoryItem(content="at last"))
    kept = {item.id for item in (await store.connect().items.scan(limit=100_000)).items}
    assert acknowledged <= kept
