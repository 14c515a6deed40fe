"""The limit of PostgreSQL: asyncpg used the obvious way, one statement an operation, on a pool of four.

"Full" keeps the item with indexes of its words, tags and metadata; "kv" keeps the item alone. The tables lie in a
schema of their own in the database of the URL.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from memcore_conformance.bench.driver import Driver, NotOffered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore_conformance.bench.place import Place
    from memcore_conformance.bench.workload import Item, Question

_CONNECTIONS: Final = 4
_ITEMS: Final = """
    CREATE TABLE IF NOT EXISTS item (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL UNIQUE, text text NOT NULL,
        tags text[] NOT NULL, metadata jsonb NOT NULL, created_at float8 NOT NULL)
"""
_INDEXES: Final = (
    """ALTER TABLE item ADD COLUMN IF NOT EXISTS words tsvector
        GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED""",
    "CREATE INDEX IF NOT EXISTS item_words ON item USING gin (words)",
    "CREATE INDEX IF NOT EXISTS item_tags ON item USING gin (tags)",
    "CREATE INDEX IF NOT EXISTS item_metadata ON item USING gin (metadata jsonb_path_ops)",
)
_FIELDS: Final = ("id", "text", "tags", "metadata", "created_at")
_INSERT: Final = "INSERT INTO item (id, text, tags, metadata, created_at) VALUES ($1, $2, $3, $4, $5)"

_COLUMNS: Final = "SELECT id, text, tags, metadata, created_at FROM item"
_GET: Final = f"{_COLUMNS} WHERE id = $1"
_NEWEST: Final = f"{_COLUMNS} ORDER BY number DESC LIMIT $1"
_BY_TAG: Final = f"{_COLUMNS} WHERE tags @> ARRAY[$1::text] ORDER BY number DESC LIMIT $2"
_BY_ENTRY: Final = f"{_COLUMNS} WHERE metadata @> $1::jsonb ORDER BY number DESC LIMIT $2"
_SEARCH: Final = """
    SELECT id, text, tags, metadata, created_at FROM item, to_tsquery('simple', $1) AS query
    WHERE words @@ query ORDER BY ts_rank(words, query) DESC LIMIT $2
"""
_SEARCH_ENTRY: Final = """
    SELECT id, text, tags, metadata, created_at FROM item, to_tsquery('simple', $1) AS query
    WHERE words @@ query AND metadata @> $2::jsonb ORDER BY ts_rank(words, query) DESC LIMIT $3
"""


class AsyncpgDriver(Driver):
    """A pool of asyncpg, in a schema named as the place's namespace."""

    persistent = True

    def __init__(self, url: str, place: Place, *, full: bool = True) -> None:
        self._url = url.partition("?")[0] + _server_options(url)
        self._schema = place.namespace
        self._full = full

    async def open(self) -> None:
        """Connect, and make the schema if it is not there."""
        import asyncpg  # noqa: PLC0415 - only where it is measured

        self._pool: Any = await asyncpg.create_pool(
            self._url,
            min_size=_CONNECTIONS,
            max_size=_CONNECTIONS,
            server_settings={"search_path": f'"{self._schema}"'},
        )
        for statement in (f'CREATE SCHEMA IF NOT EXISTS "{self._schema}"', _ITEMS, *(_INDEXES if self._full else ())):
            await self._pool.execute(statement)

    async def close(self) -> None:
        """Close the pool."""
        await self._pool.close()

    async def forget(self) -> None:
        """Drop the schema."""
        import asyncpg  # noqa: PLC0415 - only where it is measured

        connection = await asyncpg.connect(self._url)
        await connection.execute(f'DROP SCHEMA IF EXISTS "{self._schema}" CASCADE')
        await connection.close()

    async def put(self, item: Item) -> None:
        """Insert in a transaction of its own."""
        await self._pool.execute(_INSERT, *_row(item))

    async def put_many(self, items: Sequence[Item]) -> None:
        """Copy all at once."""
        await self._pool.copy_records_to_table(
            "item", schema_name=self._schema, columns=_FIELDS, records=[_row(item) for item in items]
        )

    async def get(self, item_id: UUID) -> object:
        """Fetch one row."""
        return cast("object", await self._pool.fetchrow(_GET, item_id))

    async def find(self, question: Question) -> Sequence[object]:
        """Fetch the rows."""
        return cast("list[object]", await self._pool.fetch(*self._statement(question)))

    def id_of(self, hit: object) -> UUID:
        """Return the id of a row."""
        return cast("UUID", cast("tuple[object, ...]", hit)[0])

    def _statement(self, question: Question) -> tuple[Any, ...]:
        if not (question.words or question.tag or question.entry):
            return _NEWEST, question.limit
        if not self._full:
            raise NotOffered(question)
        words = " | ".join(question.words)
        entry = json.dumps(dict([question.entry])) if question.entry else None
        if words and entry:
            return _SEARCH_ENTRY, words, entry, question.limit
        if words:
            return _SEARCH, words, question.limit
        return (_BY_ENTRY, entry, question.limit) if entry else (_BY_TAG, question.tag, question.limit)


def _server_options(url: str) -> str:
    """Keep of a URL's query what says where the server is; the rest are settings of an adapter."""
    kept = [part for part in url.partition("?")[2].split("&") if part.startswith(("host=", "port=", "sslmode="))]
    return f"?{'&'.join(kept)}" if kept else ""


def _row(item: Item) -> tuple[object, ...]:
    return item.id, item.text, item.tags, json.dumps(item.metadata), item.created_at
