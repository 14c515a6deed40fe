"""Harmless variants: they differ from what the suite has seen and are right, and must pass everything."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mutants import Items, RemoteItems, Wire, harmless

if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from memcore import MemoryItem, MemoryQuery


@harmless
class Correct(Items):
    """`memory://` as it is."""


@harmless
class CorrectRemote(RemoteItems):
    """The reference adapter as it is."""


@harmless
class Slower(Wire):
    """Every call takes its time."""

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        await asyncio.sleep(0.001)
        return await super().call(name, *arguments)


@harmless
class MoreMethods(Items):
    """Methods and arguments beyond the contract."""

    async def similar(self, item_id: UUID) -> list[MemoryItem]:
        return [found for found in [await self.retrieve(item_id)] if found]

    async def search(self, query: MemoryQuery, *, explain: bool = False) -> list[MemoryItem]:
        return await super().search(query)
