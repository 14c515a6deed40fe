# ruff: noqa: S608 - the SQL is put together from constants of this package, and every value is bound
"""Changing records: each function is a job of the writer, at the store's time, read after locking (R-10 to R-22).

A job first checks and then writes, so that one that refuses costs the others of its group nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memcore.kit.query import LARGEST_LIMIT
from memcore.records.chain import (
    NotValid,
    apply,
    archived,
    conflict,
    heirs,
    idle_bounds,
    named_ids,
    refreshed,
    touched,
    valid,
)
from memcore.records.store import SweepReport

from memcore_sqlite.index import Entry, add_terms, erase, find, note_erasure, put, remove_terms, stored_terms
from memcore_sqlite.record_reads import decode, in_scope
from memcore_sqlite.record_table import RECORDS, decode_row, derived_for, encode_link, encode_row, ended_term
from memcore_sqlite.schema import IDLE_SINCE
from memcore_sqlite.search import matching

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from memcore.errors import MemoryConflict
    from memcore.records.chain import Thresholds
    from memcore.records.model import Kind, MemoryRecord, Tier
    from memcore.records.rows import EncodedChange, RecordRow
    from memcore.records.store import SweepPolicy

    from memcore_sqlite.index import Derived, Row
    from memcore_sqlite.record_reads import Clock
    from memcore_sqlite.session import Session

_UPDATE: Final = (
    "UPDATE records SET updated_at = ?, tier = ?, invalid_at = ?, ending = ?, superseded_by = ?, hits = ?,"
    " last_hit_at = ?, refreshed_at = ? WHERE seq = ?"
)
_LINK_ON: Final = "UPDATE records SET superseded_by = ? WHERE namespace = ? AND superseded_by = ?"
_HEAD: Final = f"""
    WITH RECURSIVE chain (id) AS (
        SELECT ?2
        UNION SELECT r.superseded_by FROM chain c CROSS JOIN records r ON r.namespace = ?1 AND r.id = c.id
            WHERE r.superseded_by IS NOT NULL
    )
    SELECT {RECORDS.select_columns} FROM chain c CROSS JOIN records i ON i.namespace = ?1 AND i.id = c.id
    WHERE i.invalid_at IS NULL
