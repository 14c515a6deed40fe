"""Stores in which superseding goes wrong: two winners, lost links, losers that learn the wrong thing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from memcore import Invalidation, MemoryConflict, MemoryNotFound, MemoryWrite
from memcore.records.chain import conflict
from memcore.records.rows import MICROSECOND, decode_record
from memcore_sqlite.records import SqliteRecords

from mutants import RECORD_EXTENSIONS, KeptRecords, Records, mutant
from mutants.records_parts import Shows, Writes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryHit, MemoryRecord, RecordQuery
    from memcore.records.rows import RecordRow

    Changes = Sequence[MemoryWrite | Invalidation]


@mutant("R-12a")
class EndsAMomentLater(Shows):
    """What is superseded ends a microsecond after its successor has begun."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        return {"invalid_at": record.invalid_at + MICROSECOND} if record.invalid_at and record.superseded_by else {}


@mutant("R-12b")
class SupersedesOne(Writes):
    """A merge supersedes its first predecessor alone."""

    def given(self, write: MemoryWrite) -> dict[str, Any]:
        return {"supersedes": write.supersedes[:1]}


@mutant("R-12c")
class SupersedesNothing(Writes):
    """What is unknown is superseded without a word."""

    def given(self, write: MemoryWrite) -> dict[str, Any]:
        return {"supersedes": tuple(old for old in write.supersedes if self.row(old))}


@mutant("R-12d")
class SupersedesTheExpired(Writes):
    """What has expired is superseded without a word."""

    def given(self, write: MemoryWrite) -> dict[str, Any]:
        rows = {old: self.row(old) for old in write.supersedes}
        return {"supersedes": tuple(old for old, row in rows.items() if not row or not row.is_expired(self._clock()))}


@mutant("R-12e")
class TellsTheNext(Records):
    """The loser learns the direct successor, if that is valid, and not the head."""

    def _conflict(self, ended: RecordRow, now: int) -> Exception:
        after = ended.superseded_by
        return conflict(ended, self._rows([after]).get(after) if after else None, now)


@mutant("R-12f")
class TellsADeadHead(Records):
    """The loser learns the last record of the chain, although that has ended."""

    def _conflict(self, ended: RecordRow, now: int) -> Exception:
        last = ended
        while last.superseded_by and (after := self._rows([last.superseded_by])):
            (last,) = after.values()
        return MemoryConflict("it has ended", current=decode_record(last))


@mutant("R-12g")
class EndsLast(Records):
    """What a call invalidates is invalidated after all that it writes, which may supersede it."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        order = sorted(range(len(changes)), key=lambda place: isinstance(changes[place], Invalidation))
        answer = await super().write([changes[place] for place in order])
        return [answer[order.index(place)] for place in range(len(changes))]


@mutant("R-12h")
class TheLastWins(Writes):
    """Whether a record is valid is looked up first, and superseded later: two writers win."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        olds = [old for change in changes if isinstance(change, MemoryWrite) for old in change.supersedes]
        valid = [row for row in map(self.row, olds) if row and row.invalid_at is None]
        await asyncio.sleep(0)
        for row in valid:
            if self.row(row.id):
                self._change(row)
        return await super().write(changes)


@mutant("R-12j")
class TellsTheLoserItself(Records):
    """The loser learns the record that it wanted to supersede."""

    def _conflict(self, ended: RecordRow, now: int) -> Exception:
        return MemoryConflict("it has ended", current=decode_record(ended))


class _InTwoSteps(SqliteRecords):
    """Writes the new record, and then the end of the old one, which was valid before."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        supersedes = [old for change in changes if isinstance(change, MemoryWrite) for old in change.supersedes]
        olds = [await self.get(old) for old in supersedes]
        if not olds or None in olds or any(old and old.invalid_at for old in olds):
            return await super().write(changes)
        plain = [
            change.model_copy(update={"supersedes": ()}) if isinstance(change, MemoryWrite) else change
            for change in changes
        ]
        await asyncio.sleep(0.01)
        answer = await super().write(plain)
        update = {"invalid_at": answer[0].created_at, "updated_at": answer[0].created_at, "superseded_by": answer[0].id}
        await self.restore([old.model_copy(update=update) for old in olds if old])
        return answer


class _Shared(KeptRecords):
    lifetime: ClassVar[dict[str, Any]] = {"extensions": RECORD_EXTENSIONS, "durable": False, "power_safe": False}


@mutant("R-12i")
class SupersedesWithoutTransaction(_Shared):
    """Superseding takes two steps: of several backends more than one wins."""

    Records = _InTwoSteps


@mutant("R-12p")
class SupersedesBesideAnotherProcess(_Shared):
    """Superseding takes two steps: of two processes both win."""

    Records = _InTwoSteps


@mutant("R-12k")
class RemembersTheHead(_Shared):
    """A search is made once, and never again."""

    class Records(SqliteRecords):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._found: dict[str, list[MemoryHit]] = {}

        async def search(self, query: RecordQuery) -> list[MemoryHit]:
            if repr(query) not in self._found:
                self._found[repr(query)] = await super().search(query)
            return list(self._found[repr(query)])


@mutant("R-15p")
class RemembersWhatItGot(_Shared):
    """A record that was read or written once is not read again until this backend writes."""

    class Records(SqliteRecords):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._known: dict[UUID, MemoryRecord | None] = {}

        async def get(self, record_id: UUID) -> MemoryRecord | None:
            if record_id not in self._known:
                self._known[record_id] = await super().get(record_id)
            known = self._known[record_id]
            return known and known.model_copy()

        async def write(self, changes: Changes) -> list[MemoryRecord]:
            self._known.clear()
            return await super().write(changes)


@mutant("R-13a")
class ForgetsTheActor(Shows):
    """Nobody knows who invalidated a record."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        return {"invalidated_by": None}


@mutant("R-13b")
class TheLastEndStands(Writes):
    """A record that was invalidated is invalidated again, for the new reason."""

    async def write(self, changes: Changes) -> list[MemoryRecord]:
        for change in changes:
            row = self.row(change.id)
            if isinstance(change, Invalidation) and row and row.superseded_by is None:
                self._change(row._replace(invalid_at=None, ending=None))
        return await super().write(changes)


@mutant("R-13c")
class TheUnknownHasEnded(Records):
    """Invalidating what is unknown is no error."""

    async def invalidate(self, record_id: UUID, reason: str | None = None, actor: str | None = None) -> Any:
        try:
            return await super().invalidate(record_id, reason, actor)
        except MemoryNotFound:
            return None
