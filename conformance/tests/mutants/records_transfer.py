"""Restoring that changes what it restores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcore import MemoryConflict, MemoryRecord, MemoryWrite, UnsupportedMemoryItem
from memcore.records.rows import encode_record, from_micros

from mutants import Records, mutant
from mutants.records_parts import Writes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import Invalidation


class _Restores(Records):
    """Restores something else than what was given."""

    def restored(self, record: MemoryRecord) -> dict[str, Any]:
        return {}

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        changed = [
            record.model_copy(update=self.restored(record)) if isinstance(record, MemoryRecord) else record
            for record in records
        ]
        return await super().restore(changed)


@mutant("R-22a")
class ForgetsItsHits(_Restores):
    """A restored record was never used."""

    def restored(self, record: MemoryRecord) -> dict[str, Any]:
        return {"hits": 0}


@mutant("R-22b")
class TheFirstCounts(Records):
    """Of two records of one id in a call the first is kept."""

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        return (await super().restore(records[::-1]))[::-1]


@mutant("R-22c")
class KeepsTheOldWords(Writes):
    """What is restored over another is found as that one was."""

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        rows = [encode_record(record, self._limits) for record in records]
        new = [record for record, row in zip(records, rows, strict=True) if self.row(row.id) is None]
        await super().restore(new)
        for row in rows:
            self._change(row)
        return [row.id for row in rows]


@mutant("R-22d")
class CutsLooseEnds(_Restores):
    """A link to what is not there yet is not kept."""

    def restored(self, record: MemoryRecord) -> dict[str, Any]:
        is_there = record.superseded_by is None or self._rows([record.superseded_by])
        return {} if is_there else {"superseded_by": None}


@mutant("R-22e")
class ACopyIsNew(_Restores):
    """A restored record was written when it was restored, if it is valid."""

    def restored(self, record: MemoryRecord) -> dict[str, Any]:
        now = from_micros(self._clock())
        return {"created_at": now, "updated_at": now} if record.invalid_at is None else {}


@mutant("R-22f")
class RestoresUntilItFails(Records):
    """What comes before a record that cannot be kept is restored."""

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        try:
            return await super().restore(records)
        except UnsupportedMemoryItem:
            await super().restore(records[:1])
            raise


@mutant("R-22g")
class TheRestoredIsForeign(Writes):
    """The write that once made a restored record conflicts with it."""

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        for change in changes:
            row = self.row(change.id)
            if isinstance(change, MemoryWrite) and row and row.written is None:
                raise MemoryConflict("another record has the id", current=await self.get(row.id))
        return await super().write(changes)
