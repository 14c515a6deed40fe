"""The backend of `memory://` (B-02, B-04)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import memcore
import pytest
from memcore import (
    Capabilities,
    Health,
    MemoryConfigurationError,
    MemoryItem,
    MemoryQuery,
    MemoryWrite,
    RecordQuery,
    SizeLimits,
)
from memcore.in_memory import InMemoryBackend
from pydantic import ValidationError

if TYPE_CHECKING:
    from memcore import Backend
    from memcore.items.in_memory import InMemoryItems
    from memcore.records.in_memory import InMemoryRecords


async def test_it_opens_on_first_use() -> None:
    backend = memcore.connect("memory://")
    item = MemoryItem(content="tea")

    await backend.items.store(item)
    assert await backend.items.retrieve(item.id) == item
    assert backend.capabilities.contracts == {"items", "records"}
    await backend.close()


async def test_it_says_what_it_offers(backend: Backend) -> None:
    assert backend.name == "memory"
    assert backend.capabilities == Capabilities(
        contracts=frozenset({"items", "records"}),
        durable=False,
        power_safe=False,
        shared=False,
        analysed=True,
        search="keyword",
        extensions=frozenset({"managed", "history", "lifecycle", "transfer"}),
        limits=SizeLimits(),
    )


async def test_its_claims_are_those_of_the_instance_as_configured() -> None:
    limits = SizeLimits(tags=2)
    async with memcore.connect("memory://", limits=limits) as backend:
        assert backend.capabilities.limits == limits


def test_its_claims_are_unknown_until_it_is_open() -> None:
    backend = InMemoryBackend()

    with pytest.raises(MemoryConfigurationError, match="the capabilities of <memory:// backend"):
        _ = backend.capabilities
    with pytest.raises(MemoryConfigurationError, match="the manifest of <memory:// backend"):
        _ = backend.items.manifest
    with pytest.raises(MemoryConfigurationError, match="the capabilities of <memory:// backend"):
        backend.records.capabilities()


async def test_its_manifest_is_one_object_and_loses_nothing(items: InMemoryItems) -> None:
    manifest = items.manifest
    manifest.require(
        fields=manifest.native_item_fields,
        filters=["any key"],
        retrieve_fidelity="full",
        search_fidelity="full",
        search_consistency="immediate",
        search_returns_tags=True,
        preserves_metadata=True,
    )
    await items.store(MemoryItem())

    assert items.manifest is manifest


async def test_each_contract_is_one_object(backend: Backend) -> None:
    assert backend.items is backend.items
    assert backend.records is backend.records


async def test_a_contract_that_it_does_not_offer_is_a_configuration_error(backend: Backend) -> None:
    with pytest.raises(MemoryConfigurationError, match="adapter 'memory' does not offer the conversations contract"):
        _ = backend.conversations


async def test_a_ping_tells_that_it_works() -> None:
    async with InMemoryBackend() as backend:
        health = await backend.ping()

    assert (health.status, health.detail) == ("ok", None)
    assert health.latency >= 0
    assert set(health.versions) == {"python"}


async def test_a_ping_opens_it() -> None:
    backend = InMemoryBackend()
    await backend.ping()

    assert backend.capabilities.analysed


async def test_closing_is_idempotent_and_what_follows_says_so() -> None:
    backend = memcore.connect("memory://")
    item = MemoryItem()
    await backend.items.store(item)
    await backend.close()
    await backend.close()

    uses: list[Any] = [
        backend.open,
        backend.ping,
        backend.drop_namespace,
        backend.__aenter__,
        lambda: backend.items.store(item),
        lambda: backend.items.retrieve(item.id),
        lambda: backend.items.search(MemoryQuery()),
        lambda: backend.items.store_many([item]),
        lambda: backend.items.delete(item.id),
        lambda: backend.items.delete_many([item.id]),
        lambda: backend.items.delete_where({"k": 1}),
        backend.items.scan,
        backend.items.count,
        lambda: backend.records.write([MemoryWrite(content="tea")]),
        lambda: backend.records.search(RecordQuery()),
        lambda: backend.records.get(item.id),
        lambda: backend.records.invalidate(item.id),
        lambda: backend.records.delete(item.id),
        lambda: backend.records.delete_where({"user": "ada"}),
        lambda: backend.records.history(item.id),
        backend.records.scan,
        backend.records.count,
        lambda: backend.records.touch([item.id]),
        lambda: backend.records.refresh(item.id),
        backend.records.sweep,
        lambda: backend.records.restore([]),
    ]
    for use in uses:
        with pytest.raises(MemoryConfigurationError, match="<memory:// backend, namespace 'default'> is closed"):
            await use()
    with pytest.raises(MemoryConfigurationError, match="is closed"):
        _ = backend.items.manifest
    with pytest.raises(MemoryConfigurationError, match="is closed"):
        backend.records.capabilities()
    with pytest.raises(MemoryConfigurationError, match="is closed"):
        _ = backend.capabilities


async def test_leaving_the_context_closes_it_after_an_error_too() -> None:
    backend = memcore.connect("memory://")

    with pytest.raises(ZeroDivisionError):
        async with backend:
            _ = 1 / 0
    with pytest.raises(MemoryConfigurationError, match="is closed"):
        await backend.open()


async def test_entering_gives_the_backend_itself() -> None:
    backend = memcore.connect("memory://")

    async with backend as entered:
        assert entered is backend


def test_another_event_loop_is_refused() -> None:
    backend = memcore.connect("memory://")
    item = MemoryItem()
    asyncio.run(backend.items.store(item))

    async def use() -> None:
        await backend.items.retrieve(item.id)

    with pytest.raises(MemoryConfigurationError, match="belongs to another event loop; connect once per event loop"):
        asyncio.run(use())


async def test_two_backends_share_nothing_even_in_one_namespace() -> None:
    async with memcore.connect("memory://") as one, memcore.connect("memory://") as other:
        item = MemoryItem(content="tea", tags=["x"], metadata={"k": 1})
        await one.items.store(item)

        assert await other.items.retrieve(item.id) is None
        assert await other.items.search(MemoryQuery(text="tea", tags=["x"], filters={"k": 1})) == []


async def test_dropping_the_namespace_forgets_every_record(backend: Backend, records: InMemoryRecords) -> None:
    write = MemoryWrite(content="tea", scope={"user": "ada"})
    (first,) = await records.write([write])
    await backend.drop_namespace()

    assert await records.get(write.id) is None
    assert await records.search(RecordQuery(text="tea", include_invalidated=True)) == []
    assert await records.count() == 0
    assert (await records.write([write]))[0].created_at > first.created_at


async def test_dropping_the_namespace_forgets_every_item(backend: Backend, items: InMemoryItems) -> None:
    item = MemoryItem(content="tea", tags=["x"], metadata={"k": 1})
    await items.store(item)
    await backend.drop_namespace()

    assert await items.retrieve(item.id) is None
    assert await items.search(MemoryQuery()) == []
    assert await items.search(MemoryQuery(text="tea")) == []
    assert await items.search(MemoryQuery(tags=["x"])) == []
    assert await items.count() == 0
    assert await items.store(item) == item.id


def test_its_repr_tells_the_namespace() -> None:
    assert repr(memcore.connect("memory://?namespace=ada")) == "<memory:// backend, namespace 'ada'>"


@pytest.mark.parametrize("wrong", [{"status": "fine"}, {"latency": -1}, {"uptime": 5}])
def test_health_holds_what_it_says(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Health.model_validate({"status": "ok", "latency": 0, "versions": {}} | wrong)
