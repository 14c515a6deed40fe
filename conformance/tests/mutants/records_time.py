"""Stores that are off by a moment, or trust a clock that runs back."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from memcore import MemoryWrite
from memcore.records.clock import clock_of
from memcore.records.rows import MICROSECOND, decode_record, from_micros

from mutants import Records, mutant
from mutants.records_parts import Asks, Shows, Writes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import Invalidation, MemoryHit, MemoryRecord, RecordQuery
    from memcore.records.rows import RecordRow

    Changes = Sequence[MemoryWrite | Invalidation]


@mutant("R-16a")
class AMomentAhead(Asks):
    """As of a moment finds what is valid a microsecond later."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"as_of": query.as_of and query.as_of + MICROSECOND})


@mutant("R-16b")
class AMomentBehind(Asks):
    """As of a moment finds what was valid a microsecond before: the moment of the end counts."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"as_of": query.as_of and query.as_of - MICROSECOND})


@mutant("R-16c")
class ShowsWhatIsToCome(Asks):
    """With what is invalidated, what was written later is found as well."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"as_of": None}) if query.include_invalidated else query


@mutant("R-16d")
class ExpiresAMomentLate(Records):
    """At the moment of its expiry a record is still found."""

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        clock = self._clock
        self._clock = lambda: clock() - 1
        try:
            return await super().search(query)
        finally:
            self._clock = clock


@mutant("R-16d")
class KeepsTheEndedForever(Asks):
    """What has expired is found where the ended are asked for."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ended: dict[UUID, MemoryHit] = {}

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        self._ended.update((hit.record.id, hit) for hit in hits if hit.record.invalid_at and hit.record.expires_at)
        return hits or (list(self._ended.values()) if query.include_invalidated else [])


@mutant("R-16e")
class ExpiresNowAlone(Asks):
    """As of a moment to come finds what expires until then."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        now = from_micros(self._clock())
        return query.model_copy(update={"as_of": query.as_of and min(query.as_of, now)})


@mutant("R-16f")
class LinksToTheExpired(Records):
    """A link to what has expired is shown as it is."""

    def _decode(self, rows: Sequence[RecordRow], now: int) -> list[MemoryRecord]:
        return [decode_record(row) for row in rows]


@mutant("R-15a")
class GetsTheValidAlone(Records):
    """What has ended is not to be had."""

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        found = await super().get(record_id)
        return found if found and found.invalid_at is None else None


class _ByTheClock(Writes):
    """Puts down what the clock tells, whatever was before."""

    def fits(self, change: MemoryWrite | Invalidation) -> bool:
        return False

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        known = {change.id for change in changes if (row := self.row(change.id)) and row.invalid_at is not None}
        await super().write(changes)
        now = self._clock()
        for change in changes:
            row = self._index.entries[change.id.int].row
            if self.fits(change) and change.id not in known and row.updated_at > now:
                end = {"invalid_at": now} if row.invalid_at is not None else {"created_at": now}
                self._change(row._replace(updated_at=now, **end))
        return self._decode([self._index.entries[change.id.int].row for change in changes], now)


@mutant("R-18a")
class RunsBack(_ByTheClock):
    """What supersedes begins when the clock says, though that be before what it supersedes."""

    def fits(self, change: MemoryWrite | Invalidation) -> bool:
        return isinstance(change, MemoryWrite) and len(change.supersedes) == 1


@mutant("R-18b")
class EndsBeforeItBegins(_ByTheClock):
    """What is invalidated ends when the clock says, though that be before it began."""

    def fits(self, change: MemoryWrite | Invalidation) -> bool:
        return not isinstance(change, MemoryWrite)


@mutant("R-18c")
class HasAClockOfItsOwn(Records):
    """Time is that of the system, whatever the clock of the settings tells."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"clock": clock_of(None)})


@mutant("R-18d")
class TellsTheTimeOfThePlace(Shows):
    """Times are shown as those of the place that the process believes to be at."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        shift = time.localtime().tm_gmtoff if "TZ" in os.environ else 0
        return {"created_at": record.created_at + timedelta(seconds=shift)}
