"""What mutants of records exchange: the query, the changes, or the records that are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcore import MemoryHit, MemoryRecord, MemoryWrite, RecordQuery

from mutants import Records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import Invalidation
    from memcore.records.rows import RecordRow


class Asks(Records):
    """Asks something else than what was asked."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        return hits

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        if not isinstance(query, RecordQuery):
            return await super().search(query)
        return self.answer(query, await super().search(self.ask(query)))


class Shows(Records):
    """Shows something else than what is stored, but for histories."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        return {}

    def _decode(self, rows: Sequence[RecordRow], now: int) -> list[MemoryRecord]:
        return [record.model_copy(update=self.show(record)) for record in super()._decode(rows, now)]


class Writes(Records):
    """Writes something else than what was given."""

    def given(self, write: MemoryWrite) -> dict[str, Any]:
        return {}

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        written = [
            change.model_copy(update=self.given(change)) if isinstance(change, MemoryWrite) else change
            for change in changes
        ]
        return await super().write(written)

    def row(self, record_id: UUID) -> RecordRow | None:
        """Return the row that is stored, if there is one."""
        entry = self._index.entries.get(record_id.int)
        return None if entry is None else entry.row
