"""The items of `memory://`: exact payloads, and the same analysed search that every other backend gives."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from memcore.items.manifest import MemoryAdapterManifest
from memcore.items.payload import encode_item, encode_items, restore_item
from memcore.items.store import Page
from memcore.kit import exact_json
from memcore.kit.index import Conditions, Index
from memcore.kit.query import (
    check_erasure,
    check_id,
    check_ids,
    check_page_limit,
    check_query,
    decode_cursor,
    encode_cursor,
    matches_filters,
)
from memcore.kit.ranking import ITEM_WEIGHTS
from memcore.kit.terms import entry_term, index_terms, tag_term
from memcore.kit.text import analyse_item, analyse_query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore.items.model import MemoryItem, MemoryQuery
    from memcore.items.payload import EncodedItem, SizeLimits
    from memcore.kit.lifecycle import Lifecycle
    from memcore.kit.query import CheckedQuery


class InMemoryItems:
    """A `ManagedMemoryStore` over dictionaries; safe for concurrent tasks, as no method yields in the middle."""

    def __init__(self, lifecycle: Lifecycle, limits: SizeLimits, *, namespace: str) -> None:
        self._lifecycle = lifecycle
        self._limits = limits
        self._namespace = namespace
        self._manifest = MemoryAdapterManifest.lossless("memory")
        self._index = _new_index()

    @property
    def manifest(self) -> MemoryAdapterManifest:
        """Nothing is lost, and any metadata key may be filtered."""
        self._lifecycle.require_open("the manifest")
        return self._manifest

    async def store(self, item: MemoryItem) -> UUID:
        """Create or replace the item by its id (I-42)."""
        await self._ready()
        encoded = encode_item(item, self._limits)
        self._index.put(self._entry(encoded))
        return encoded.id

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Return a fresh copy of the item, or `None` (I-50)."""
        await self._ready()
        entry = self._index.entries.get(check_id(item_id).int)
        return None if entry is None else _copy(entry)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Return fresh copies of the best matches (I-66 to I-68)."""
        await self._ready()
        checked = check_query(query, self._manifest.supports_filter)
        if checked.limit == 0:
            return []
        conditions = _conditions(checked, self._namespace)
        if checked.text:
            ranked = self._index.ranked(analyse_query(checked.text), conditions, checked.limit)
            return [_copy(entry) for entry, _score in ranked]
        return [_copy(entry) for entry in islice(self._index.newest(conditions), checked.limit)]

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        """Store all items or none (I-80)."""
        await self._ready()
        encoded = encode_items(items, self._limits)
        for entry in [self._entry(item) for item in encoded]:
            self._index.put(entry)
        return [item.id for item in encoded]

    async def delete(self, item_id: UUID) -> bool:
        """Forget the item; tell whether it was there (I-81)."""
        return await self.delete_many([item_id]) == 1

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        """Forget these items; return how many were there (I-81)."""
        await self._ready()
        checked = check_ids(item_ids, most=self._limits.batch)
        return sum(self._index.remove(item_id.int) for item_id in checked)

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        """Forget the items that match every filter (I-81)."""
        await self._ready()
        checked = check_erasure(filters, self._manifest.supports_filter)
        matching = [entry.id.int for entry in self._index.newest(_filter_conditions(checked, self._namespace))]
        return sum(self._index.remove(key) for key in matching)

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        """Return the next page in order of id (I-82)."""
        await self._ready()
        size = check_page_limit(limit)
        start = -1 if after is None else decode_cursor(self._namespace, after).int
        keys = heapq.nsmallest(size + 1, (key for key in self._index.entries if key > start))
        items = [_copy(self._index.entries[key]) for key in keys[:size]]
        return Page(items, encode_cursor(self._namespace, items[-1].id) if len(keys) > size else None)

    async def count(self) -> int:
        """Return how many items there are."""
        await self._ready()
        return len(self._index.entries)

    def clear(self) -> None:
        """Forget everything."""
        self._index = _new_index()

    async def _ready(self) -> None:
        if not self._lifecycle.ready():
            await self._lifecycle.open()

    def _entry(self, item: EncodedItem) -> _Entry:
        words, tag_words = analyse_item(item.content, item.tags)
        return _Entry(
            id=item.id,
            created_at=item.created_at,
            content=exact_json.copy(item.content),
            metadata=exact_json.copy(item.metadata),
            tags=item.tags.copy(),
            fields=(" ".join(words), " ".join(tag_words)),
            terms=index_terms(self._namespace, tags=item.tags, metadata=item.metadata),
        )


@dataclass(frozen=True, slots=True)
class _Entry:
    id: UUID
    created_at: float
    content: Any
    metadata: dict[str, Any]
    tags: list[str]
    fields: tuple[str, str]
    terms: set[bytes]


def _new_index() -> Index[_Entry]:
    return Index(ITEM_WEIGHTS)


def _conditions(query: CheckedQuery, namespace: str) -> Conditions[_Entry]:
    """Return any of the tags, all of the filters (I-67)."""
    filters = _filter_conditions(query.filters, namespace)
    tags = frozenset(tag_term(namespace, tag) for tag in query.tags)
    return Conditions((tags, *filters.groups), filters.accepts) if tags else filters


def _filter_conditions(filters: Mapping[str, Any], namespace: str) -> Conditions[_Entry]:
    """Return the filters as conditions; null also stands for a missing key, which has no term."""
    groups = [frozenset([entry_term(namespace, key, value)]) for key, value in filters.items() if value is not None]
    absent = {key: None for key, value in filters.items() if value is None}
    return Conditions(tuple(groups), (lambda entry: matches_filters(entry.metadata, absent)) if absent else None)


def _copy(entry: _Entry) -> MemoryItem:
    content, metadata = exact_json.copy(entry.content), exact_json.copy(entry.metadata)
    return restore_item(entry.id, entry.created_at, content, metadata, entry.tags.copy())
