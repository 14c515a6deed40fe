"""Uses that count wrongly, and sweeps that take what they must leave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from memcore import MemoryConflict, SweepPolicy, SweepReport
from memcore.records.chain import Thresholds, archived, idle_bounds
from memcore.records.rows import MICROSECOND

from mutants import Records, mutant
from mutants.records_parts import Writes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryHit, MemoryRecord, RecordQuery
    from memcore.records.model import Tier
    from memcore.records.rows import RecordRow


@mutant("R-21a")
class RisesLater(Records):
    """A tier rises at the third use, and at the sixth."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"thresholds": Thresholds(3, 6)})


@mutant("R-21a")
class TouchLowers(Writes):
    """A use of a permanent record that has few makes it a long one."""

    async def touch(self, record_ids: Sequence[UUID]) -> int:
        count = await super().touch(record_ids)
        for row in filter(None, map(self.row, record_ids)):
            if row.tier == "permanent" and row.hits < 5:
                self._change(row._replace(tier="long"))
        return count


@mutant("R-21b")
class CountsEveryName(Records):
    """A record that a call names twice was used twice."""

    async def touch(self, record_ids: Sequence[UUID]) -> int:
        return sum([await Records.touch(self, [record_id]) for record_id in record_ids])


@mutant("R-21c")
class FindingIsUsing(Records):
    """Every hit of a search counts as a use."""

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        hits = await super().search(query)
        await self.touch([hit.record.id for hit in hits])
        return hits


@mutant("R-21d")
class RefreshSetsTheTier(Writes):
    """`refresh` lowers a tier as well, and gives one to a record without."""

    async def refresh(self, record_id: UUID, tier: Tier | None = None) -> MemoryRecord:
        record = await super().refresh(record_id, tier)
        row = self.row(record_id)
        if tier and row:
            self._change(row._replace(tier=tier))
        return record.model_copy(update={"tier": tier or record.tier})


@mutant("R-21e")
class RefreshesTheEnded(Records):
    """Refreshing what has ended does nothing, and is no error."""

    async def refresh(self, record_id: UUID, tier: Tier | None = None) -> MemoryRecord:
        try:
            return await super().refresh(record_id, tier)
        except MemoryConflict:
            return self._decode(list(self._rows([record_id]).values()), self._clock())[0]


@mutant("R-21f")
class UsesTheExpired(Writes):
    """What has expired counts as used."""

    async def touch(self, record_ids: Sequence[UUID]) -> int:
        await super().touch(record_ids)
        return sum(self.row(record_id) is not None for record_id in set(record_ids))


class _Sweeps(Records):
    """Sweeps by a policy of its own."""

    def policy(self, policy: SweepPolicy) -> SweepPolicy:
        return policy

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        return await super().sweep(self.policy(policy or SweepPolicy()))


@mutant("R-21g")
class ArchivesAMomentLate(_Sweeps):
    """A record is archived a microsecond after its idle time."""

    def policy(self, policy: SweepPolicy) -> SweepPolicy:
        return policy.model_copy(
            update={name: getattr(policy, name) + MICROSECOND for name in ("short_idle", "long_idle")}
        )


class _ArchivesBesides(Records):
    """Archives, after a sweep, what else it holds for idle."""

    def is_idle(self, row: RecordRow, since: int) -> bool:
        return False

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        report = await super().sweep(policy)
        now = self._clock()
        since = idle_bounds(policy or SweepPolicy(), now)["short"]
        rows = [entry.row for entry in self._index.entries.values()]
        besides = [row for row in rows if row.invalid_at is None and self.is_idle(row, since)]
        for row in besides:
            self._change(archived(row, now))
        return SweepReport(erased=report.erased, archived=report.archived + len(besides))


@mutant("R-21h")
class SweepsWhatHasNoTier(_ArchivesBesides):
    """A record without a tier decays like a short one."""

    def is_idle(self, row: RecordRow, since: int) -> bool:
        return row.tier is None and row.idle_since() <= since


@mutant("R-21h")
class SweepsThePermanent(_ArchivesBesides):
    """A permanent record decays too."""

    def is_idle(self, row: RecordRow, since: int) -> bool:
        return row.tier == "permanent" and row.idle_since() <= since


@mutant("R-21i")
class ForgetsTheRefresh(_ArchivesBesides):
    """A refresh does not set back the idle clock."""

    def is_idle(self, row: RecordRow, since: int) -> bool:
        return row.tier == "short" and max(row.created_at, row.last_hit_at or 0) <= since


@mutant("R-21j")
class OneBatchASweep(Records):
    """A sweep ends after its first batch."""

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        batch = (policy or SweepPolicy()).batch
        everything = dict(self._index.entries)
        left = [key for key, entry in everything.items() if entry.row.invalid_at is None][batch:]
        self._index.entries = {key: entry for key, entry in everything.items() if key not in left}
        report = await super().sweep(policy)
        self._index.entries.update((key, everything[key]) for key in left)
        return report


@mutant("R-21k")
class SweepCutsChains(Records):
    """What a sweep erases is cut out of its chain."""

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        rows = {entry.row.id: entry.row.superseded_by for entry in self._index.entries.values()}
        report = await super().sweep(policy)
        for row in self._rows(rows).values():
            if row.superseded_by != rows[row.id]:
                self._change(row._replace(superseded_by=None))
        return report


@mutant("R-21l")
class CountsBeforeItSweeps(Records):
    """What a sweep takes is counted before others come to their turn, and taken after."""

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        now, bounds = self._clock(), idle_bounds(policy or SweepPolicy(), self._clock())
        rows = [entry.row for entry in self._index.entries.values()]
        expired = sum(row.is_expired(now) for row in rows)
        idle = [row for row in rows if row.invalid_at is None and row.tier in bounds and not row.is_expired(now)]
        await asyncio.sleep(0)
        await super().sweep(policy)
        return SweepReport(
            erased=expired, archived=sum(row.idle_since() <= bounds[row.tier] for row in idle if row.tier)
        )
