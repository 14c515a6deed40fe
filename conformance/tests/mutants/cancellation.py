"""Adapters that do not get over a call that was cancelled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from memcore import MemoryAdapterUnavailable

from mutants import Items, KeptBackend, RemoteBackend, harmless, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryItem, MemoryQuery


@mutant("I-71d")
class WritesAfterAll(Items):
    """A write that was cancelled is done all the same, after those that follow it."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self._late = asyncio.ensure_future(self._store_later(item))
            raise
        return await super().store(item)

    async def _store_later(self, item: MemoryItem) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        await super().store(item)


@mutant("I-71d")
class HalfDone(Items):
    """A write that is cancelled between its steps leaves what it has done so far."""

    async def store(self, item: MemoryItem) -> UUID:
        old = await self.retrieve(item.id)
        await super().store(item)
        if old is not None:
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                await super().store(old.model_copy(update={"tags": item.tags}))
                raise
        return item.id


@mutant("I-71e")
class LosesItsConnections(Items):
    """A search that is cancelled never gives its connection back."""

    _free = 2

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        for _ in range(50):
            if self._free:
                break
            await asyncio.sleep(0)
        else:
            raise RuntimeError("no connection is free")
        self._free -= 1
        await asyncio.sleep(0)
        self._free += 1
        return await super().search(query)


@mutant("I-71f")
class OneByOne(Items):
    """A batch is stored item by item."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        stored = []
        for item in items:
            stored += await super().store_many([item])
            await asyncio.sleep(0)
        return stored


@mutant("I-71f")
class ErasesInSteps(Items):
    """Several items are erased one after the other."""

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        gone = 0
        for item_id in dict.fromkeys(item_ids):
            gone += await super().delete_many([item_id])
            await asyncio.sleep(0)
        return gone


@mutant("I-71g")
class LeavesItsTransactionOpen(KeptBackend):
    """A write that is cancelled leaves a transaction open until the next one."""

    class Items(KeptBackend.Items):
        """Keep the file locked."""

        async def store(self, item: MemoryItem) -> UUID:
            await self._lifecycle.open()
            await self._database.maintain(lambda session: session.in_transaction and session.execute("ROLLBACK"))
            try:
                return await super().store(item)
            except asyncio.CancelledError:
                await self._database.maintain(lambda session: session.execute("BEGIN IMMEDIATE"))
                raise


@mutant("I-71h")
class SharesItsReads(Items):
    """Calls that read the same at the same time share one reading, which ends with the first that is cancelled."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        flights: dict[UUID, asyncio.Future[Any]] = vars(self).setdefault("_flights", {})
        if item_id not in flights:
            flights[item_id] = asyncio.ensure_future(self._retrieve_soon(item_id))
            flights[item_id].add_done_callback(lambda _: flights.pop(item_id))
        found = await flights[item_id]
        return found and found.model_copy(deep=True)

    async def _retrieve_soon(self, item_id: UUID) -> MemoryItem | None:
        await asyncio.sleep(0)
        return await super().retrieve(item_id)


@mutant("I-71i")
class ConnectsOnce(RemoteBackend):
    """A connection that was cancelled while it was made is never made again."""

    _started = False

    async def _connect(self) -> None:
        if self._started:
            raise MemoryAdapterUnavailable("it is being opened")
        self._started = True
        await super()._connect()


@harmless
class Finishes(Items):
    """A write that is cancelled is done all the same, at once."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            await asyncio.sleep(0)
        finally:
            await super().store(item)
        return item.id
