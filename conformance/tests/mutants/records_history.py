"""Histories that forget, and scans that miss, repeat or miscount."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcore import RecordPage, UnsupportedMemoryQuery

from mutants import Records, mutant

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryRecord


@mutant("R-20a")
class HistoryForgets(Records):
    """A history begins with the record that it is asked of."""

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        found = await super().history(record_id)
        start = next((place for place, record in enumerate(found) if record.id == record_id), 0)
        return found[start:]


@mutant("R-20b")
class FollowsOneLine(Records):
    """Of what was merged, a history tells one line."""

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        lines: dict[UUID, MemoryRecord] = {}
        for record in await super().history(record_id):
            lines.setdefault(record.superseded_by or record.id, record)
        return list(lines.values())


@mutant("R-20c")
class HistoryOfTheUser(Records):
    """The history of a record is that of its user."""

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        own = await super().history(record_id)
        everything = (await self.scan(limit=10_000)).records if own else []
        return [record for record in everything if record.scope == own[0].scope]


@mutant("R-20d")
class TellsOfTheDeleted(Records):
    """What was deleted still has a history."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._told: dict[UUID, list[MemoryRecord]] = {}

    async def delete(self, record_id: UUID) -> bool:
        self._told[record_id] = await self.history(record_id)
        return await super().delete(record_id)

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        return await super().history(record_id) or self._told.get(record_id, [])


@mutant("R-20e")
class CountsTheExpired(Records):
    """What has expired counts until it is swept."""

    async def count(self) -> int:
        return await super().count() and len(self._index.entries)


class _Scans(Records):
    """Scans in a way of its own."""

    def page(self, page: RecordPage) -> RecordPage:
        return page

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        return self.page(await super().scan(after=after, limit=limit))


@mutant("R-20f")
class ScansTheValid(_Scans):
    """What has ended is left out of a scan."""

    def page(self, page: RecordPage) -> RecordPage:
        return RecordPage([record for record in page.records if record.invalid_at is None], page.next)


@mutant("R-20g")
class IdsHaveASign(_Scans):
    """Within a page, ids in the upper half come first."""

    def page(self, page: RecordPage) -> RecordPage:
        return RecordPage(sorted(page.records, key=lambda record: (record.id.int < 2**127, record.id)), page.next)


@mutant("R-20h")
class ScansByNumber(Records):
    """A page begins after as many records as the pages before had, whatever has come or gone meanwhile."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._places: dict[str, int] = {}

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        start = self._places.get(after or "", 0)
        page = await super().scan(after=after, limit=limit)
        if start and start + limit < 2**40:
            whole = (await super().scan(limit=start + limit)).records
            page = RecordPage(whole[start:], page.next)
        if page.next:
            self._places[page.next] = start + len(page.records)
        return page


@mutant("R-20i")
class ScansFromTheStart(Records):
    """A cursor that is none begins at the first page."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        try:
            return await super().scan(after=after, limit=limit)
        except UnsupportedMemoryQuery as error:
            if error.rejected_keys != ("after",):
                raise
            return await super().scan(limit=limit)


@mutant("R-20j")
class CountsTheValid(Records):
    """What has ended does not count."""

    async def count(self) -> int:
        await super().count()
        return sum(entry.row.invalid_at is None for entry in self._index.entries.values())
