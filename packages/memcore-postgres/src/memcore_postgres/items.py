"""The items contract over one schema."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memcore.items.manifest import MemoryAdapterManifest
from memcore.items.payload import decode_item, encode_item, encode_items
from memcore.items.store import Page
from memcore.kit.query import (
    check_erasure,
    check_id,
    check_ids,
    check_page_limit,
    check_query,
    decode_cursor,
    encode_cursor,
)
from memcore.kit.text import analyse_query

from memcore_postgres import item_search, search
from memcore_postgres.index import chunks, id_texts, make_row, term_texts
from memcore_postgres.item_search import PAGE, Conditions, items_table
from memcore_postgres.lookup import Lookup
from memcore_postgres.schema import SCHEMA_VERSION
from memcore_postgres.search import Clauses
from memcore_postgres.writer import LOCK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    import asyncpg
    from memcore.items.model import MemoryItem, MemoryQuery
    from memcore.items.payload import EncodedItem, SizeLimits
    from memcore.kit.lifecycle import Lifecycle

    from memcore_postgres.database import Database
    from memcore_postgres.index import Row
    from memcore_postgres.writer import Writer

_COUNT: Final = """
    SELECT schema_version, (SELECT count(*) FROM {schema}.items WHERE namespace = $1) AS count FROM {schema}.meta
"""
_ERASE: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1)), erased AS (
        DELETE FROM {schema}.items USING fence, {schema}.meta
        WHERE meta.schema_version = {version} AND namespace = $2 {condition} RETURNING 1
    )
    SELECT schema_version, (SELECT count(*) FROM erased) AS count FROM {schema}.meta
"""
_OF_IDS: Final = "AND id = ANY($3::text[]::uuid[])"
_OF_TERMS: Final = "AND terms @> $3::text[]"
_LOCK_MATCHING: Final = "SELECT id, created_at, payload FROM {schema}.items WHERE {conditions} ORDER BY id FOR UPDATE"


class PostgresItems:
    """A `ManagedMemoryStore`: exact, indexed, and searched as the `analysed` profile says.

    Any number of tasks may call it at once. What is stored is visible to every later call of any client.
    """

    def __init__(
        self, database: Database, writer: Writer, lifecycle: Lifecycle, limits: SizeLimits, *, namespace: str
    ) -> None:
        self._database = database
        self._writer = writer
        self._lifecycle = lifecycle
        self._limits = limits
        self._namespace = namespace
        self._schema = database.schema
        self._table = items_table(database.schema)
        self._lookup = Lookup(database, self._table, namespace)
        self._manifest = MemoryAdapterManifest.lossless("postgres")

    @property
    def manifest(self) -> MemoryAdapterManifest:
        """Nothing is lost, and any metadata key may be filtered."""
        self._lifecycle.require_open("the manifest")
        return self._manifest

    async def store(self, item: MemoryItem) -> UUID:
        """Create or replace the item by its id, in one commit that it may share with others (I-42)."""
        await self._ready()
        encoded = encode_item(item, self._limits)
        await self._writer.put(make_row(encoded, namespace=self._namespace))
        return encoded.id

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Return the item, or `None`; one round trip, which all that wait share (I-50)."""
        await self._ready()
        key = check_id(item_id)
        row = await self._lookup.get(key)
        return None if row is None else decode_item(key, row["created_at"], row["payload"])

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Return the best matches (I-66 to I-68)."""
        await self._ready()
        checked = check_query(query, self._manifest.supports_filter)
        words = analyse_query(checked.text)
        if checked.limit == 0 or (checked.text and not words):
            return []
        conditions = Conditions.of(checked, self._namespace)
        fetch = self._database.fetch
        if words:
            return await item_search.best(fetch, self._table, conditions, words, checked.limit)
        return await item_search.newest(fetch, self._table, conditions, checked.limit)

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        """Store all items or none, in one transaction (I-80)."""
        await self._ready()
        encoded = encode_items(items, self._limits)
        last = {item.id: item for item in encoded}
        if last:
            await self._writer.run(partial(self._put_all, [last[key] for key in sorted(last)]))
        return [item.id for item in encoded]

    async def delete(self, item_id: UUID) -> bool:
        """Erase the item and all that was derived from it; tell whether it was there (I-81)."""
        return await self.delete_many([item_id]) == 1

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        """Erase these items in one transaction; return how many were there (I-81)."""
        await self._ready()
        ids = id_texts(sorted(check_ids(item_ids, most=self._limits.batch)))
        return await self._erase(_OF_IDS, ids) if ids else 0

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        """Erase the items that match every filter, in one transaction (I-81)."""
        await self._ready()
        checked = check_erasure(filters, self._manifest.supports_filter)
        conditions = Conditions.of_filters(checked, self._namespace)
        if conditions.missing:
            return await self._writer.run(partial(self._delete_lacking, conditions))
        return await self._erase(_OF_TERMS, term_texts(conditions.entries))

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        """Return the next page in order of id (I-82)."""
        await self._ready()
        size = check_page_limit(limit)
        clauses = Clauses(self._namespace)
        if after is not None:
            clauses.add("id > {}::uuid", decode_cursor(self._namespace, after))
        rows = await search.page(self._database.fetch, self._table, clauses, size + 1)
        items = list(map(item_search.decode, rows))
        more = len(items) > size
        return Page(items[:size], encode_cursor(self._namespace, items[size - 1].id) if more else None)

    async def count(self) -> int:
        """Return how many items there are (I-82)."""
        await self._ready()
        (row,) = await self._database.fetch(_COUNT.format(schema=self._schema), self._namespace)
        return int(row["count"])

    async def _ready(self) -> None:
        if not self._lifecycle.ready():
            await self._lifecycle.open()

    async def _erase(self, condition: str, *parameters: object) -> int:
        return await self._writer.run(partial(self._erase_now, condition, parameters))

    async def _erase_now(
        self, condition: str, parameters: Sequence[object], connection: asyncpg.Connection, lock: int
    ) -> int:
        statement = _ERASE.format(schema=self._schema, version=SCHEMA_VERSION, condition=condition)
        (row,) = self._database.accept(await connection.fetch(statement, lock, self._namespace, *parameters))
        return int(row["count"])

    async def _put_all(self, items: Sequence[EncodedItem], connection: asyncpg.Connection, lock: int) -> None:
        parts = list(chunks(items, lambda item: len(item.payload)))
        if len(parts) == 1:
            await self._writer.upsert(self._rows(parts[0]), connection, lock)
            return
        async with connection.transaction():
            rows = self._rows(parts[0])
            for following in [*parts[1:], []]:
                writing = asyncio.create_task(self._writer.upsert(rows, connection, lock))
                await asyncio.sleep(0)  # the server works on it while the next rows are analysed
                rows = self._rows(following)
                await writing

    def _rows(self, items: Sequence[EncodedItem]) -> list[Row]:
        return [make_row(item, namespace=self._namespace) for item in items]

    async def _delete_lacking(self, conditions: Conditions, connection: asyncpg.Connection, lock: int) -> int:
        """Lock what meets the indexed conditions, and erase what also lacks the keys that must be missing."""
        clauses = conditions.clauses()
        statement = _LOCK_MATCHING.format(schema=self._schema, conditions=clauses)
        async with connection.transaction():
            await connection.execute(LOCK, lock)
            ids: list[UUID] = []
            async for row in connection.cursor(statement, *clauses.parameters, prefetch=PAGE):
                item = item_search.decode(row)
                if conditions.lacks(item):
                    ids.append(item.id)
            return await self._erase_now(_OF_IDS, [id_texts(ids)], connection, lock)
