"""Any memcore adapter by its URL, used as an application would use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import memcore

from memcore_conformance.bench.driver import Driver, NotOffered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore_conformance.bench.place import Place
    from memcore_conformance.bench.workload import Item, Question

_FIRST_RESULT: Final = """
import time
started = time.perf_counter()
import asyncio
import memcore

async def main():
    async with memcore.connect({url!r}, namespace={namespace!r}) as backend:
        assert await backend.items.search(memcore.MemoryQuery(text={text!r}, limit={limit}))
        print(time.perf_counter() - started)

asyncio.run(main())
"""


class AdapterDriver(Driver):
    """The items of one backend."""

    def __init__(self, url: str, place: Place) -> None:
        self._url = url
        self._place = place

    async def open(self) -> None:
        """Connect, in the namespace of the place."""
        self._backend = self._place.connect(self._url)
        await self._backend.open()
        self._items = self._backend.items
        claims = self._backend.capabilities
        self.persistent = claims.durable and claims.shared
        self._batch = claims.limits.batch if claims.limits else None

    async def close(self) -> None:
        """Close the backend."""
        await self._backend.close()

    async def forget(self) -> None:
        """Drop the namespace where it lies outside the folder."""
        await self._place.forget(self._url)

    async def put(self, item: Item) -> None:
        """Store one item."""
        await self._items.store(_model(item))

    async def put_many(self, items: Sequence[Item]) -> None:
        """Store the items in one call where the adapter can."""
        if isinstance(self._items, memcore.ManagedMemoryStore):
            await self._items.store_many([_model(item) for item in items])
        else:
            await super().put_many(items)

    async def get(self, item_id: UUID) -> object:
        """Retrieve one item."""
        return await self._items.retrieve(item_id)

    async def find(self, question: Question) -> Sequence[object]:
        """Search; a filter that the adapter does not support is not offered."""
        query = memcore.MemoryQuery(
            text=" ".join(question.words) or None,
            tags=[question.tag] if question.tag else None,
            filters=dict([question.entry]) if question.entry else None,
            limit=question.limit,
        )
        try:
            return await self._items.search(query)
        except memcore.UnsupportedMemoryQuery as error:
            raise NotOffered(question) from error

    def id_of(self, hit: object) -> UUID:
        """Return the item's id."""
        return cast("memcore.MemoryItem", hit).id

    def first_result(self, question: Question) -> str:
        """Return the shortest program of an application, imports included."""
        text = " ".join(question.words)
        return _FIRST_RESULT.format(url=self._url, namespace=self._place.namespace, text=text, limit=question.limit)


def _model(item: Item) -> memcore.MemoryItem:
    return memcore.MemoryItem(
        id=item.id, created_at=item.created_at, content=item.text, tags=item.tags, metadata=item.metadata
    )
