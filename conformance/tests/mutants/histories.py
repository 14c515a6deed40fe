"""Stores that are right alone and wrong in company."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memcore import MemoryAdapterError
from memcore_sqlite.items import SqliteItems

from mutants import Items, KeptBackend, RemoteItems, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryItem, MemoryQuery


@mutant("I-42h")
class ErasesThenStores(Items):
    """What is replaced is not there for a moment."""

    async def store(self, item: MemoryItem) -> UUID:
        stored = await super().store(item)
        await self.delete(item.id)
        await asyncio.sleep(0)
        await super().store(item)
        return stored


@mutant("I-42i")
class RemembersWhatItRead(KeptBackend):
    """A store answers from a memory of its own, whatever others write."""

    class Items(SqliteItems):
        """Reads every item once."""

        def __init__(self, *args: object, **keywords: object) -> None:
            super().__init__(*args, **keywords)  # type: ignore[arg-type]
            self._kept: dict[UUID, MemoryItem | None] = {}

        async def retrieve(self, item_id: UUID) -> MemoryItem | None:
            if item_id not in self._kept:
                self._kept[item_id] = await super().retrieve(item_id)
            kept = self._kept[item_id]
            return kept and kept.model_copy(deep=True)

        async def store(self, item: MemoryItem) -> UUID:
            stored = await super().store(item)
            self._kept.pop(item.id, None)
            return stored

        async def delete_many(self, item_ids: Sequence[UUID]) -> int:
            erased = await super().delete_many(item_ids)
            self._kept.clear()
            return erased


@mutant("I-64h")
class ListsFromMemory(Items):
    """A listing is made again when the number of items has changed."""

    listed: tuple[MemoryItem, ...] = ()

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        if query.model_fields_set - {"text"} or query.text:
            return found
        if {item.id for item in found} != {item.id for item in self.listed}:
            self.listed = tuple(found)
        return [item.model_copy(deep=True) for item in self.listed]


@mutant("I-64i")
class MixesVersions(RemoteItems):
    """A hit has the tags with which the item was first found."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)  # type: ignore[arg-type]
        self._tags: dict[UUID, list[str]] = {}

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        return [item.model_copy(update={"tags": self._tags.setdefault(item.id, item.tags)}) for item in found]


@mutant("I-70x")
class MissesInVain(RemoteItems):
    """An item that cannot be read is a miss."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        try:
            return await super().retrieve(item_id)
        except MemoryAdapterError:
            return None
