"""Stores that replace in parts, in another order, or forget some of what comes at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mutants import Items, mutant

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryItem, MemoryQuery


@mutant("I-42b")
class StoresInTwoSteps(Items):
    """The content is replaced first, the rest a moment later."""

    async def store(self, item: MemoryItem) -> UUID:
        old = await self.retrieve(item.id)
        if old is not None:
            await super().store(old.model_copy(update={"content": item.content}))
            await asyncio.sleep(0)
        return await super().store(item)


@mutant("I-42b")
class DeletesThenStores(Items):
    """For a moment there is neither the old item nor the new one."""

    async def store(self, item: MemoryItem) -> UUID:
        if await self.delete(item.id):
            await asyncio.sleep(0)
        return await super().store(item)


@mutant("I-42c")
class NewestTimeWins(Items):
    """A write whose item is older than what is stored is acknowledged and forgotten."""

    async def store(self, item: MemoryItem) -> UUID:
        old = await self.retrieve(item.id)
        return item.id if old and old.created_at > item.created_at else await super().store(item)


@mutant("I-42d")
class SharesItsStack(Items):
    """Writes at the same time share the place where they put their content."""

    _contents: tuple[object, ...] = ()

    async def store(self, item: MemoryItem) -> UUID:
        self._contents += (item.content,)
        await asyncio.sleep(0)
        *rest, content = self._contents
        self._contents = tuple(rest)
        return await super().store(item.model_copy(update={"content": content}))


@mutant("I-42e")
class BusyMeansDone(Items):
    """A write that comes during another one is acknowledged and forgotten."""

    _busy = False

    async def store(self, item: MemoryItem) -> UUID:
        if self._busy:
            return item.id
        self._busy = True
        await asyncio.sleep(0)
        self._busy = False
        return await super().store(item)


@mutant("I-42f")
class ListsWhatWasReplaced(Items):
    """The list keeps an item as it was first."""

    _first: dict[UUID, MemoryItem]

    async def store(self, item: MemoryItem) -> UUID:
        self._first = {item.id: item.model_copy(), **getattr(self, "_first", {})}
        return await super().store(item)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        return found if query.text else [self._first[item.id].model_copy() for item in found]


@mutant("I-42g")
class OldTagsStay(Items):
    """The tags of an item that was replaced find the one in its place."""

    _tagged: dict[str, set[UUID]]

    async def store(self, item: MemoryItem) -> UUID:
        self._tagged = getattr(self, "_tagged", {})
        for tag in item.tags if isinstance(item.tags, list) else ():
            self._tagged.setdefault(tag, set()).add(item.id)
        return await super().store(item)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = {item.id: item for item in await super().search(query)}
        for tag in query.tags or ():
            for item_id in getattr(self, "_tagged", {}).get(tag, ()):
                item = await self.retrieve(item_id)
                if item and query.limit > len(found) and not query.text and not query.filters:
                    found.setdefault(item_id, item)
        return list(found.values())
