"""The limits of SQLite: the standard library's sqlite3 without any hop, and aiosqlite used the obvious way.

"Full" keeps the item, a word index, and one table each for tags and metadata; "kv" keeps the item alone.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from memcore_conformance.bench.driver import Driver, NotOffered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    import aiosqlite

    from memcore_conformance.bench.place import Place
    from memcore_conformance.bench.workload import Item, Question

_FILE: Final = "raw.db"
_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA busy_timeout = 10000",
    "PRAGMA cache_size = -65536",
    "PRAGMA mmap_size = 268435456",
)
_ITEMS: Final = """
    CREATE TABLE IF NOT EXISTS item (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL,
        tags TEXT NOT NULL, metadata TEXT NOT NULL, created_at REAL NOT NULL)
"""
_INDEXES: Final = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5 (text, content = 'item', content_rowid = 'number')",
    "CREATE TABLE IF NOT EXISTS tag (tag TEXT, number INTEGER, PRIMARY KEY (tag, number)) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS entry (
        key TEXT, value, number INTEGER, PRIMARY KEY (key, value, number)) WITHOUT ROWID""",
)
_INSERT: Final = "INSERT INTO item (number, id, text, tags, metadata, created_at) VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_WORDS: Final = "INSERT INTO word (rowid, text) VALUES (?, ?)"
_INSERT_TAG: Final = "INSERT INTO tag VALUES (?, ?)"
_INSERT_ENTRY: Final = "INSERT INTO entry VALUES (?, ?, ?)"
_NEXT: Final = "SELECT coalesce(max(number), 0) + 1 FROM item"

_COLUMNS: Final = "SELECT id, text, tags, metadata, created_at FROM item"
_GET: Final = f"{_COLUMNS} WHERE id = ?"
_NEWEST: Final = f"{_COLUMNS} ORDER BY number DESC LIMIT ?"
_BY_TAG: Final = f"{_COLUMNS} JOIN tag USING (number) WHERE tag.tag = ? ORDER BY tag.number DESC LIMIT ?"
_BY_ENTRY: Final = f"""
    {_COLUMNS} JOIN entry USING (number) WHERE entry.key = ? AND entry.value = ? ORDER BY entry.number DESC LIMIT ?
"""
_SEARCH: Final = f"""
    {_COLUMNS} JOIN (SELECT rowid AS number, rank FROM word WHERE word MATCH ? ORDER BY rank LIMIT ?) AS best
    USING (number) ORDER BY best.rank
"""  # noqa: S608 - constants only
_SEARCH_ENTRY: Final = f"""
    {_COLUMNS} JOIN (
        SELECT rowid AS number, rank FROM word WHERE word MATCH ?
        AND EXISTS (SELECT 1 FROM entry WHERE key = ? AND value = ? AND number = +word.rowid) ORDER BY rank LIMIT ?
    ) AS best USING (number) ORDER BY best.rank
"""  # noqa: S608 - constants only

_FIRST_RESULT: Final = """
import time
started = time.perf_counter()
import asyncio
import aiosqlite

async def main():
    async with aiosqlite.connect({file!r}) as connection:
        assert await connection.execute_fetchall({sql!r}, {arguments!r})
        print(time.perf_counter() - started)

asyncio.run(main())
"""


class _Sqlite(Driver):
    persistent = True

    def __init__(self, place: Place, *, synchronous: str, full: bool = True) -> None:
        self._file = str(place.folder / _FILE)
        self._full = full
        self._schema = (_ITEMS, *_INDEXES) if full else (_ITEMS,)
        self._pragmas = (*_PRAGMAS, f"PRAGMA synchronous = {synchronous}")

    def id_of(self, hit: object) -> UUID:
        """Return the id of a row."""
        return UUID(hex=cast("tuple[str, ...]", hit)[0])

    def _statement(self, question: Question) -> tuple[str, tuple[Any, ...]]:
        if question.words or question.tag or question.entry:
            if not self._full:
                raise NotOffered(question)
            return _conditions(question)
        return _NEWEST, (question.limit,)

    def _index_rows(self, numbered: Sequence[tuple[int | None, Item]]) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
        """Yield each statement that indexes the items, with its rows, if there are any."""
        if not self._full:
            return
        yield _INSERT_WORDS, [(number, item.text) for number, item in numbered]
        yield _INSERT_ENTRY, [(*entry, number) for number, item in numbered for entry in item.metadata.items()]
        tags = [(tag, number) for number, item in numbered for tag in item.tags]
        if tags:
            yield _INSERT_TAG, tags


