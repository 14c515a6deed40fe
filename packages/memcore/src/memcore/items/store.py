"""The protocols of the items contract: structural, so that an adapter subclasses nothing (I-10, I-11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore.items.manifest import MemoryAdapterManifest
    from memcore.items.model import MemoryItem, MemoryQuery


@runtime_checkable
class MemoryStore(Protocol):
    """The seam that hosts inject: store, retrieve, search, and no more (I-10)."""

    async def store(self, item: MemoryItem) -> UUID:
        """Create or replace the item by its id and return that id (I-42, I-43).

        Raises:
            UnsupportedMemoryItem: the store cannot give the item back exactly; nothing was sent.
            MemoryAdapterUnavailable: the write was applied wholly or not at all.
        """
        ...

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Return the item of that identity, or `None` if there is none (I-50).

        Raises:
            MemoryAdapterUnavailable: the service cannot be asked now; never reported as a miss.
            MalformedMemoryPayload: what is stored under that identity is damaged.
        """
        ...

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Return at most `query.limit` matching items, best first (I-60 to I-68).

        Raises:
            UnsupportedMemoryQuery: the limit is negative or a filter key is not supported; nothing was sent.
            MemoryAdapterUnavailable: the service cannot be asked now; never reported as an empty result.
        """
        ...


@runtime_checkable
class ExternalMemoryStore(MemoryStore, Protocol):
    """A store that says what it keeps and what it loses (I-32).

    Ask `isinstance` once the backend is open: Python 3.11 reads the manifest to answer.
    """

    @property
    def manifest(self) -> MemoryAdapterManifest:
        """The one manifest of this instance as configured, fixed when its backend opens.

        Raises:
            MemoryConfigurationError: the backend is not open yet.
        """
        ...


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a scan: its items, and the cursor of the next page or `None` at the end."""

    items: list[MemoryItem]
    next: str | None


@runtime_checkable
class ManagedMemoryStore(ExternalMemoryStore, Protocol):
    """A store that can also be copied, erased and counted (I-80 to I-82)."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        """Store all items or none; ids in input order, the last of duplicates wins (I-80).

        Raises:
            UnsupportedMemoryItem: one item cannot be kept exactly (its path starts with its place, as in
                `items[3].content`), or there are too many of them.
        """
        ...

    async def delete(self, item_id: UUID) -> bool:
        """Erase the item from the store and from every derived index; tell whether it was there (I-81)."""
        ...

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        """Erase these items in one transaction and return how many were there (I-81).

        Raises:
            UnsupportedMemoryQuery: one of the ids is no UUID; nothing was erased.
            UnsupportedMemoryItem: there are too many of them (I-45).
        """
        ...

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        """Erase every item whose metadata match all filters and return how many did (I-81).

        Raises:
            UnsupportedMemoryQuery: the filters are empty (emptying a store is `drop_namespace()`) or unsupported.
        """
        ...

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        """Return the next page in order of id; each item present throughout appears exactly once (I-82).

        Raises:
            UnsupportedMemoryQuery: the limit is below 1, or `after` is no cursor of this store.
        """
        ...

    async def count(self) -> int:
        """Return how many items there are (I-82)."""
        ...
