"""The protocols are structural, and an adapter subclasses nothing (I-10, I-11, I-32, I-80)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import memcore
import pytest
from memcore import ExternalMemoryStore, InMemoryStore, ManagedMemoryStore, MemoryAdapterManifest, MemoryStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Bare:
    async def store(self, item: Any) -> Any: ...
    async def retrieve(self, item_id: Any) -> Any: ...
    async def search(self, query: Any) -> Any: ...


class Declared(Bare):
    manifest: MemoryAdapterManifest | None = None


@pytest.fixture
async def items() -> AsyncIterator[MemoryStore]:
    async with memcore.connect("memory://") as backend:
        yield backend.items


def members(protocol: type) -> set[str]:
    return {name for name in dir(protocol) if not name.startswith("_")}


def test_the_seam_has_three_methods_and_no_more() -> None:
    assert members(MemoryStore) == {"store", "retrieve", "search"}
    assert all(inspect.iscoroutinefunction(getattr(MemoryStore, name)) for name in members(MemoryStore))


def test_each_larger_protocol_adds_what_it_says() -> None:
    assert members(ExternalMemoryStore) - members(MemoryStore) == {"manifest"}
    assert members(ManagedMemoryStore) - members(ExternalMemoryStore) == {
        "store_many",
        "delete",
        "delete_many",
        "delete_where",
        "scan",
        "count",
    }


def test_three_methods_satisfy_the_seam_without_a_base_class() -> None:
    assert isinstance(Bare(), MemoryStore)
    assert not isinstance(object(), MemoryStore)


def test_without_a_manifest_a_store_is_not_external() -> None:
    assert not isinstance(Bare(), ExternalMemoryStore)
    assert not isinstance(InMemoryStore(), ExternalMemoryStore)
    assert isinstance(Declared(), ExternalMemoryStore)


def test_without_the_managed_methods_a_store_is_not_managed() -> None:
    assert not isinstance(Declared(), ManagedMemoryStore)


async def test_the_items_of_memory_satisfy_all_three(items: MemoryStore) -> None:
    assert isinstance(items, MemoryStore)
    assert isinstance(items, ExternalMemoryStore)
    assert isinstance(items, ManagedMemoryStore)
