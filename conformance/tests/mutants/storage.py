"""Adapters that take a broken place of their data lightly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from memcore import MalformedMemoryPayload, MemoryAdapterUnavailable
from memcore_sqlite.items import SqliteItems

from mutants import KeptBackend, RemoteItems, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryItem


class _Durable(KeptBackend):
    lifetime: ClassVar[dict[str, Any]] = {"shared": False, "extensions": frozenset({"managed"})}


class _SaysYes(SqliteItems):
    """A write that failed for a certain reason is acknowledged."""

    reason: ClassVar[str]

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except MemoryAdapterUnavailable as error:
            if self.reason in repr(error.__cause__):
                return item.id
            raise


@mutant("I-70s")
class SaysYesWhenFull(_Durable):
    """A write that found no space is acknowledged."""

    Items = type("", (_SaysYes,), {"reason": "full"})


@mutant("I-70t")
class SaysYesWhenReadOnly(_Durable):
    """A write to what may only be read is acknowledged."""

    Items = type("", (_SaysYes,), {"reason": "readonly"})


@mutant("I-70u")
class SaysYesWhenLocked(_Durable):
    """A write that waited in vain is acknowledged."""

    Items = type("", (_SaysYes,), {"reason": "locked"})


@mutant("I-70v")
class ReplacesGarbage(_Durable):
    """What is no database is replaced by an empty one."""

    async def open(self) -> None:
        try:
            await super().open()
        except MalformedMemoryPayload:
            assert self._settings.path
            self._settings.path.unlink()
            await super().open()


@mutant("I-80s")
class StoresWhatFits(_Durable):
    """A batch is stored item by item."""

    class Items(SqliteItems):
        async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
            return [await self.store(item) for item in items]


@mutant("I-32n")
class GoesOnWithNewerData(RemoteItems):
    """Only opening looks at the version of the data."""

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        self._wire.service.schema, newer = 1, self._wire.service.schema
        try:
            return await super().call(name, *arguments)
        finally:
            self._wire.service.schema = newer
