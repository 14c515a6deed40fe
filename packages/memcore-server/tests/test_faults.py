"""A network that fails: the right error, no acknowledged write lost, none out of order, and recovery (I-70, I-71)."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from memcore import MemoryAdapterUnavailable, MemoryItem, MemoryQuery
from memcore_http.backend import HttpBackend
from memcore_http.settings import HttpSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from conftest import Process
    from memcore_conformance.proxy import Failure, Proxy
    from memcore_http.items import HttpItems

FAULTS: list[tuple[Failure, int]] = [("refuse", 0), ("hang", 0), ("cut", 0), ("cut", 100), ("reset", 0), ("reset", 100)]
TEA = MemoryItem(content="tea " * 100)


@pytest.fixture
async def proxy(serve: Callable[..., Process], make_proxy: Callable[..., Any], tmp_path: Any) -> Proxy:
    return await make_proxy(serve(f"sqlite:///{tmp_path}/memory.db").port)


@pytest.fixture
async def backend(proxy: Proxy) -> AsyncIterator[HttpBackend]:
    settings = HttpSettings(base_url=f"http://{proxy.address}", retries=1, retry_wait=0.01)
    async with HttpBackend(settings) as backend:
        yield backend


@pytest.fixture
async def items(backend: HttpBackend) -> HttpItems:
    return backend.items


@contextlib.contextmanager
def impatient(backend: HttpBackend) -> Iterator[None]:
    """Let a client wait for a moment only."""
    patient = backend._transport._timeout
    backend._transport._timeout = httpx.Timeout(0.2)
    yield
    backend._transport._timeout = patient


@pytest.mark.parametrize(("mode", "after"), FAULTS)
async def test_a_fault_is_told_by_every_operation_and_the_same_store_recovers(
    proxy: Proxy, backend: HttpBackend, mode: Failure, after: int
) -> None:
    items = backend.items
    await items.store(TEA)
    proxy.fail(mode, after=after)
    for call in (
        lambda: items.store(TEA),
        lambda: items.store_many([TEA]),
        lambda: items.retrieve(TEA.id),
        lambda: items.search(MemoryQuery(text="tea")),
        items.scan,
        items.count,
        lambda: items.delete_where({"none": 1}),
    ):
        with impatient(backend), pytest.raises(MemoryAdapterUnavailable) as caught:
            await call()
        assert caught.value.__cause__ is not None
    proxy.heal()
    assert await items.retrieve(TEA.id) == TEA
    await items.store(MemoryItem(content="coffee"))


async def test_an_item_that_is_cut_off_in_its_middle_is_no_item(proxy: Proxy, items: HttpItems) -> None:
    await items.store(TEA)
    proxy.fail("cut", after=500)
    with pytest.raises(MemoryAdapterUnavailable):
        await items.retrieve(TEA.id)


async def test_a_slow_network_is_no_fault(proxy: Proxy, items: HttpItems) -> None:
    proxy.delay = 0.1
    await items.store(TEA)
    assert await items.retrieve(TEA.id) == TEA


async def test_a_write_that_arrives_late_never_undoes_a_later_one(proxy: Proxy, backend: HttpBackend) -> None:
    """The first one is held back on the way until the second one is acknowledged."""
    items = backend.items
    proxy.fail("hang")
    with impatient(backend), pytest.raises(MemoryAdapterUnavailable):
        await items.store(MemoryItem(id=TEA.id, content="first"))
    assert proxy.held == 1
    proxy.heal(releases=False)  # the first one is still on its way
    await items.store(MemoryItem(id=TEA.id, content="second"))
    refused = proxy.answered
    proxy.heal()
    await proxy.wait_for_answers(refused + 1)
    found = await items.retrieve(TEA.id)
    assert found is not None
    assert found.content == "second"


async def test_an_erasure_whose_answer_is_lost_tells_what_it_did(proxy: Proxy, items: HttpItems) -> None:
    await items.store(TEA)
    proxy.fail("cut", times=1)
    assert await items.delete(TEA.id) is True
    assert await items.delete(TEA.id) is False


async def test_cutting_the_network_amid_writes_loses_none_that_was_acknowledged(proxy: Proxy, items: HttpItems) -> None:
    written: dict[int, set[str]] = {}
    kept = [MemoryItem(content="") for _ in range(8)]
    may_stop = asyncio.Event()
    failures = 0

    async def write(number: int) -> None:
        """Write rising numbers to one item; remember the last one acknowledged and those after it."""
        nonlocal failures
        turn = 0
        while not may_stop.is_set():
            turn += 1
            text = f"{number}.{turn}"
            written.setdefault(number, set()).add(text)
            try:
                await items.store(MemoryItem(id=kept[number].id, content=text))
                written[number] = {text}
            except MemoryAdapterUnavailable:
                failures += 1
                await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as group:
        for number in range(len(kept)):
            group.create_task(write(number))
        for mode, after in FAULTS:
            await asyncio.sleep(0.15)
            proxy.fail(mode, after=after)
            await asyncio.sleep(0.15)
            proxy.heal()
        await asyncio.sleep(0.3)
        may_stop.set()
    assert failures
    for number, item in enumerate(kept):
        found = await items.retrieve(item.id)
        assert found is not None
        assert found.content in written[number]
