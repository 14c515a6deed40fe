"""A plain model of a record store: what any sequence of calls has to answer, said as simply as possible.

It shares nothing with what the adapters decide by. Times are taken from the answers and held to what the contract says
of them; all that follows from them is worked out here. Its texts are words that no analysis changes.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from memcore import MemoryRecord, MemoryWrite

from memcore_conformance import expect
from memcore_conformance.verdicts import Mismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from memcore import Invalidation, RecordQuery

    Change = MemoryWrite | Invalidation

LONG_AFTER, PERMANENT_AFTER = 2, 5
_RANK: dict[str | None, int] = {None: -1, "short": 0, "long": 1, "permanent": 2}


class Refusal(NamedTuple):
    """What a call has to raise, and for a conflict the id that it has to tell."""

    kind: str
    current: UUID | None = None


class RecordModel:
    """The records by id, in a dict, what has expired among them until it is swept."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.records: dict[UUID, MemoryRecord] = {}
        self._made: dict[UUID, MemoryWrite] = {}

    # --- reading ---

    def get(self, record_id: UUID) -> MemoryRecord | None:
        """Return the record as it is shown: linked past what has expired."""
        record = self.records.get(record_id)
        if record is None or self.is_expired(record):
            return None
        after = record.superseded_by
        while after in self.records and self.is_expired(self.records[after]):
            after = self.records[after].superseded_by
        return record.model_copy(update={"superseded_by": after})

    def all(self) -> list[MemoryRecord]:
        """Return everything that has not expired, in order of id."""
        return [record for record_id in sorted(self.records) if (record := self.get(record_id))]

    def matching(self, query: RecordQuery) -> list[MemoryRecord]:
        """Return all that meets the conditions of a query, newest first."""
        found = [record for record in self.all() if self._meets(record, query)]
        return sorted(found, key=lambda record: (record.created_at, record.id), reverse=True)

    def history(self, record_id: UUID) -> list[MemoryRecord]:
        """Return all that is linked with a record, oldest first."""
        found = {record_id} if self.get(record_id) else set()
        links = [(record.id, record.superseded_by) for record in self.all() if record.superseded_by in self.records]
        for _ in links:
            found |= {end for link in links if not found.isdisjoint(link) for end in link if end is not None}
        return sorted(filter(None, map(self.get, found)), key=lambda record: (record.created_at, record.id))

    def is_expired(self, record: MemoryRecord) -> bool:
        """Tell whether its time is over."""
        return record.expires_at is not None and record.expires_at <= self.now

    # --- changing ---

    def refusal(self, changes: Sequence[Change]) -> Refusal | None:
        """Return what these changes have to raise, or `None` if they can be carried out; no two end the same record."""
        written = {change.id for change in changes if isinstance(change, MemoryWrite)}
        if any(not written.isdisjoint(change.supersedes) for change in changes if isinstance(change, MemoryWrite)):
            return Refusal("UnsupportedMemoryItem")
        made = dict(self._made)
        for change in changes:
            if not isinstance(change, MemoryWrite):
                refusal = None if change.id in made or self.get(change.id) else Refusal("MemoryNotFound")
            elif change.id in made or change.id in self.records:
                stored = change.id if change.id in self.records else None
                refusal = None if self._is_same(change, made) else Refusal("MemoryConflict", stored)
            else:
                refusal = next(filter(None, map(self.refusal_to_end, change.supersedes)), None)
                made[change.id] = change
            if refusal:
                return refusal
        return None

    def refusal_to_end(self, record_id: UUID) -> Refusal | None:
        """Return what superseding or refreshing that record has to raise."""
        record = self.get(record_id)
        if record is None:
            return Refusal("MemoryNotFound")
        return None if record.invalid_at is None else Refusal("MemoryConflict", self._head(self.records[record_id]))

    def write(self, changes: Sequence[Change], answer: Sequence[MemoryRecord]) -> None:
        """Carry out changes at the times that the answer tells, and hold the answer to them."""
        last = self.now - timedelta(microseconds=1)
        for change, told in zip(changes, answer, strict=True):
            if isinstance(change, MemoryWrite):
                if change.id in self.records:
                    continue
                last = self._born(change, told.created_at, last)
            elif self.records[change.id].invalid_at is None:
                record = self.records[change.id]
                last = self._end(record, told.invalid_at, last, reason=change.reason, actor=change.actor)
        for change, told in zip(changes, answer, strict=True):
            wanted = self.get(change.id)
            if wanted is not None:
                expect.same_record(told, wanted)

    def erase(self, ids: Iterable[UUID]) -> int:
        """Forget these, link past them, and tell how many had not expired."""
        gone = {record_id: self.records.pop(record_id) for record_id in set(ids) & self.records.keys()}
        for record in list(self.records.values()):
            after = record.superseded_by
            while after in gone:
                after = gone[after].superseded_by
            self._change(record, superseded_by=after)
        for record_id in gone:
            self._made.pop(record_id, None)
        return sum(not self.is_expired(record) for record in gone.values())

    def touch(self, ids: Iterable[UUID]) -> int:
        """Count a use of each, and tell how many there are."""
        there = [self.records[record_id] for record_id in set(ids) if self.get(record_id)]
        for record in there:
            hits, tier = record.hits + 1, record.tier
            tier = "long" if tier == "short" and hits >= LONG_AFTER else tier
            tier = "permanent" if tier == "long" and hits >= PERMANENT_AFTER else tier
            self._change(record, hits=hits, tier=tier, last_hit_at=self.now)
        return len(there)

    def refresh(self, record_id: UUID, tier: Any) -> None:  # noqa: ANN401 - a tier or none
        """Set back the idle clock, and raise the tier of a record that has one."""
        record = self.records[record_id]
        raised = record.tier and max(record.tier, tier, key=_RANK.__getitem__)
        self._change(record, tier=raised, refreshed_at=self.now)

    def idle(self, bounds: Mapping[str | None, timedelta]) -> list[MemoryRecord]:
        """Return what a sweep has to archive."""
        return [
            record
            for record in self.all()
            if record.invalid_at is None
            and record.tier in bounds
            and self.now - max(filter(None, (record.created_at, record.last_hit_at, record.refreshed_at)))
            >= bounds[record.tier]
        ]

    def archive(self, record: MemoryRecord, told: MemoryRecord) -> None:
        """End an idle record at the time that is told."""
        self._end(self.records[record.id], told.invalid_at, self.now - timedelta(microseconds=1), reason="idle")

    def restore(self, record: MemoryRecord) -> None:
        """Put a record in its place."""
        self.records[record.id] = record
        self._made.pop(record.id, None)

    def _is_same(self, write: MemoryWrite, made: Mapping[UUID, MemoryWrite]) -> bool:
        """Tell whether a write is the one that made the record; of a restored one, two fields are not known."""
        first: Any = made.get(write.id)
        unknown = set() if first else {"tier", "supersedes"}
        first = first or self.records[write.id]
        names = MemoryWrite.model_fields.keys() - unknown - {"supersedes"}
        if any(getattr(write, name) != getattr(first, name) for name in names):
            return False
        return bool(unknown) or sorted(write.supersedes) == sorted(first.supersedes)

    def _head(self, record: MemoryRecord) -> UUID | None:
        """Return the valid record at the end of a chain."""
        while record.superseded_by in self.records:
            record = self.records[record.superseded_by]
        return record.id if record.invalid_at is None and not self.is_expired(record) else None

    def _meets(self, record: MemoryRecord, query: RecordQuery) -> bool:
        moment = query.as_of
        tags = set(query.tags)
        match_tags = tags.issubset if query.match_tags == "all" else lambda other: not tags.isdisjoint(other)
        return (
            record.kind in (("fact", "preference", "episode", "profile") if query.kinds is None else query.kinds)
            and (query.tiers is None or record.tier in query.tiers)
            and query.scope.items() <= record.scope.items()
            and (not tags or match_tags(record.tags))
            and (not query.text or not words(record).isdisjoint(query.text.split()))
            and (moment is None or record.created_at <= moment)
            and (moment is None or record.expires_at is None or moment < record.expires_at)
            and (query.include_invalidated or _is_valid(record, moment))
        )

    def _born(self, write: MemoryWrite, time: datetime, last: datetime) -> datetime:
        old = [self.records[record_id] for record_id in write.supersedes]
        self._check_time(time, [last, *(record.updated_at for record in old)])
        for record in old:
            self._change(record, invalid_at=time, updated_at=time, superseded_by=write.id)
        part = {name: getattr(write, name) for name in MemoryWrite.model_fields if name != "supersedes"}
        self.records[write.id] = MemoryRecord.model_construct(**part, created_at=time, updated_at=time)
        self._made[write.id] = write
        return time

    def _end(
        self,
        record: MemoryRecord,
        time: datetime | None,
        last: datetime,
        *,
        reason: str | None,
        actor: str | None = None,
    ) -> datetime:
        ended = self._check_time(time, [last, record.updated_at])
        self._change(record, invalid_at=ended, updated_at=ended, invalid_reason=reason, invalidated_by=actor)
        return ended

    def _change(self, record: MemoryRecord, **fields: object) -> None:
        self.records[record.id] = self.records[record.id].model_copy(update=fields)

    def _check_time(self, time: datetime | None, before: Sequence[datetime]) -> datetime:
        """Expect a time that is not before the clock, and after all of these."""
        if time is None or time < self.now or any(time <= earlier for earlier in before):
            raise Mismatch(expected=f"a time from {self.now} on, after {max(before)}", got=str(time))
        return time


def words(record: MemoryRecord) -> set[str]:
    """Return the words of content, context and tags."""
    return {word for text in (record.content, record.context or "", *record.tags) for word in text.split()}


def _is_valid(record: MemoryRecord, moment: datetime | None) -> bool:
    return record.invalid_at is None or (moment is not None and moment < record.invalid_at)
