"""Adapters that handle failures badly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from memcore import MalformedMemoryPayload, MemoryAdapterError, MemoryAdapterUnavailable, MemoryItem

from mutants import Items, RemoteItems, Wire, mutant

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryQuery


@mutant("I-70a")
class EmptyOnOutage(RemoteItems):
    """A search during an outage finds nothing."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        try:
            return await super().search(query)
        except MemoryAdapterUnavailable:
            return []


@mutant("I-70b")
class MalformedIsAMiss(RemoteItems):
    """An answer that cannot be read is a miss."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        try:
            return await super().retrieve(item_id)
        except MalformedMemoryPayload:
            return None


@mutant("I-70c")
class DeniedIsAnOutage(RemoteItems):
    """Refused credentials are reported as an outage."""

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        try:
            return await super().call(name, *arguments)
        except MemoryAdapterError as error:
            raise MemoryAdapterUnavailable("not now") from error


@mutant("I-70d")
class RepairsDamage(RemoteItems):
    """A damaged row is given back empty."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        try:
            return await super().retrieve(item_id)
        except MalformedMemoryPayload:
            return MemoryItem(id=item_id)


@mutant("I-71a")
class StaysBroken(Wire):
    """After a failure the connection is never made again."""

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        if getattr(self, "broken", False):
            raise ConnectionError("still broken")
        try:
            return await super().call(name, *arguments)
        except OSError:
            self.broken = True
            raise


@mutant("I-71b")
class KeepsItsLock(Items):
    """A cancelled write keeps the lock."""

    _locked = False

    async def store(self, item: MemoryItem) -> UUID:
        while self._locked:
            await asyncio.sleep(0.001)
        self._locked = True
        await asyncio.sleep(0)
        stored = await super().store(item)
        self._locked = False
        return stored
