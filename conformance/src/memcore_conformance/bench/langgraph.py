"""The strongest peer: LangGraph's stores, in memory and over SQLite, used as their documentation shows.

Without an embedding model they ignore the text of a query, and they have no operator for tags: neither is offered
here. What they list comes in an order of their own.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from memcore_conformance.bench.driver import Driver, NotOffered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore_conformance.bench.place import Place
    from memcore_conformance.bench.workload import Item, Question

_NAMESPACE: Final = ("bench",)
_BATCH: Final = 100  # their SQLite store puts seven parameters an item into one statement


class LangGraphMemoryDriver(Driver):
    """`InMemoryStore`: dictionaries, scanned."""

    newest_first = False
    _store: Any

    async def open(self) -> None:
        """Begin empty."""
        from langgraph.store.memory import InMemoryStore  # noqa: PLC0415 - only where it is installed

        self._store = InMemoryStore()

    async def put(self, item: Item) -> None:
        """Put one value."""
        await self._store.aput(_NAMESPACE, item.id.hex, _value(item))

    async def put_many(self, items: Sequence[Item]) -> None:
        """Put in batches."""
        from langgraph.store.base import PutOp  # noqa: PLC0415 - only where it is installed

        for start in range(0, len(items), _BATCH):
            batch = items[start : start + _BATCH]
            await self._store.abatch([PutOp(_NAMESPACE, item.id.hex, _value(item)) for item in batch])

    async def get(self, item_id: UUID) -> object:
        """Get one value."""
        return await self._store.aget(_NAMESPACE, item_id.hex)

    async def find(self, question: Question) -> Sequence[object]:
        """Search by filter, or list."""
        if question.words or question.tag:
            raise NotOffered(question)
        entry = dict([question.entry]) if question.entry else None
        return cast("Sequence[object]", await self._store.asearch(_NAMESPACE, filter=entry, limit=question.limit))

    def id_of(self, hit: object) -> UUID:
        """Return the key."""
        return UUID(hex=cast("Any", hit).key)


class LangGraphSqliteDriver(LangGraphMemoryDriver):
    """`AsyncSqliteStore`: one table over one aiosqlite connection, with its own settings."""

    persistent = True

    def __init__(self, place: Place) -> None:
        self._file = str(place.folder / "langgraph.db")

    async def open(self) -> None:
        """Connect and migrate."""
        from langgraph.store.sqlite.aio import AsyncSqliteStore  # noqa: PLC0415 - only where it is installed

        self._connection = AsyncExitStack()
        self._store = await self._connection.enter_async_context(AsyncSqliteStore.from_conn_string(self._file))
        await self._store.setup()

    async def close(self) -> None:
        """Disconnect."""
        await self._connection.aclose()


def _value(item: Item) -> dict[str, object]:
    return {"text": item.text, "tags": item.tags, "created_at": item.created_at, **item.metadata}
