"""Records of namespaces that meet, of backends that do not know whether they are open, and of calls cut short."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memcore import MemoryAdapterUnavailable, MemoryConfigurationError

from mutants import Harness, Records, RecordsBackend, mutant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore import Invalidation, MemoryHit, MemoryRecord, MemoryWrite, RecordQuery
    from memcore.records.model import Kind


class _Met(Records):
    """Knows the records of the other namespaces."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.others: list[Records] = []


class _Meeting(Harness):
    """Lets the namespaces know of each other."""

    def __init__(self) -> None:
        super().__init__()
        self._met: list[Records] = []

    async def make_backend(self, **settings: object) -> Any:
        backend = await super().make_backend(**settings)
        self._met.append(backend.records)
        backend.records.others = self._met  # type: ignore[attr-defined]
        return backend

    async def reset(self) -> None:
        self._met.clear()


@mutant("B-04ra")
class FindsInEveryNamespace(_Meeting):
    """A search finds what other namespaces hold too."""

    class backend_type(RecordsBackend):  # noqa: N801 - the part that the harness exchanges
        class records_type(_Met):  # noqa: N801
            async def search(self, query: RecordQuery) -> list[MemoryHit]:
                found = await super().search(query)
                for other in self.others:
                    found += await Records.search(other, query) if other is not self else []
                return found


@mutant("B-04rb")
class DeletesInEveryNamespace(_Meeting):
    """A record is deleted by its id in every namespace."""

    class backend_type(RecordsBackend):  # noqa: N801
        class records_type(_Met):  # noqa: N801
            async def delete(self, record_id: UUID) -> bool:
                return sum([await Records.delete(other, record_id) for other in self.others]) > 0


@mutant("B-04rc")
class CountsEveryNamespace(_Meeting):
    """The records of every namespace count."""

    class backend_type(RecordsBackend):  # noqa: N801
        class records_type(_Met):  # noqa: N801
            async def count(self) -> int:
                return sum([await Records.count(other) for other in self.others])


@mutant("B-02ra")
class DropsNoRecords(RecordsBackend):
    """`drop_namespace` spares the records."""

    async def drop_namespace(self) -> None:
        await self.open()


@mutant("B-02rb")
class WorksOnWhenClosed(Records):
    """Records may be used when their backend is closed."""

    async def _ready(self) -> None:
        with suppress(MemoryConfigurationError):
            await super()._ready()


@mutant("I-71ra")
class WritesHalfWhenCancelled(Records):
    """Of a call that is cancelled the first change is carried out."""

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            await super().write(changes[:1])
            raise
        return await super().write(changes)


@mutant("I-71rb")
class StaysBusy(Records):
    """A search that is cancelled keeps the store busy for ever."""

    _busy = False

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        if self._busy:
            raise MemoryAdapterUnavailable("a search is under way")
        self._busy = True
        await asyncio.sleep(0)
        self._busy = False
        return await super().search(query)


@mutant("I-71rc")
class ErasesSomeWhenCancelled(Records):
    """Of an erasure that is cancelled one record is gone."""

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            await self.delete((await self.scan(limit=1)).records[0].id)
            raise
        return await super().delete_where(scope, kinds=kinds)
