"""Stores that write batches in parts, or for nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memcore import UnsupportedMemoryItem
from memcore.items.payload import encode_items

from mutants import Items, RemoteItems, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryItem


@mutant("I-80c")
class NothingReplacesAll(Items):
    """A batch is what the store holds from now on where it is empty."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        if not items:
            self.clear()
        return await super().store_many(items)


@mutant("I-80d")
class BatchMergesTags(Items):
    """A batch adds the tags that an item had to those that it has."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        old = [await self.retrieve(item.id) for item in items]
        return await super().store_many(
            [
                item.model_copy(update={"tags": [*item.tags, *(was.tags if was else [])]})
                for item, was in zip(items, old, strict=True)
            ]
        )


@mutant("I-80e")
class ShowsParts(Items):
    """A batch is checked as a whole, and stored in two parts."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        encode_items(items, self._limits)
        half = len(items) // 2
        first = await super().store_many(items[:half])
        await asyncio.sleep(0)
        return first + await super().store_many(items[half:])


@mutant("I-80f")
class SendsOneByOne(RemoteItems):
    """A batch is checked as a whole, and sent item by item."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        encode_items(items, self._limits)
        return [await self.store(item) for item in items]


@mutant("I-80g")
class CountsDifferentItems(Items):
    """The limit of a batch is one of different items."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        if len({item.id for item in items}) < len(items) > self._limits.batch:
            await self.store(items[-1])
            return [item.id for item in items]
        return await super().store_many(items)


@mutant("I-80h")
class KeepsWhatWasGood(Items):
    """The first of a refused batch is kept, if it replaces something."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        try:
            return await super().store_many(items)
        except UnsupportedMemoryItem:
            if await self.retrieve(items[0].id):
                await self.store(items[0])
            raise
