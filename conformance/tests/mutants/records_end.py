"""Deletions that leave something, take too much, or bring something back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcore import MemoryConflict, MemoryHit

from mutants import FileRecords, Records, mutant
from mutants.records_parts import Asks, Writes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from memcore import MemoryRecord, RecordQuery
    from memcore.records.model import Kind
    from memcore.records.rows import RecordRow


@mutant("R-14a")
class KeepsWhatHasEnded(Writes):
    """What has ended already is not erased."""

    async def delete(self, record_id: UUID) -> bool:
        row = self.row(record_id)
        return True if row and row.invalid_at is not None else await super().delete(record_id)


@mutant("R-14a")
class LeavesTheWords(Asks):
    """What was deleted is still found by its words."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._left: list[MemoryRecord] = []

    async def delete(self, record_id: UUID) -> bool:
        self._left += [found for found in [await self.get(record_id)] if found]
        return await super().delete(record_id)

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        words = set((query.text or "").split())
        left = [record for record in self._left if words & set(record.content.split())]
        return [*hits, *(MemoryHit(record=record, score=0.0) for record in left)]


@mutant("R-14b")
class ItWasAlwaysThere(Records):
    """`delete` says that every record was there."""

    async def delete(self, record_id: UUID) -> bool:
        return await super().delete(record_id) or True


@mutant("R-14c")
class TheExpiredWasThere(Writes):
    """`delete` says of what has expired that it was there."""

    async def delete(self, record_id: UUID) -> bool:
        was_there = self.row(record_id) is not None
        return await super().delete(record_id) or was_there


@mutant("R-14d")
class LeavesLinksToNothing(Records):
    """Links to what was erased stay as they are."""

    def _erase(self, rows: Iterable[RecordRow], now: int) -> int:
        erased = list(rows)
        for row in erased:
            self._index.remove(row.id.int)
            self._unlink(row)
        return sum(not row.is_expired(now) for row in erased)


@mutant("R-14e")
class RevivesTheParts(Records):
    """What a deleted record had superseded is valid again, if nothing else succeeds it."""

    async def delete(self, record_id: UUID) -> bool:
        before = list(self._predecessors.get(record_id, ()))
        was_there = await super().delete(record_id)
        for row in self._rows(before).values():
            if row.superseded_by is None:
                self._change(row._replace(invalid_at=None))
        return was_there


@mutant("R-14f")
class NeverForgetsAnId(Records):
    """An id that was deleted cannot be used again."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deleted: set[UUID] = set()

    async def delete(self, record_id: UUID) -> bool:
        self._deleted.add(record_id)
        return await super().delete(record_id)

    async def write(self, changes: Any) -> list[MemoryRecord]:
        if any(getattr(change, "id", None) in self._deleted for change in changes):
            raise MemoryConflict("it was deleted")
        return await super().write(changes)


@mutant("R-14g")
class PurgesNoRecords(FileRecords):
    """`purge` does nothing."""

    async def purge(self) -> None:
        """Leave the file as it is."""


class _ErasesMore(Records):
    """Erases what is like the scope."""

    def is_meant(self, record: MemoryRecord, scope: Mapping[str, str]) -> bool:
        return record.scope.contains(scope)

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        await super().delete_where({"no such": "scope"} if scope else scope, kinds=kinds)  # which refuses what it must
        meant = [record for record in (await self.scan(limit=10_000)).records if self.is_meant(record, scope)]
        wanted = [record.id for record in meant if kinds is None or record.kind in kinds]
        return self._erase(self._rows(wanted).values(), self._clock())


@mutant("R-19a")
class ErasesByPrefix(_ErasesMore):
    """A scope is erased with all whose values begin as its own."""

    def is_meant(self, record: MemoryRecord, scope: Mapping[str, str]) -> bool:
        return all(record.scope.get(key, "\x00").startswith(value) for key, value in scope.items())


@mutant("R-19b")
class SparesInternalKinds(_ErasesMore):
    """Internal kinds are erased only where they are named."""

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        memory: tuple[Kind, ...] = ("fact", "preference", "episode", "profile")
        return await super().delete_where(scope, kinds=memory if kinds is None else kinds)


@mutant("R-19c")
class AnEmptyScopeIsEverything(Records):
    """An empty scope erases everything."""

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        if not scope:
            self.clear()
            return 0
        return await super().delete_where(scope, kinds=kinds)


@mutant("R-19d")
class CutsChains(Records):
    """When a scope is erased, what stood before has no successor any more."""

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        rows = {entry.row.id: entry.row.superseded_by for entry in self._index.entries.values()}
        count = await super().delete_where(scope, kinds=kinds)
        for row in self._rows(rows).values():
            if row.superseded_by != rows[row.id]:
                self._change(row._replace(superseded_by=None))
        return count
