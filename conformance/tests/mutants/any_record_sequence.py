"""Stores of records that go wrong only after a certain sequence of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import MemoryWrite

from mutants import mutant
from mutants.records_parts import Writes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore import Invalidation, MemoryRecord


@mutant("R-10s")
class ForgetsUsesAtTheEnd(Writes):
    """When a record that was used is superseded or invalidated, its uses are forgotten."""

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        used = [entry.row for entry in self._index.entries.values() if entry.row.hits and entry.row.invalid_at is None]
        answer = await super().write(changes)
        for row in filter(None, (self.row(before.id) for before in used)):
            if row.invalid_at is not None:
                self._change(row._replace(hits=0))
        return answer


@mutant("R-10s")
class TheSecondEndOfAChainIsLost(Writes):
    """What supersedes a record that has superseded another itself loses the tier of the first."""

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        answer = await super().write(changes)
        for change in changes:
            for old in change.supersedes if isinstance(change, MemoryWrite) else ():
                for row in self._rows(self._predecessors.get(old, ())).values():
                    self._change(row._replace(tier=None))
        return answer
