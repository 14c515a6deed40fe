"""Adapters that swallow a fault, change its kind, talk too much about it, or write at the wrong time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memcore import MalformedMemoryPayload, MemoryAdapterError, MemoryAdapterUnavailable, MemoryItem

from mutants import RemoteItems, Service, Wire, harmless, mutant

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryQuery


@mutant("I-70e")
class LostIsEmpty(RemoteItems):
    """A search whose answer is lost on the way finds nothing."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        try:
            return await super().search(query)
        except MemoryAdapterUnavailable as error:
            if isinstance(error.__cause__, ConnectionResetError):
                return []
            raise


@mutant("I-70e")
class HidesTheCause(RemoteItems):
    """What went wrong is not said with a call that took too long."""

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        try:
            return await super().call(name, *arguments)
        except MemoryAdapterUnavailable as error:
            if isinstance(error.__cause__, TimeoutError):
                raise MemoryAdapterUnavailable("it took too long") from None
            raise


@mutant("I-70e")
class NativeTimeout(RemoteItems):
    """A call that took too long ends in an error of the language."""

    async def count(self) -> int:
        try:
            return await super().count()
        except MemoryAdapterUnavailable as error:
            raise error.__cause__ or error from None


@mutant("I-70f")
class CountsNothing(RemoteItems):
    """During an outage there are no items."""

    async def count(self) -> int:
        try:
            return await super().count()
        except MemoryAdapterUnavailable:
            return 0


@mutant("I-70g")
class StoresBlindly(RemoteItems):
    """A write is done, whatever the service answers."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except MalformedMemoryPayload:
            return item.id


@mutant("I-70g")
class DeniedScansAreOutages(RemoteItems):
    """Refused credentials are an outage to a scan."""

    async def _rows(self, name: str, *arguments: object) -> list[MemoryItem]:
        try:
            return await super()._rows(name, *arguments)
        except MemoryAdapterError as error:
            if isinstance(error.__cause__, PermissionError):
                raise MemoryAdapterUnavailable("not now") from error
            raise


@mutant("I-70l")
class QuotesTheRequest(RemoteItems):
    """The message of an outage quotes what was sent."""

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        try:
            return await super().call(name, *arguments)
        except MemoryAdapterUnavailable as error:
            raise MemoryAdapterUnavailable(f"cannot send {name}{arguments}") from error.__cause__


@mutant("I-70i")
class SendsInTwoCalls(RemoteItems):
    """The content is sent first, and the whole item with another call."""

    async def _put(self, rows: list[Any]) -> list[UUID]:
        halves = [(key, created_at, payload.replace('"new"', '"old"')) for key, created_at, payload in rows]
        await super()._put(halves)
        return await super()._put(rows)


@mutant("I-70j")
class SendsAgainLater(RemoteItems):
    """A write that failed is told, and sent again in the background."""

    async def _put(self, rows: list[Any]) -> list[UUID]:
        try:
            return await super()._put(rows)
        except MemoryAdapterUnavailable:
            self._late = asyncio.ensure_future(self._send_later(rows))
            raise

    async def _send_later(self, rows: list[Any]) -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        with suppress(MemoryAdapterError):
            await super()._put(rows)


@mutant("I-70k")
class LeavesDamageOut(Service):
    """A search leaves out what it cannot read."""

    async def find(self, namespace: str, query: dict[str, Any]) -> dict[str, Any]:
        answer = await super().find(namespace, query)
        return {"rows": [row for row in answer["rows"] if row is None or row[2].endswith("]}")]}


@mutant("I-71c")
class GivesUp(Wire):
    """After five failures in a row nothing is tried any more."""

    _failures = 0

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        if self._failures >= 5:
            raise ConnectionError("given up")
        try:
            answer = await super().call(name, *arguments)
        except OSError:
            self._failures += 1
            raise
        self._failures = 0
        return answer


@harmless
class TriesAgain(Wire):
    """What is refused, late or lost is sent once more."""

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        try:
            return await super().call(name, *arguments)
        except PermissionError:
            raise
        except OSError:
            return await super().call(name, *arguments)
