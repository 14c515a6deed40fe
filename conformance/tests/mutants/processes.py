"""Adapters that believe to be alone with their data."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from memcore_sqlite.items import SqliteItems

from mutants import Elsewhere, KeptBackend, mutant

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryItem, MemoryQuery


class _Shared(KeptBackend):
    lifetime: ClassVar[dict[str, Any]] = {"durable": False, "power_safe": False, "extensions": frozenset({"managed"})}


@mutant("I-43p")
class KeepsWhatItRead(_Shared):
    """What was retrieved or stored once is not read again."""

    class Items(SqliteItems):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._known: dict[UUID, MemoryItem] = {}

        async def retrieve(self, item_id: UUID) -> MemoryItem | None:
            if item_id not in self._known:
                found = await super().retrieve(item_id)
                if found is None:
                    return None
                self._known[item_id] = found
            return self._known[item_id].model_copy(deep=True)

        async def store(self, item: MemoryItem) -> UUID:
            self._known.pop(item.id, None)
            return await super().store(item)


@mutant("I-81p")
class KeepsWhatItFound(_Shared):
    """The same search is not made again until this process writes."""

    class Items(SqliteItems):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._found: dict[str, list[MemoryItem]] = {}

        async def search(self, query: MemoryQuery) -> list[MemoryItem]:
            key = repr(query)
            if key not in self._found:
                self._found[key] = await super().search(query)
            return [item.model_copy(deep=True) for item in self._found[key]]

        async def store(self, item: MemoryItem) -> UUID:
            self._found.clear()
            return await super().store(item)


@mutant("I-42p")
class WritesAllThatItKnows(_Shared):
    """Every write erases what this process has not stored itself, as one that rewrites a whole file."""

    class Items(SqliteItems):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._known: set[UUID] = set()

        async def store(self, item: MemoryItem) -> UUID:
            self._known.add(item.id)
            stored = await super().store(item)
            await asyncio.sleep(0.01)
            others = {found.id for found in (await self.scan()).items} - self._known
            await self.delete_many(list(others))
            return stored


@mutant("I-42q")
class WritesInTwoSteps(_Shared):
    """The tags of an item are written after its content."""

    class Items(SqliteItems):
        async def store(self, item: MemoryItem) -> UUID:
            await super().store(item.model_copy(update={"tags": []}))
            await asyncio.sleep(0.002)
            return await super().store(item)


@mutant("I-42r")
class ReadsEveryItemOnce(Elsewhere):
    """Another process answers from what it has read before, whatever this one writes."""

    mutant = "ReadsEveryItemOnce"
    backend_type = _Shared


@mutant("B-05b")
class OpensForOneProcess(Elsewhere):
    """While one process opens or has the file, no other may open it."""

    mutant = "OpensForOneProcess"
    backend_type = _Shared
