"""Stores that go wrong only after a certain sequence of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mutants import Items, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryItem


@mutant("I-42s")
class TakesItForTheSame(Items):
    """What replaces an item of the same content keeps the old metadata."""

    async def store(self, item: MemoryItem) -> UUID:
        old = await self.retrieve(item.id)
        if old is not None and old.content == item.content:
            item = item.model_copy(update={"metadata": old.metadata})
        return await super().store(item)


@mutant("I-42s")
class LeavesTheLastOfManyErased(Items):
    """Of several ids that are erased together, the last stays if the first was not there."""

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        if len(item_ids) > 1 and await self.retrieve(item_ids[0]) is None:
            return await super().delete_many(item_ids[:-1])
        return await super().delete_many(item_ids)
