"""Stores that erase too much, too little, or not everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from memcore import UnsupportedMemoryItem, UnsupportedMemoryQuery
from memcore.kit.query import matches_filters

from mutants import Items, RemoteItems, mutant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@mutant("I-81c")
class NoIdsIsAllIds(Items):
    """An empty list of ids erases everything."""

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        if item_ids:
            return await super().delete_many(item_ids)
        self.clear()
        return 0


@mutant("I-81c")
class CountsTheIds(Items):
    """`delete_many` returns how many ids it was given."""

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        erased = await super().delete_many(item_ids)
        return len(item_ids) if erased > 1 else erased


@mutant("I-81d")
class LeavesTerms(Items):
    """`delete_where` forgets the words of an item, and what else led to it is left behind."""

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        matching = [item for item in (await self.scan()).items if matches_filters(item.metadata, filters)]
        erased = await super().delete_where(filters)
        for item in matching:
            await self.store(item.model_copy(update={"content": None, "tags": item.tags[:1]}))
        await self.delete_many([item.id for item in matching[1:]])
        return erased


@mutant("I-81e")
class Undeletes(Items):
    """What was erased is only hidden: with the id its tags come back."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)  # type: ignore[arg-type]
        self._hidden: dict[UUID, list[str]] = {}

    async def delete(self, item_id: UUID) -> bool:
        found = await self.retrieve(item_id)
        self._hidden[item_id] = found.tags if found else []
        return await super().delete(item_id)

    async def search(self, query: Any) -> list[Any]:
        found = await super().search(query)
        wanted = set(query.tags or ())
        back = [item_id for item_id, tags in self._hidden.items() if wanted.intersection(tags)]
        return found + [item for item in [await self.retrieve(item_id) for item_id in back] if item]


@mutant("I-81f")
class ErasesByAnyFilter(Items):
    """One filter of several is enough to be erased."""

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        erased = 0 if filters else await super().delete_where(filters)
        for key, value in filters.items():
            erased += await super().delete_where({key: value})
        return erased


@mutant("I-81g")
class ErasesUpToTheBad(Items):
    """Ids are checked one by one, while they are erased."""

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        erased = 0
        for item_id in item_ids:
            erased += await super().delete_many([item_id])
        return erased


@mutant("I-81h")
class ForgetsToCheckValues(Items):
    """A filter that no entry can equal erases what lacks the key."""

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        try:
            return await super().delete_where(filters)
        except UnsupportedMemoryQuery:
            if not filters:
                raise
            return await super().delete_where(dict.fromkeys(filters))


@mutant("I-81i")
class TakesAnyNumberOfIds(Items):
    """Ids beyond the limit are left out."""

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        try:
            return await super().delete_many(item_ids)
        except UnsupportedMemoryItem:
            return await super().delete_many(item_ids[: self._limits.batch])


@mutant("I-81j")
class ErasesOneByOne(RemoteItems):
    """Every id is a call of its own."""

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        erased = 0
        for item_id in item_ids:
            erased += await super().delete_many([item_id])
        return erased