"""
_EXPIRED: Final = f"{RECORDS.select_row} WHERE i.namespace = ? AND i.expires_at <= ? LIMIT ?"
_IDLE: Final = (
    f"{RECORDS.select_row} WHERE i.namespace = ? AND i.tier = ? AND {IDLE_SINCE} <= ? AND i.invalid_at IS NULL LIMIT ?"
)


class Stored(NamedTuple):
    """A stored record, as its table has it and as the contract does."""

    kept: Row
    row: RecordRow


def write(
    session: Session, changes: Sequence[EncodedChange], derived: Mapping[UUID, Derived], clock: Clock
) -> list[MemoryRecord]:
    """Carry out all changes or none (R-10 to R-13)."""
    stored = _find(session, named_ids(changes))
    now = clock()
    try:
        outcome = apply(changes, {record_id: one.row for record_id, one in stored.items()}, now)
    except NotValid as error:
        raise _conflict(session, error.ended, now) from None
    for row in outcome.changed:
        _change(session, stored[row.id], row)
    if outcome.inserted:
        new = [Entry(encode_row(row), derived_for(derived[row.id], row)) for _, row in outcome.inserted]
        put(session, RECORDS, new)
    return decode(session, outcome.answer, now)


def delete(session: Session, record_id: UUID, clock: Clock) -> bool:
    """Erase a record; tell whether it was there (R-14)."""
    return _erase(session, _find(session, [record_id]).values(), clock()) == 1


def delete_where(session: Session, scope: Sequence[bytes], kinds: frozenset[Kind] | None, clock: Clock) -> int:
    """Erase what a scope, given as its terms, contains (R-19)."""
    found = map(decode_row, matching(session, RECORDS, in_scope(scope), LARGEST_LIMIT))
    wanted = [row.id for row in found if kinds is None or row.kind in kinds]
    return _erase(session, _find(session, wanted).values(), clock())


def touch(session: Session, record_ids: Sequence[UUID], thresholds: Thresholds, clock: Clock) -> int:
    """Count a use of each record (R-21)."""
    now = clock()
    found = [one for one in _find(session, record_ids).values() if not one.row.is_expired(now)]
    for one in found:
        _change(session, one, touched(one.row, now, thresholds))
    return len(found)


def refresh(session: Session, record_id: UUID, tier: Tier | None, clock: Clock) -> MemoryRecord:
    """Set back the idle clock, and raise the tier (R-21)."""
    stored = _find(session, [record_id])
    now = clock()
    try:
        row = refreshed(valid(stored[record_id].row if stored else None, record_id, now), now, tier)
    except NotValid as error:
        raise _conflict(session, error.ended, now) from None
    _change(session, stored[record_id], row)
    (record,) = decode(session, [row], now)
    return record


def sweep(session: Session, policy: SweepPolicy, clock: Clock) -> SweepReport:
    """Erase what has expired and archive what lies idle, one batch at most (R-21)."""
    now = clock()
    erased = _erase_expired(session, now, policy.batch)
    archived_now = 0
    for tier, bound in idle_bounds(policy, now).items():
        left = policy.batch - erased - archived_now
        idle = _select(session, _IDLE, (session.number, tier, bound, left))
        for one in idle:
            _change(session, one, archived(one.row, now))
        archived_now += len(idle)
    return SweepReport(erased=erased, archived=archived_now)


def restore(session: Session, rows: Iterable[tuple[RecordRow, Derived]]) -> None:
    """Write records as they were (R-22)."""
    put(session, RECORDS, [Entry(encode_row(row), derived_for(derived, row)) for row, derived in rows])


def _find(session: Session, record_ids: Iterable[UUID]) -> dict[UUID, Stored]:
    """Return what is stored under these ids."""
    found = ((record_id, find(session, RECORDS, record_id.bytes)) for record_id in record_ids)
    return {record_id: Stored(kept, decode_row(kept.columns)) for record_id, kept in found if kept is not None}


def _select(session: Session, statement: str, values: tuple[object, ...]) -> list[Stored]:
    kept = map(RECORDS.row, session.execute(statement, values).fetchall())
    return [Stored(one, decode_row(one.columns)) for one in kept]


def _change(session: Session, stored: Stored, row: RecordRow) -> None:
    """Keep what became of a record; one that ends changes its place in the term index."""
    link = encode_link(row.superseded_by)
    uses = (row.hits, row.last_hit_at, row.refreshed_at)
    values = (row.updated_at, row.tier, row.invalid_at, row.ending, link, *uses, stored.kept.seq)
    session.execute(_UPDATE, values)
    if stored.row.invalid_at is None and row.invalid_at is not None:
        terms = stored_terms(session, RECORDS, stored.kept)
        remove_terms(session, RECORDS, terms)
        add_terms(session, RECORDS, [(ended_term(term), created_at, seq) for term, created_at, seq in terms])


def _erase_expired(session: Session, now: int, most: int) -> int:
    expired = _select(session, _EXPIRED, (session.number, now, most))
    _erase(session, expired, now)
    return len(expired)


def _erase(session: Session, stored: Iterable[Stored], now: int) -> int:
    """Erase records, link their predecessors to their successors, and return how many had not expired."""
    erased = {one.row.id: one for one in stored}
    if erased:
        note_erasure(session)
    for one in erased.values():
        erase(session, RECORDS, one.kept)
    successors = heirs({record_id: one.row.superseded_by for record_id, one in erased.items()})
    links = [(encode_link(heir), session.number, record_id.bytes) for record_id, heir in successors.items()]
    session.executemany(_LINK_ON, links)
    return sum(not one.row.is_expired(now) for one in erased.values())


def _conflict(session: Session, ended: RecordRow, now: int) -> MemoryConflict:
    """Return the error that names the valid head of the chain, if there is one."""
    head = session.execute(_HEAD, (session.number, encode_link(ended.superseded_by))).fetchone()
    return conflict(ended, None if head is None else decode_row(head), now)
