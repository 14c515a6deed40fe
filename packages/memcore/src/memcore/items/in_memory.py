"""The items of `memory://`: exact payloads, and the same analysed search that every other backend gives."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, insort
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memcore.items.manifest import ITEM_FIELDS, MemoryAdapterManifest
from memcore.items.payload import encode_item, encode_items, restore_item
from memcore.items.store import Page
from memcore.kit import exact_json
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
from memcore.kit.ranking import CANDIDATES, ITEM_WEIGHTS, Candidate, rank
from memcore.kit.terms import entry_term, index_terms, tag_term
from memcore.kit.text import analyse_item, analyse_query

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from uuid import UUID

    from memcore.items.model import MemoryItem, MemoryQuery
    from memcore.items.payload import EncodedItem, SizeLimits
    from memcore.kit.lifecycle import Lifecycle
    from memcore.kit.query import CheckedQuery

_Order = list[tuple[float, int]]
"""`(created_at, id)` ascending: the newest stand at the end."""

_PRESELECTED: Final = 4
"""How many times the limit is ranked by the kit where more entries match than it ranks in any case."""


class InMemoryItems:
    """A `ManagedMemoryStore` over dictionaries; safe for concurrent tasks, as no method yields in the middle."""

    def __init__(self, lifecycle: Lifecycle, limits: SizeLimits, *, namespace: str) -> None:
        self._lifecycle = lifecycle
        self._limits = limits
        self._namespace = namespace
        self._manifest = MemoryAdapterManifest(
            adapter="memory",
            native_item_fields=ITEM_FIELDS,
            dropped_item_fields=frozenset(),
            supported_filters=frozenset(),
            open_filters=True,
            search_consistency="immediate",
            retrieve_fidelity="full",
            search_fidelity="full",
            search_returns_tags=True,
            preserves_metadata=True,
        )
        self._index = _Index()

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
        conditions = _Conditions.of(checked, self._namespace)
        found = self._index.ranked(checked, conditions) if checked.text else self._index.newest(conditions)
        return [_copy(entry) for entry in islice(found, checked.limit)]

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
        matching = [entry.id.int for entry in self._index.newest(_Conditions.of_filters(checked, self._namespace))]
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
        self._index = _Index()

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
            words=" ".join(words),
            tag_words=" ".join(tag_words),
            terms=index_terms(self._namespace, tags=item.tags, metadata=item.metadata),
        )


@dataclass(frozen=True, slots=True)
class _Entry:
    id: UUID
    created_at: float
    content: Any
    metadata: dict[str, Any]
    tags: list[str]
    words: str
    tag_words: str
    terms: set[bytes]

    @property
    def place(self) -> tuple[float, int]:
        return self.created_at, self.id.int

    def different_words(self) -> set[str]:
        return {*self.words.split(), *self.tag_words.split()}


@dataclass(frozen=True, slots=True)
class _Conditions:
    """Tags and filters as terms: any of `tags`, all of `entries`; `missing` keys have no index (I-67)."""

    tags: frozenset[bytes] = frozenset()
    entries: frozenset[bytes] = frozenset()
    missing: frozenset[str] = frozenset()

    @classmethod
    def of(cls, query: CheckedQuery, namespace: str) -> _Conditions:
        filters = cls.of_filters(query.filters, namespace)
        return cls(frozenset(tag_term(namespace, tag) for tag in query.tags), filters.entries, filters.missing)

    @classmethod
    def of_filters(cls, filters: Mapping[str, Any], namespace: str) -> _Conditions:
        entries = frozenset(entry_term(namespace, key, value) for key, value in filters.items() if value is not None)
        return cls(entries=entries, missing=frozenset(key for key, value in filters.items() if value is None))

    def met_by(self, entry: _Entry) -> bool:
        return (
            self.entries <= entry.terms
            and (not self.tags or not self.tags.isdisjoint(entry.terms))
            and (not self.missing or matches_filters(entry.metadata, dict.fromkeys(self.missing)))
        )


class _Index:
    """The entries by id, and every order and posting derived from them."""

    def __init__(self) -> None:
        self.entries: dict[int, _Entry] = {}
        self._order: _Order = []
        self._by_term: dict[bytes, _Order] = {}
        self._postings: dict[str, dict[int, float]] = {}

    def put(self, entry: _Entry) -> None:
        self.remove(entry.id.int)
        key, place = entry.id.int, entry.place
        self.entries[key] = entry
        _insert(self._order, place)
        for term in entry.terms:
            order = self._by_term.get(term)
            if order is None:
                self._by_term[term] = [place]
            else:
                _insert(order, place)
        postings = self._postings
        for weight, words in zip(ITEM_WEIGHTS, (entry.words, entry.tag_words), strict=True):
            for word in words.split():
                posting = postings.get(word)
                if posting is None:
                    postings[word] = {key: weight}
                else:
                    posting[key] = posting.get(key, 0.0) + weight

    def remove(self, key: int) -> bool:
        entry = self.entries.pop(key, None)
        if entry is None:
            return False
        _discard(self._order, entry.place)
        for term in entry.terms:
            order = self._by_term[term]
            _discard(order, entry.place)
            if not order:
                del self._by_term[term]
        for word in entry.different_words():
            posting = self._postings[word]
            del posting[key]
            if not posting:
                del self._postings[word]
        return True

    def newest(self, conditions: _Conditions) -> Iterator[_Entry]:
        """Yield what meets the conditions, newest first, by way of the rarest of them (I-68)."""
        orders = self._rarest(conditions)
        places = reversed(self._order) if orders is None else _unique(heapq.merge(*map(reversed, orders), reverse=True))
        entries = (self.entries[key] for _, key in places)
        return (entry for entry in entries if conditions.met_by(entry))

    def ranked(self, query: CheckedQuery, conditions: _Conditions) -> Iterator[_Entry]:
        """Yield what shares a word with the query and meets the conditions, best first (I-66)."""
        words = analyse_query(query.text)
        scores = self._scores([self._postings[word] for word in words if word in self._postings], conditions)
        keys = self._best(scores, _PRESELECTED * query.limit) if len(scores) > CANDIDATES else scores
        entries = map(self.entries.__getitem__, keys)
        candidates = [Candidate(entry, entry.created_at, entry.id, (entry.words, entry.tag_words)) for entry in entries]
        ranked = rank(words, candidates, weights=ITEM_WEIGHTS, limit=query.limit)
        return (candidate.key for candidate, _score in ranked)

    def _rarest(self, conditions: _Conditions) -> list[_Order] | None:
        """Return the orders that lead to the fewest entries; `None` if every entry must be looked at."""
        groups = [[self._by_term.get(term, [])] for term in conditions.entries]
        if conditions.tags:
            groups.append([self._by_term.get(term, []) for term in conditions.tags])
        return min(groups, key=_size, default=None)

    def _scores(self, postings: list[dict[int, float]], conditions: _Conditions) -> dict[int, float]:
        """Score what shares a word and meets the conditions, good enough to choose candidates.

        How rare a word is, is counted in this whole store; the conditions lead the way where they are met more rarely.
        """
        total = len(self.entries)
        weighted = [(posting, math.log(1 + total / len(posting))) for posting in sorted(postings, key=len)]
        orders = self._rarest(conditions)
        if orders is not None and _size(orders) < sum(map(len, postings)):
            keys = {key for order in orders for _, key in order}
            weighted = [({key: posting[key] for key in keys if key in posting}, rarity) for posting, rarity in weighted]
        scores: dict[int, float] = {}
        known = scores.get
        for posting, rarity in weighted:
            for key, frequency in posting.items():
                scores[key] = known(key, 0.0) + rarity * frequency / (frequency + 1.2)
        if conditions == _Conditions():
            return scores
        return {key: score for key, score in scores.items() if conditions.met_by(self.entries[key])}

    def _best(self, scores: dict[int, float], count: int) -> list[int]:
        """Return the best `count` keys, ties newest first."""
        if len(scores) <= count:
            return list(scores)
        least = heapq.nlargest(count, scores.values())[-1]
        better = [key for key, score in scores.items() if score > least]
        ties = [key for key, score in scores.items() if score == least]
        return better + heapq.nlargest(count - len(better), ties, key=lambda key: self.entries[key].place)


def _copy(entry: _Entry) -> MemoryItem:
    content, metadata = exact_json.copy(entry.content), exact_json.copy(entry.metadata)
    return restore_item(entry.id, entry.created_at, content, metadata, entry.tags.copy())


def _size(orders: list[_Order]) -> int:
    return sum(map(len, orders))


def _insert(order: _Order, place: tuple[float, int]) -> None:
    """Insert in order; what is new mostly belongs at the end."""
    if order and place < order[-1]:
        insort(order, place)
    else:
        order.append(place)


def _discard(order: _Order, place: tuple[float, int]) -> None:
    del order[bisect_left(order, place)]


def _unique(places: Iterable[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """Drop repeats from a sorted stream: they stand side by side."""
    last = None
    for place in places:
        if place != last:
            yield place
        last = place
