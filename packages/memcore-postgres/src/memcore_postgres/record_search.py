"""What is asked for, as conditions on the table of records; every one of them holds before the limit (R-16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.kit.terms import namespace_term, scope_terms, tag_term
from memcore.records.model import MemoryHit
from memcore.records.rows import decode_record

from memcore_postgres import search
from memcore_postgres.record_rows import record_row, records_table, shown_table, time, unexpired
from memcore_postgres.search import Clauses

if TYPE_CHECKING:
    from memcore.records.query import CheckedRecordQuery

    from memcore_postgres.search import Fetch, Table


async def find(
    fetch: Fetch, schema: str, query: CheckedRecordQuery, *, namespace: str, told: int | None
) -> list[MemoryHit]:
    """Return the best matches, or without words the newest; at the time that is told, or else the server's."""
    clauses = Clauses(namespace)
    now = time(clauses.bind(told))
    table = _read_as(schema, query, now)
    _add_terms(clauses, query, namespace)
    _add_state(clauses, query, now)
    if not query.words:
        rows = await search.newest(fetch, table, clauses, query.limit)
        return [MemoryHit(record=decode_record(record_row(row)), score=None) for row in rows]
    ranked = await search.best(fetch, table, clauses, query.words, query.limit)
    return [MemoryHit(record=decode_record(record_row(row)), score=score) for row, score in ranked]


def _read_as(schema: str, query: CheckedRecordQuery, now: str) -> Table:
    """Return the table: what has not ended has no successor that might be shown differently."""
    has_ended = query.include_invalidated or query.as_of is not None
    return shown_table(schema, now) if has_ended else records_table(schema)


def _add_terms(clauses: Clauses, query: CheckedRecordQuery, namespace: str) -> None:
    terms = scope_terms(namespace, query.scope)
    tags = [tag_term(namespace, tag) for tag in query.tags]
    if tags and query.all_tags:
        terms += tags
    elif tags:
        clauses.add_any(tags)
    if query.words and not terms:
        terms = [namespace_term(namespace)]
    if terms:
        clauses.add_all(terms)


def _add_state(clauses: Clauses, query: CheckedRecordQuery, now: str) -> None:
    """Add what `CheckedRecordQuery.is_met_by` says."""
    as_of = None if query.as_of is None else f"{clauses.bind(query.as_of)}::bigint"
    clauses.add(unexpired(now if as_of is None else f"greatest({now}, {as_of})"))
    clauses.add("kind = ANY({}::text[])", sorted(query.kinds))
    if query.tiers is not None:
        clauses.add("tier = ANY({}::text[])", sorted(query.tiers))
    if as_of is not None:
        clauses.add(f"created_at <= {as_of}")
    if not query.include_invalidated:
        clauses.add("invalid_at IS NULL" if as_of is None else f"(invalid_at IS NULL OR invalid_at > {as_of})")
    if query.after is not None:
        clauses.add("(created_at, id) < ({}::bigint, {}::uuid)", *query.after)
