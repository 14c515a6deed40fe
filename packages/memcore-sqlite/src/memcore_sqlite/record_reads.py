# ruff: noqa: S608 - the SQL is put together from constants of this package, and every value is bound
"""Reading records: each function is a job over one snapshot, at the store's own time (R-15, R-16, R-18, R-20)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memcore.kit.terms import scope_terms, tag_term
from memcore.records.chain import Link, component, shown, unknown_links
from memcore.records.model import MemoryHit
from memcore.records.rows import decode_record

from memcore_sqlite.record_table import RECORDS, decode_link, decode_row, ended_term
from memcore_sqlite.search import Conditions, best, matching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

    from memcore.records.model import MemoryRecord
    from memcore.records.query import CheckedRecordQuery
    from memcore.records.rows import RecordRow

    from memcore_sqlite.index import Columns
    from memcore_sqlite.search import Clause, Group
    from memcore_sqlite.session import Session

    Clock = Callable[[], int]

_COLUMNS: Final = f"SELECT {RECORDS.select_columns} FROM records i"
_NOT_EXPIRED: Final = "(i.expires_at IS NULL OR i.expires_at > ?)"
_GET: Final = f"{_COLUMNS} WHERE i.namespace = ? AND i.id = ?"
_PAGE: Final = f"{_COLUMNS} WHERE i.namespace = ? AND i.id > ? AND {_NOT_EXPIRED} ORDER BY i.id LIMIT ?"
_COUNT: Final = (
    "SELECT (SELECT count(*) FROM records WHERE namespace = ?)"
    " - (SELECT count(*) FROM records WHERE namespace = ? AND expires_at <= ?)"
)
_LINK: Final = "SELECT superseded_by, expires_at FROM records WHERE namespace = ? AND id = ?"
_LINKED: Final = f"""
    WITH RECURSIVE linked (id) AS (
        SELECT ?2
        UNION SELECT r.superseded_by FROM linked l CROSS JOIN records r ON r.namespace = ?1 AND r.id = l.id
            WHERE r.superseded_by IS NOT NULL
        UNION SELECT r.id FROM linked l CROSS JOIN records r ON r.namespace = ?1 AND r.superseded_by = l.id
    )
    SELECT {RECORDS.select_columns} FROM linked l CROSS JOIN records i ON i.namespace = ?1 AND i.id = l.id
"""


def get(session: Session, record_id: UUID, clock: Clock) -> MemoryRecord | None:
    """Return the record of an id (R-15)."""
    now = clock()
    rows = map(decode_row, session.execute(_GET, (session.number, record_id.bytes)).fetchall())
    return next(iter(decode(session, [row for row in rows if not row.is_expired(now)], now)), None)


def find_newest(session: Session, query: CheckedRecordQuery, clock: Clock) -> list[MemoryHit]:
    """Return the newest records that meet a query without text."""
    now = clock()
    columns = matching(session, RECORDS, _conditions(query, session.namespace, now), query.limit)
    return [MemoryHit(record=record, score=None) for record in _decode_columns(session, columns, now)]


def find_best(session: Session, query: CheckedRecordQuery, clock: Clock) -> list[MemoryHit]:
    """Return the best of the records that share a word with a query and meet it."""
    now = clock()
    conditions = _conditions(query, session.namespace, now)
    found = best(session, RECORDS, query.words, conditions, query.limit)
    records = _decode_columns(session, [columns for columns, _ in found], now)
    return [MemoryHit(record=record, score=score) for record, (_, score) in zip(records, found, strict=True)]


def in_scope(scope: Iterable[bytes]) -> Conditions:
    """Return the condition that a record's scope has all these terms, whatever became of it."""
    return Conditions(scope=tuple((term, ended_term(term)) for term in scope))


def history(session: Session, record_id: UUID, clock: Clock) -> list[MemoryRecord]:
    """Return all that is linked with a record, oldest first (R-20)."""
    now = clock()
    rows = map(decode_row, session.execute(_LINKED, (session.number, record_id.bytes)))
    return [decode_record(row) for row in component(record_id, rows, now)]


def page(session: Session, after: bytes, size: int, clock: Clock) -> list[MemoryRecord]:
    """Return records in order of id (R-20)."""
    now = clock()
    return _decode_columns(session, session.execute(_PAGE, (session.number, after, now, size)).fetchall(), now)


def count(session: Session, clock: Clock) -> int:
    """Return how many records there are (R-20)."""
    ((counted,),) = session.execute(_COUNT, (session.number, session.number, clock()))
    return int(counted)


def decode(session: Session, rows: Sequence[RecordRow], now: int) -> list[MemoryRecord]:
    """Return the records of rows, linked as they are shown (R-16)."""
    known: dict[UUID, Link | None] = {}
    while unknown := unknown_links(rows, known, now):
        known.update([(record_id, _link(session, record_id)) for record_id in unknown])
    return [decode_record(shown(row, known, now)) for row in rows]


def _decode_columns(session: Session, found: Iterable[Columns], now: int) -> list[MemoryRecord]:
    return decode(session, list(map(decode_row, found)), now)


def _link(session: Session, record_id: UUID) -> Link | None:
    found = session.execute(_LINK, (session.number, record_id.bytes)).fetchone()
    return None if found is None else Link(decode_link(found[0]), found[1])


def _conditions(query: CheckedRecordQuery, namespace: str, now: int) -> Conditions:
    """Return the conditions of a query, in the order and the sense of `CheckedRecordQuery.is_met_by`."""
    only_valid = query.as_of is None and not query.include_invalidated

    def group(*terms: bytes) -> Group:
        return terms if only_valid else (*terms, *map(ended_term, terms))

    tags = [tag_term(namespace, tag) for tag in query.tags]
    groups = [group(tag) for tag in tags] if query.all_tags else [group(*tags)] if tags else []
    scope = tuple(group(term) for term in scope_terms(namespace, query.scope))
    return Conditions(tuple(groups), scope, tuple(_clauses(query, now)))


def _clauses(query: CheckedRecordQuery, now: int) -> list[Clause]:
    # a plus keeps SQLite from taking an index that has another order
    clauses: list[Clause] = [_one_of("+i.kind", query.kinds)]
    if query.tiers is not None:
        clauses.append(_one_of("+i.tier", query.tiers))
    if query.as_of is None:
        clauses.append((_NOT_EXPIRED, (now,)))
    else:
        clauses += [(_NOT_EXPIRED, (max(now, query.as_of),)), ("i.created_at <= ?", (query.as_of,))]
    if not query.include_invalidated:
        is_valid = ("i.invalid_at IS NULL", ())
        was_valid = ("(i.invalid_at IS NULL OR i.invalid_at > ?)", (query.as_of,))
        clauses.append(is_valid if query.as_of is None else was_valid)
    if query.after is not None:
        created_at, record_id = query.after
        clauses.append(("(i.created_at, i.id) < (?, ?)", (created_at, record_id.bytes)))
    return clauses


def _one_of(column: str, values: Iterable[str]) -> Clause:
    wanted = tuple(sorted(values))
    return f"{column} IN ({', '.join('?' * len(wanted))})", wanted
