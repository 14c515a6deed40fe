"""Writes that are not one transaction, or not the same when they are made again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from memcore import (
    MemoryAdapterError,
    MemoryConflict,
    MemoryNotFound,
    MemoryWrite,
    UnsupportedMemoryItem,
)
from memcore_sqlite.records import SqliteRecords

from mutants import FileRecords, Records, mutant
from mutants.records_parts import Shows, Writes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import Invalidation, MemoryRecord

    Changes = Sequence[MemoryWrite | Invalidation]


@mutant("R-10a")
class AnswersBackwards(Records):
    """The answer has the last change first."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        return (await super().write(changes))[::-1]


@mutant("R-10b")
class NothingIsTooLittle(Records):
    """A call without changes is refused."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        if not changes:
            raise UnsupportedMemoryItem(field="changes", reason="there are none")
        return await super().write(changes)


@mutant("R-10c")
class LeavesWhatWentBefore(Records):
    """When a change cannot be carried out, the first of the call stands."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        try:
            return await super().write(changes)
        except (MemoryConflict, MemoryNotFound):
            if len(changes) > 1:
                await super().write(changes[:1])
            raise


@mutant("R-10d")
class OneTimeACall(Records):
    """All that is written in one call has the same time."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        answer = await super().write(changes)
        for record in answer[1:]:
            row = self._index.entries[record.id.int].row
            first = self._index.entries[answer[0].id.int].row.created_at
            if row.created_at > first and row.superseded_by is None and row.invalid_at is None:
                self._change(row._replace(created_at=first, updated_at=first))
        return self._decode([self._index.entries[record.id.int].row for record in answer], self._clock())


@mutant("R-10e")
class NeverUpdated(Shows):
    """The end of a record does not move `updated_at`."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        return {"updated_at": record.created_at}


@mutant("R-10f")
class AppearsPieceByPiece(Records):
    """A batch is written in halves, between which others come to their turn."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        half = len(changes) // 2
        first = await super().write(changes[:half])
        await asyncio.sleep(0)
        return first + await super().write(changes[half:])


@mutant("R-10g")
class TuplesAreLists(Writes):
    """A tuple in a payload is kept as a list."""

    def given(self, write: MemoryWrite) -> dict[str, Any]:
        return {"payload": list(write.payload)} if type(write.payload) is tuple else {}


@mutant("R-10h")
class ChainsWithinACall(Records):
    """A record that supersedes one of the same call is written all the same."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        new = {change.id for change in changes if isinstance(change, MemoryWrite)}
        kept = [
            change.model_copy(update={"supersedes": tuple(old for old in change.supersedes if old not in new)})
            if isinstance(change, MemoryWrite)
            else change
            for change in changes
        ]
        return await super().write(kept)


@mutant("R-10i")
class RefusesRecordsTooLate(FileRecords):
    """The file is asked before a change is refused."""

    class Records(SqliteRecords):
        async def write(self, changes: Changes) -> list[MemoryRecord]:
            await self.get(changes[0].id)
            return await super().write(changes)


@mutant("R-10j")
class AnyLength(Records):
    """The limit of the content does not hold for records."""

    def __init__(self, lifecycle: Any, limits: Any, **options: Any) -> None:
        super().__init__(lifecycle, limits.model_copy(update={"content": 10**6}), **options)


@mutant("R-11a")
class ARetryIsAnUpdate(Writes):
    """A write that is made again moves `updated_at`."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        known = [row for row in (self.row(change.id) for change in changes) if row]
        answer = await super().write(changes)
        for row in known:
            self._change(self._index.entries[row.id.int].row._replace(updated_at=row.updated_at + 1))
        return answer


@mutant("R-11b")
class ARetryRevives(Writes):
    """A write that is made again makes its record valid again."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        for row in [self.row(change.id) for change in changes if isinstance(change, MemoryWrite)]:
            if row:
                self._change(row._replace(invalid_at=None, ending=None, superseded_by=None))
        return await super().write(changes)


@mutant("R-11c")
class ConflictsWithItself(Writes):
    """Conflicts are looked for before the id: a retry conflicts with what it has done itself."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        for old in [old for change in changes if isinstance(change, MemoryWrite) for old in change.supersedes]:
            row = self.row(old)
            if row and row.invalid_at is not None:
                raise self._conflict(row, self._clock())
        return await super().write(changes)


@mutant("R-11d")
class TheIdIsEnough(Writes):
    """A write of a known id is taken for a retry, whatever it holds."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        known = {change.id for change in changes if isinstance(change, MemoryWrite) and self.row(change.id)}
        await super().write([change for change in changes if change.id not in known])
        return self._decode([self._index.entries[change.id.int].row for change in changes], self._clock())


@mutant("R-11e")
class OnceACall(Records):
    """The same write twice in a call is a conflict."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        ids = [change.id for change in changes if isinstance(change, MemoryWrite)]
        if len(set(ids)) < len(ids):
            raise MemoryConflict("the same id twice")
        return await super().write(changes)


@mutant("R-11f")
class LooksBeforeItWrites(Writes):
    """Whether a write was made before is looked up first; made at once, it fails."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        known = [change.id for change in changes if self.row(change.id)]
        await asyncio.sleep(0)
        if known != [change.id for change in changes if self.row(change.id)]:
            raise MemoryAdapterError("the key is there already")
        return await super().write(changes)


@mutant("R-11g")
class TheOrderCounts(Records):
    """A merge with its predecessors in another order is another write."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._first: dict[UUID, tuple[UUID, ...]] = {}

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        for change in changes:
            if isinstance(change, MemoryWrite) and self._first.setdefault(change.id, change.supersedes) != (
                change.supersedes
            ):
                raise MemoryConflict("another write", current=await self.get(change.id))
        return await super().write(changes)