class Sqlite3Driver(_Sqlite):
    """sqlite3 on the thread of the event loop: what the engine itself costs."""

    async def open(self) -> None:
        """Connect."""
        self._connection = sqlite3.connect(self._file, isolation_level=None, cached_statements=256)
        for statement in (*self._pragmas, *self._schema):
            self._connection.execute(statement)

    async def close(self) -> None:
        """Close."""
        self._connection.close()

    async def put(self, item: Item) -> None:
        """Insert in a transaction of its own."""
        with self._connection as connection:  # commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            number = connection.execute(_INSERT, (None, *_row(item))).lastrowid
            for statement, rows in self._index_rows([(number, item)]):
                connection.executemany(statement, rows)

    async def put_many(self, items: Sequence[Item]) -> None:
        """Insert all in one transaction."""
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            (first,) = connection.execute(_NEXT).fetchone()
            numbered = list(enumerate(items, first))
            connection.executemany(_INSERT, [(number, *_row(item)) for number, item in numbered])
            for statement, rows in self._index_rows(numbered):
                connection.executemany(statement, rows)

    async def get(self, item_id: UUID) -> object:
        """Fetch one row."""
        return self._connection.execute(_GET, (item_id.hex,)).fetchone()

    async def find(self, question: Question) -> Sequence[object]:
        """Fetch the rows."""
        return self._connection.execute(*self._statement(question)).fetchall()


class AiosqliteDriver(_Sqlite):
    """One aiosqlite connection, one await a statement, a lock around each transaction."""

    async def open(self) -> None:
        """Connect."""
        import aiosqlite  # noqa: PLC0415 - only where it is measured

        self._connection = await aiosqlite.connect(self._file, isolation_level=None, cached_statements=256)
        self._turn = asyncio.Lock()
        for statement in (*self._pragmas, *self._schema):
            await self._connection.execute(statement)

    async def close(self) -> None:
        """Close."""
        await self._connection.close()

    async def put(self, item: Item) -> None:
        """Insert in a transaction of its own."""
        async with self._transaction() as connection:
            cursor = await connection.execute(_INSERT, (None, *_row(item)))
            for statement, rows in self._index_rows([(cursor.lastrowid, item)]):
                await connection.executemany(statement, rows)

    async def put_many(self, items: Sequence[Item]) -> None:
        """Insert all in one transaction."""
        async with self._transaction() as connection:
            ((first,),) = await connection.execute_fetchall(_NEXT)
            numbered = list(enumerate(items, first))
            await connection.executemany(_INSERT, [(number, *_row(item)) for number, item in numbered])
            for statement, rows in self._index_rows(numbered):
                await connection.executemany(statement, rows)

    async def get(self, item_id: UUID) -> object:
        """Fetch one row."""
        return next(iter(await self._connection.execute_fetchall(_GET, (item_id.hex,))), None)

    async def find(self, question: Question) -> Sequence[object]:
        """Fetch the rows."""
        return list(await self._connection.execute_fetchall(*self._statement(question)))

    def first_result(self, question: Question) -> str:
        """Return the same search without memcore."""
        sql, arguments = self._statement(question)
        return _FIRST_RESULT.format(file=self._file, sql=sql, arguments=arguments)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        async with self._turn:
            await self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                await self._connection.execute("COMMIT")
            except BaseException:
                await self._connection.rollback()
                raise


def _conditions(question: Question) -> tuple[str, tuple[Any, ...]]:
    match = " OR ".join(f'"{word}"' for word in question.words)
    if match and question.entry:
        return _SEARCH_ENTRY, (match, *question.entry, question.limit)
    if match:
        return _SEARCH, (match, question.limit)
    if question.entry:
        return _BY_ENTRY, (*question.entry, question.limit)
    return _BY_TAG, (question.tag, question.limit)


def _row(item: Item) -> tuple[str, str, str, str, float]:
    return item.id.hex, item.text, json.dumps(item.tags), json.dumps(item.metadata), item.created_at
