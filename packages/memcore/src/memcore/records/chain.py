"""What a call does to stored rows, decided once for every backend; nothing here reads or writes anything.

An adapter locks and reads the rows that a call names, asks here what becomes of them at its own time `now` (in
microseconds since 1970, read after locking, R-18), and writes that. A row that has expired counts as absent everywhere,
so that a sweep never changes an answer (R-16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memcore.errors import MemoryConflict, MemoryNotFound
from memcore.kit import exact_json
from memcore.records.model import MOST_HITS, TIERS
from memcore.records.rows import (
    FIRST_TIME,
    LAST_TIME,
    MICROSECOND,
    EncodedInvalidation,
    EncodedWrite,
    decode_record,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from memcore.records.model import Tier
    from memcore.records.rows import EncodedChange, RecordRow
    from memcore.records.store import SweepPolicy

IDLE: Final = exact_json.encode(["idle", None], field="reason", max_chars=100)
"""The ending of a record that a sweep archives."""


class NotValid(MemoryConflict):
    """A record that was to be superseded or refreshed has ended already.

    An adapter catches it, reads the last row of the chain of `ended`, and raises what `conflict` makes of both.
    """

    def __init__(self, ended: RecordRow) -> None:
        super().__init__(f"record {ended.id} is not valid any more")
        self.ended = ended

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.ended,)


class Outcome(NamedTuple):
    """What a call of `write` does; each id stands once in one of the first two."""

    inserted: list[tuple[EncodedWrite, RecordRow]]
    changed: list[RecordRow]
    answer: list[RecordRow]
    """What the call returns, in input order."""


class Thresholds(NamedTuple):
    """Hits at which a tier rises (R-21)."""

    long: int
    permanent: int


class Link(NamedTuple):
    """What following a chain needs of a row."""

    superseded_by: UUID | None
    expires_at: int | None


# --- writing ---


def named_ids(changes: Iterable[EncodedChange]) -> set[UUID]:
    """Return the ids of all rows that `apply` has to know, as far as they are stored."""
    ids: set[UUID] = set()
    for change in changes:
        ids.add(change.id)
        if isinstance(change, EncodedWrite):
            ids.update(change.supersedes)
    return ids


def apply(changes: Sequence[EncodedChange], stored: Mapping[UUID, RecordRow], now: int) -> Outcome:
    """Decide what a call of `write` does, all of it or nothing (R-10 to R-13).

    Args:
        changes: what passed the door.
        stored: the locked rows of `named_ids(changes)`.
        now: the store's time; within the call it strictly rises, and never falls behind a predecessor.

    Raises:
        MemoryNotFound: a record to be superseded or invalidated is unknown or has expired.
        NotValid: a record to be superseded is not valid any more.
        MemoryConflict: the id of a write is that of a different one.
    """
    call = _Call(stored, now)
    for change in changes:
        if isinstance(change, EncodedInvalidation):
            call.invalidate(change)
        else:
            call.write(change)
    return Outcome(
        inserted=[(write, call.rows[write.id]) for write in call.inserted.values()],
        changed=[call.rows[record_id] for record_id in call.changed if record_id not in call.inserted],
        answer=[call.rows[change.id] for change in changes],
    )


class _Call:
    """The rows as the call has left them so far."""

    def __init__(self, stored: Mapping[UUID, RecordRow], now: int) -> None:
        self.rows = dict(stored)
        self.inserted: dict[UUID, EncodedWrite] = {}
        self.changed: dict[UUID, None] = {}
        self._now = now
        self._next = now

    def invalidate(self, change: EncodedInvalidation) -> None:
        row = present(self.rows.get(change.id), change.id, self._now)
        if row.invalid_at is None:
            self._end(row, self._time_after([row]), ending=change.ending)

    def write(self, change: EncodedWrite) -> None:
        known = self.rows.get(change.id)
        if known is not None:
            if not change.made(known):
                unseen = known.is_expired(self._now) or change.id in self.inserted
                current = None if unseen else decode_record(known)
                raise MemoryConflict(f"another record has the id {change.id}", current=current)
            return
        ended = [valid(self.rows.get(old), old, self._now) for old in change.supersedes]
        time = self._time_after(ended)
        for row in ended:
            self._end(row, time, superseded_by=change.id)
        self.rows[change.id] = change.born(time)
        self.inserted[change.id] = change

    def _end(self, row: RecordRow, time: int, *, ending: str | None = None, superseded_by: UUID | None = None) -> None:
        self.rows[row.id] = row._replace(invalid_at=time, updated_at=time, ending=ending, superseded_by=superseded_by)
        self.changed[row.id] = None

    def _time_after(self, rows: Iterable[RecordRow]) -> int:
        time = min(LAST_TIME, max([self._next, *(row.updated_at + 1 for row in rows)]))
        self._next = time + 1
        return time


def present(row: RecordRow | None, record_id: UUID, now: int) -> RecordRow:
    """Return the row if there is one that has not expired.

    Raises:
        MemoryNotFound: there is none.
    """
    if row is None or row.is_expired(now):
        raise MemoryNotFound(f"there is no record {record_id}")
    return row


def valid(row: RecordRow | None, record_id: UUID, now: int) -> RecordRow:
    """Return the row if there is one that is valid.

    Raises:
        MemoryNotFound: there is none, or it has expired.
        NotValid: it has ended.
    """
    found = present(row, record_id, now)
    if found.invalid_at is not None:
        raise NotValid(found)
    return found


def conflict(ended: RecordRow, last: RecordRow | None, now: int) -> MemoryConflict:
    """Return the error to raise for `NotValid`; `last` is the last row of the chain of `ended` (R-12)."""
    is_valid = last is not None and last.invalid_at is None and not last.is_expired(now)
    current = decode_record(last) if last is not None and is_valid else None
    how = "has been invalidated" if ended.superseded_by is None else "has been superseded"
    advice = "" if current is None else f"; the valid head of its chain is {current.id}"
    return MemoryConflict(f"record {ended.id} {how}{advice}", current=current)


# --- chains ---


def unknown_links(rows: Iterable[RecordRow], known: Mapping[UUID, Link | None], now: int) -> set[UUID]:
    """Return the ids that must be looked up before `shown` can tell what supersedes these rows.

    Ask again with what was found (`None` for what is not there) until nothing is unknown.
    """
    ends = {_follow(row.superseded_by, known, now) for row in rows if row.superseded_by is not None}
    return {end for end in ends if end is not None and end not in known}


def shown(row: RecordRow, known: Mapping[UUID, Link | None], now: int) -> RecordRow:
    """Return the row as it is shown: linked past successors that have expired, as if they had been swept (R-16)."""
    if row.superseded_by is None:
        return row
    end = _follow(row.superseded_by, known, now)
    return row if end == row.superseded_by else row._replace(superseded_by=end)


def _follow(record_id: UUID | None, known: Mapping[UUID, Link | None], now: int) -> UUID | None:
    """Return the first of a chain that has not expired, or of which nothing is known."""
    seen: set[UUID] = set()
    while record_id is not None and record_id not in seen:
        link = known.get(record_id)
        if link is None or link.expires_at is None or link.expires_at > now:
            return record_id
        seen.add(record_id)
        record_id = link.superseded_by
    return None


def component(record_id: UUID, rows: Iterable[RecordRow], now: int) -> list[RecordRow]:
    """Return all that is linked with a record by superseding, as it is shown, oldest first (R-20).

    `rows` are those that links lead to and from, in any number of steps, expired ones among them.
    """
    raw = {row.id: row for row in rows}
    links: dict[UUID, Link | None] = {key: Link(row.superseded_by, row.expires_at) for key, row in raw.items()}
    nodes = {key: shown(row, links, now) for key, row in raw.items() if not row.is_expired(now)}
    neighbours: dict[UUID, list[UUID]] = {key: [] for key in nodes}
    for key, row in nodes.items():
        if row.superseded_by in nodes and row.superseded_by is not None:
            neighbours[key].append(row.superseded_by)
            neighbours[row.superseded_by].append(key)
    found: dict[UUID, RecordRow] = {}
    waiting = [record_id] if record_id in nodes else []
    while waiting:
        key = waiting.pop()
        if key not in found:
            found[key] = nodes[key]
            waiting += neighbours[key]
    return sorted(found.values(), key=lambda row: (row.created_at, row.id))


def heirs(erased: Mapping[UUID, UUID | None]) -> dict[UUID, UUID | None]:
    """Return for each erased id what its predecessors are to be linked to: its successor that stays (R-14).

    Args:
        erased: the erased ids, each with its own `superseded_by`.
    """
    return {record_id: _heir(record_id, erased) for record_id in erased}


def _heir(record_id: UUID, erased: Mapping[UUID, UUID | None]) -> UUID | None:
    seen: set[UUID] = set()
    heir: UUID | None = record_id
    while heir in erased and heir is not None:
        if heir in seen:
            return None
        seen.add(heir)
        heir = erased[heir]
    return heir


# --- lifecycle ---


def touched(row: RecordRow, now: int, thresholds: Thresholds) -> RecordRow:
    """Return the row after one more use (R-21)."""
    hits = min(MOST_HITS, row.hits + 1)
    tier = row.tier
    if tier == "short" and hits >= thresholds.long:
        tier = "long"
    if tier == "long" and hits >= thresholds.permanent:
        tier = "permanent"
    return row._replace(hits=hits, tier=tier, last_hit_at=max(now, row.last_hit_at or now))


def refreshed(row: RecordRow, now: int, tier: Tier | None) -> RecordRow:
    """Return the row with its idle clock set back, and its tier raised if it has one and the other is higher (R-21)."""
    raised = row.tier if row.tier is None or tier is None else max(row.tier, tier, key=TIERS.index)
    return row._replace(tier=raised, refreshed_at=max(now, row.refreshed_at or now))


def idle_bounds(policy: SweepPolicy, now: int) -> dict[Tier, int]:
    """Return for each tier that decays the time such that a record idle since then, or for longer, is archived."""
    return {
        "short": max(FIRST_TIME, now - policy.short_idle // MICROSECOND),
        "long": max(FIRST_TIME, now - policy.long_idle // MICROSECOND),
    }


def archived(row: RecordRow, now: int) -> RecordRow:
    """Return the row as a sweep archives it: invalidated for the reason "idle"."""
    time = min(LAST_TIME, max(now, row.updated_at + 1))
    return row._replace(invalid_at=time, updated_at=time, ending=IDLE)
