"""How items are found: conditions on terms, which an index answers, and on missing keys, which a walk does (I-67)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from memcore.items.payload import decode_item
from memcore.kit.query import matches_filters
from memcore.kit.ranking import ITEM_WEIGHTS
from memcore.kit.terms import entry_term, namespace_term, tag_term

from memcore_postgres import search
from memcore_postgres.search import Clauses, Table

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    import asyncpg
    from memcore.items.model import MemoryItem
    from memcore.kit.query import CheckedQuery

    from memcore_postgres.search import Fetch

PAGE: Final = 200
"""Items of a page where many must be looked at: few enough for any size of item."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Tags and filters as terms: any of `tags`, all of `entries`; `missing` keys have no index (I-67)."""

    namespace: str
    tags: frozenset[bytes] = frozenset()
    entries: frozenset[bytes] = frozenset()
    missing: frozenset[str] = frozenset()

    @classmethod
    def of(cls, query: CheckedQuery, namespace: str) -> Conditions:
        """Return the conditions of a query, its words apart."""
        filters = cls.of_filters(query.filters, namespace)
        tags = frozenset(tag_term(namespace, tag) for tag in query.tags)
        return cls(namespace, tags, filters.entries, filters.missing)

    @classmethod
    def of_filters(cls, filters: Mapping[str, Any], namespace: str) -> Conditions:
        """Return the conditions of filters alone."""
        entries = frozenset(entry_term(namespace, key, value) for key, value in filters.items() if value is not None)
        return cls(
            namespace, entries=entries, missing=frozenset(key for key, value in filters.items() if value is None)
        )

    def clauses(self, *, with_words: bool = False) -> Clauses:
        """Return what an index answers; beside words it takes a term that belongs to this namespace alone."""
        clauses = Clauses(self.namespace)
        if self.entries or with_words:
            clauses.add_all(self.entries or [namespace_term(self.namespace)])
        if self.tags:
            clauses.add_any(self.tags)
        return clauses

    def lacks(self, item: MemoryItem) -> bool:
        """Tell whether the item lacks every key that must be missing."""
        return matches_filters(item.metadata, dict.fromkeys(self.missing))


def items_table(schema: str) -> Table:
    """Return the table of items."""
    return Table(schema, "items", "items.id, items.created_at", ("words", "tag_words"), ITEM_WEIGHTS)


async def newest(fetch: Fetch, table: Table, conditions: Conditions, limit: int) -> list[MemoryItem]:
    """Return what meets the conditions, newest first (I-68)."""
    if not conditions.missing:
        return list(map(decode, await search.newest(fetch, table, conditions.clauses(), limit)))
    found: list[MemoryItem] = []
    async for item in walk(fetch, table, conditions):
        found.append(item)
        if len(found) == limit:
            break
    return found


async def best(
    fetch: Fetch, table: Table, conditions: Conditions, words: Sequence[str], limit: int
) -> list[MemoryItem]:
    """Return what shares a word with the query and meets the conditions, best first (I-66).

    Raises:
        MemoryAdapterUnavailable: not all words are of this analysis.
    """
    clauses = conditions.clauses(with_words=True)
    if conditions.missing:
        clauses.add_ids([item.id async for item in walk(fetch, table, conditions, words)])
    return [decode(row) for row, _ in await search.best(fetch, table, clauses, words, limit)]


async def walk(
    fetch: Fetch, table: Table, conditions: Conditions, words: Sequence[str] = ()
) -> AsyncIterator[MemoryItem]:
    """Yield, newest first, what meets the conditions and lacks the keys that must be missing, page by page."""
    last: MemoryItem | None = None
    while True:
        clauses = conditions.clauses(with_words=bool(words))
        if words:
            clauses.add_words(words)
        if last is not None:
            clauses.add("(created_at, id) < ({}::double precision, {}::uuid)", last.created_at, last.id)
        items = list(map(decode, await search.newest(fetch, table, clauses, PAGE)))
        for item in items:
            if conditions.lacks(item):
                yield item
        if len(items) < PAGE:
            return
        last = items[-1]


def decode(row: asyncpg.Record) -> MemoryItem:
    """Return the item of a row.

    Raises:
        MalformedMemoryPayload: the payload is damaged.
    """
    item_id = UUID(int=row["id"].int)  # the driver's own is a subclass
    return decode_item(item_id, row["created_at"], row["payload"])
