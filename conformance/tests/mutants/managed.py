"""Stores that copy, erase or count wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from memcore import Page, UnsupportedMemoryQuery

from mutants import Items, mutant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memcore import MemoryItem


@mutant("I-80a")
class DropsDuplicateIds(Items):
    """`store_many` returns each id once."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        return list(dict.fromkeys(await super().store_many(items)))


@mutant("I-80b")
class StoresOneByOne(Items):
    """A batch is stored item by item up to the first that is refused."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        return [await self.store(item) for item in items]


@mutant("I-81a")
class LeavesTheIndex(Items):
    """`delete` forgets the entry and not its tags."""

    async def delete(self, item_id: UUID) -> bool:
        found = await self.retrieve(item_id)
        if found is not None:
            await self.store(found.model_copy(update={"id": UUID(int=item_id.int ^ 1)}))
        return await super().delete(item_id)


@mutant("I-81b")
class ErasesEverything(Items):
    """An empty filter erases everything."""

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        if filters:
            return await super().delete_where(filters)
        number = await self.count()
        self.clear()
        return number


@mutant("I-82a")
class OverlappingPages(Items):
    """The last item of a page is the first of the next."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        page = await super().scan(after=after, limit=limit)
        before = await super().scan(limit=1)
        return Page([*before.items, *page.items] if after else page.items, page.next)


@mutant("I-82b")
class StartsAgain(Items):
    """A cursor that is none starts from the beginning."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        try:
            return await super().scan(after=after, limit=limit)
        except UnsupportedMemoryQuery:
            return await super().scan(limit=max(limit, 1))
