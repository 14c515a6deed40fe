"""Broken writers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from memcore import MemoryQuery, UnsupportedMemoryItem

from mutants import Backend, Items, RemoteItems, Wire, mutant

if TYPE_CHECKING:
    from memcore import Capabilities, MemoryItem


@mutant("I-40a")
class Coercing(Items):
    """What is no JSON is stored as text instead of being refused."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except UnsupportedMemoryItem:
            return await super().store(item.model_copy(update={"content": str(item.content)}))


@mutant("I-40b")
class ChecksTooLate(RemoteItems):
    """The service is called before the item is checked."""

    async def store(self, item: MemoryItem) -> UUID:
        await self.call("count")
        return await super().store(item)


@mutant("I-41a")
class LeavesNumbersToJson(Items):
    """Whole floats become integers, as in JSON of other languages."""

    async def store(self, item: MemoryItem) -> UUID:
        def number(text: str) -> Any:
            value = float(text)
            return int(value) if value.is_integer() else value

        content = json.loads(json.dumps(item.content), parse_float=number) if _encodes(item.content) else item.content
        return await super().store(item.model_copy(update={"content": content}))


@mutant("I-42a")
class FirstWins(Items):
    """A known id is not replaced."""

    async def store(self, item: MemoryItem) -> UUID:
        return item.id if await self.retrieve(item.id) else await super().store(item)


@mutant("I-42a")
class MergesTags(Items):
    """Replacing an item keeps its old tags."""

    async def store(self, item: MemoryItem) -> UUID:
        old = await self.retrieve(item.id)
        return await super().store(item.model_copy(update={"tags": [*(old.tags if old else []), *item.tags]}))


@mutant("I-43a")
class ForeignIds(Items):
    """`store` returns an id of its own."""

    async def store(self, item: MemoryItem) -> UUID:
        await super().store(item)
        return uuid4()


@mutant("I-43b")
class ReadsTheIndex(RemoteItems):
    """Identity is looked up in the search index, which lags behind."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        return next((item for item in await self.search(MemoryQuery(limit=10_000)) if item.id == item_id), None)


@mutant("I-43c")
class BelievesSuccess(Wire):
    """An answer without identities counts as a success."""

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        answer = await super().call(name, *arguments)
        return {"ids": [row[0] for row in arguments[1]]} | answer if name == "put" else answer  # type: ignore[index]


@mutant("I-44a")
class ClaimsDurability(Backend):
    """Claims to be durable, and cannot show it."""

    @property
    def capabilities(self) -> Capabilities:
        return super().capabilities.model_copy(update={"durable": True})


@mutant("I-45a")
class Limitless(Items):
    """States limits and does not keep to them."""

    async def store(self, item: MemoryItem) -> UUID:
        self._limits = self._limits.model_copy(update={"tag": 10**9})
        return await super().store(item)


def _encodes(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
