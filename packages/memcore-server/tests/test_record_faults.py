"""Records over a network that fails: a write made again is the same write; no acknowledged one is lost (R-11, I-70)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import memcore
import pytest
from memcore import MemoryAdapterUnavailable, MemoryConflict, MemoryWrite, RecordQuery, SweepPolicy
from memcore_http.backend import HttpBackend
from memcore_http.settings import HttpSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path
    from uuid import UUID

    from conftest import Process
    from memcore_conformance.proxy import Proxy

TEA = MemoryWrite(content="Ada likes tea", scope={"user": "ada"}, tier="short")


@pytest.fixture
async def proxy(serve: Callable[..., Process], make_proxy: Callable[..., Any], tmp_path: Path) -> Proxy:
    return await make_proxy(serve(f"sqlite:///{tmp_path}/memory.db").port)


@pytest.fixture
async def records(proxy: Proxy) -> AsyncIterator[Any]:
    settings = HttpSettings(base_url=f"http://{proxy.address}", retries=1, retry_wait=0.01)
    async with HttpBackend(settings) as backend:
        yield backend.records


async def test_a_write_whose_answer_is_lost_is_made_once(proxy: Proxy, records: Any) -> None:
    (tea,) = await records.write([TEA])
    coffee = MemoryWrite(content="Ada likes coffee", supersedes=[tea.id])
    proxy.fail("cut", times=1)
    (written,) = await records.write([coffee])
    assert [record.id for record in await records.history(tea.id)] == [tea.id, coffee.id]
    assert await records.get(coffee.id) == written
    assert (await records.get(tea.id)).invalid_at == written.created_at


async def test_an_invalidation_whose_answer_is_lost_is_made_once(proxy: Proxy, records: Any) -> None:
    await records.write([TEA])
    proxy.fail("cut", times=1)
    ended = await records.invalidate(TEA.id, "wrong", "ada")
    assert ended == await records.get(TEA.id)
    assert ended.updated_at == ended.invalid_at


async def test_an_erasure_whose_answer_is_lost_tells_what_it_did(proxy: Proxy, records: Any) -> None:
    await records.write([TEA, MemoryWrite(content="x", scope={"user": "bob"})])
    for erase, expected in ((lambda: records.delete(TEA.id), True), (lambda: records.delete_where({"user": "bob"}), 1)):
        proxy.fail("cut", times=1)
        assert await erase() == expected
    assert await records.count() == 0


async def test_a_sweep_whose_answer_is_lost_tells_what_it_did(proxy: Proxy, records: Any) -> None:
    await records.write([TEA])
    proxy.fail("cut", times=1)
    policy = SweepPolicy(short_idle=timedelta(microseconds=1))
    assert (await records.sweep(policy)).archived == 1
    assert (await records.get(TEA.id)).invalid_reason == "idle"


async def test_a_use_whose_answer_is_lost_is_not_counted_twice(proxy: Proxy, records: Any) -> None:
    await records.write([TEA])
    proxy.fail("cut", times=1)
    with pytest.raises(MemoryAdapterUnavailable):
        await records.touch([TEA.id])
    proxy.heal()
    await records.refresh(TEA.id)  # ordered after it
    assert (await records.get(TEA.id)).hits == 1


async def test_a_write_that_arrives_after_all_is_refused_when_a_later_one_came_first(
    proxy: Proxy, records: Any
) -> None:
    await records.write([TEA])
    proxy.fail("hang")
    held = asyncio.ensure_future(records.touch([TEA.id]))
    async with asyncio.timeout(60):
        while not proxy.held:  # noqa: ASYNC110 - the proxy tells it by a number alone
            await asyncio.sleep(0.01)
    held.cancel()
    await asyncio.gather(held, return_exceptions=True)
    proxy.heal(releases=False)  # the first one is still on its way
    await records.refresh(TEA.id)
    refused = proxy.answered
    proxy.heal()
    await proxy.wait_for_answers(refused + 1)
    assert (await records.get(TEA.id)).hits == 0


async def test_an_outage_is_told_by_every_operation_and_the_same_store_recovers(proxy: Proxy, records: Any) -> None:
    (tea,) = await records.write([TEA])
    proxy.fail("refuse")
    for call in (
        lambda: records.write([MemoryWrite(content="x")]),
        lambda: records.search(RecordQuery(text="tea")),
        lambda: records.get(TEA.id),
        lambda: records.invalidate(TEA.id),
        lambda: records.delete(TEA.id),
        lambda: records.delete_where({"user": "ada"}),
        lambda: records.history(TEA.id),
        records.scan,
        records.count,
        lambda: records.touch([TEA.id]),
        lambda: records.refresh(TEA.id),
        records.sweep,
        lambda: records.restore([tea]),
    ):
        with pytest.raises(MemoryAdapterUnavailable) as caught:
            await call()
        assert caught.value.__cause__ is not None
    proxy.heal()
    assert await records.get(TEA.id) == tea


async def test_of_many_clients_that_supersede_one_record_one_wins(
    serve: Callable[..., Process], tmp_path: Path
) -> None:
    process = serve(f"sqlite:///{tmp_path}/memory.db")
    clients = [memcore.connect(process.url) for _ in range(8)]
    await clients[0].records.write([TEA])
    writes = [MemoryWrite(content=f"{number}", supersedes=[TEA.id]) for number in range(len(clients))]
    results = await asyncio.gather(
        *(client.records.write([write]) for client, write in zip(clients, writes, strict=True)), return_exceptions=True
    )
    (winner,) = [result[0] for result in results if isinstance(result, list)]
    losers = [result for result in results if isinstance(result, MemoryConflict)]
    assert len(losers) == len(clients) - 1
    assert {repr(loser.current) for loser in losers} == {repr(winner)}
    for client in clients:
        await client.close()


async def test_killing_the_service_amid_chains_loses_no_acknowledged_link(
    serve: Callable[..., Process], tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    process = serve(url)
    chains: list[list[UUID]] = [[] for _ in range(6)]
    is_busy = asyncio.Event()

    async def extend(records: Any, chain: list[UUID]) -> None:
        """Supersede the head again and again, until the service is away."""
        while True:
            (record,) = await records.write([MemoryWrite(content="x", supersedes=chain[-1:])])
            chain.append(record.id)
            if sum(map(len, chains)) >= 60:
                is_busy.set()

    async with memcore.connect(process.url, retries=0) as backend:
        writing = asyncio.gather(*(extend(backend.records, chain) for chain in chains), return_exceptions=True)
        await is_busy.wait()
        process.kill()
        errors = await writing
    assert {type(error) for error in errors} == {MemoryAdapterUnavailable}
    async with memcore.connect(url) as file:
        for chain in chains:
            found: Any = await file.records.history(chain[0])  # type: ignore[attr-defined]
            assert [record.id for record in found][: len(chain)] == chain
            assert [record.superseded_by for record in found] == [record.id for record in found[1:]] + [None]
