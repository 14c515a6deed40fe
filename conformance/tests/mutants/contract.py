"""Stores and manifests that are not what the contract says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from memcore import MemoryAdapterManifest, MemoryItem, UnsupportedMemoryQuery

from mutants import Backend, Items, mutant

if TYPE_CHECKING:
    from memcore import MemoryQuery


@mutant("I-10a")
class OrdinaryStore(Items):
    """`store` is an ordinary method that returns an awaitable."""

    def store(self, item: MemoryItem) -> Any:
        return super().store(item)


@mutant("I-11a")
class OwnClassOnly(Items):
    """`store` insists on the class of memcore."""

    async def store(self, item: MemoryItem) -> UUID:
        if not isinstance(item, MemoryItem):
            raise TypeError("not a MemoryItem")
        return await super().store(item)


@mutant("I-30a")
class HomemadeManifest(Items):
    """The manifest only looks like one: a search of full fidelity that returns no tags."""

    @property
    def manifest(self) -> MemoryAdapterManifest:
        real = super().manifest
        return MemoryAdapterManifest.model_construct(**{**real.__dict__, "search_returns_tags": False})


@mutant("I-32a")
class NewManifestEachTime(Items):
    """The manifest is built anew at each access."""

    @property
    def manifest(self) -> MemoryAdapterManifest:
        return super().manifest.model_copy()


@mutant("I-32b")
class ToldTooEarly(Items):
    """The manifest is told before the backend is open."""

    @property
    def manifest(self) -> MemoryAdapterManifest:
        return self._manifest


@mutant("I-32b")
class CapabilitiesTooEarly(Backend):
    """The capabilities are told before the backend is open."""

    @property
    def capabilities(self) -> Any:
        return self._capabilities


@mutant("I-31a")
class RefusesOpenFilters(Items):
    """Claims open filters and refuses them all."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        if query.filters:
            raise UnsupportedMemoryQuery(query.filters)
        return await super().search(query)
