# ruff: noqa: S608 - the SQL is put together from constants and the names of a `Table`, and every value is bound
"""Search in SQL: exact conditions by their terms, words by FTS5, the order by the kit (I-66 to I-68, R-16).

What the caller wrote never becomes SQL or FTS5 syntax: tags, filters and scopes are digests, words are quoted one by
one.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from memcore.errors import MemoryAdapterUnavailable
from memcore.kit.ranking import CANDIDATES, Candidate, rank
from memcore.kit.text import ANALYSIS_VERSION

from memcore_sqlite.schema import analysis_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore_sqlite.index import Columns, Table
    from memcore_sqlite.session import Session

FEW: Final = 1_000
"""Rows up to which an exact condition is walked through and their words are looked at, instead of asking FTS5."""
_PRESELECTED: Final = 4
"""How many times the limit FTS5 chooses for the kit to rank, where more than the kit's bound match."""
_FEWEST: Final = 10
"""The limit below which it chooses no fewer: the kit counts words among the candidates."""
_MOST_ALTERNATIVES: Final = 10_000  # SQLite binds 32,766 values at most
_OTHER_NAMESPACE: Final = "SELECT 1 FROM namespaces WHERE number <> ? LIMIT 1"

Group = tuple[bytes, ...]
"""Terms of which a row must have at least one."""
Clause = tuple[str, tuple[object, ...]]
"""SQL over a row `i`, and its values."""
_Match = Candidate[int]
"""Keyed by the `seq` of its row."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What must hold exactly: of each group of terms at least one, and every clause."""

    groups: tuple[Group, ...] = ()
    scope: tuple[Group, ...] = ()
    """Groups whose first term is a word of the word index too, in its field `scope`."""
    clauses: tuple[Clause, ...] = ()


def matching(session: Session, table: Table, conditions: Conditions, limit: int) -> list[Columns]:
    """Return the rows that meet the conditions, newest first, by way of the rarest of them."""
    groups = conditions.scope + conditions.groups
    driver = _rarest(session, table, groups)
    where, values = _where(session, table, conditions.clauses, [group for group in groups if group is not driver])
    if not driver:
        listing = (
            f"SELECT {table.select_columns} FROM {table.name} i WHERE {where} ORDER BY i.created_at DESC, i.id DESC"
        )
        return session.execute(f"{listing} LIMIT ?", (*values, limit)).fetchall()
    # the index has this order, but for ties
    order = "ORDER BY t.created_at DESC, i.id DESC LIMIT ?"
    listing = f"SELECT {table.select_columns} {_of_term(table)} AND {where} {order}"
    pages = [session.execute(listing, (term, *values, limit)).fetchall() for term in driver]
    if len(pages) == 1:
        return pages[0]
    return [row for row, _ in groupby(heapq.merge(*pages, reverse=True))][:limit]


def best(
    session: Session, table: Table, words: Sequence[str], conditions: Conditions, limit: int
) -> list[tuple[Columns, float]]:
    """Return the best of the rows that share a word and meet the conditions, with their scores (I-66).

    Raises:
        MemoryAdapterUnavailable: the words were made by another version's analysis.
    """
    check_analysis(session)
    driver = _rarest(session, table, conditions.scope + conditions.groups)
    if driver and (len(driver) > _MOST_ALTERNATIVES or _count_terms(session, table, driver) <= FEW):
        candidates = _sharing(session, table, words, conditions, driver)
    else:
        candidates = _indexed(session, table, words, conditions, limit)
    ranked = rank(words, candidates, weights=table.weights, limit=limit)
    load = f"SELECT {table.select_columns} FROM {table.name} i WHERE i.seq = ?"
    return [(session.execute(load, (match.key,)).fetchone(), score) for match, score in ranked]


def check_analysis(session: Session) -> None:
    """Check that this version's analysis made the index, now: another process may have begun to rebuild it.

    Raises:
        MemoryAdapterUnavailable: it did not; an answer would silently lack rows.
    """
    if analysis_version(session) != ANALYSIS_VERSION:
        raise MemoryAdapterUnavailable(
            f"the words of {session.path or 'this database'} were made by another version's analysis, or are being "
            f"rebuilt; run: memcore reindex {session.url}"
        )


def _rarest(session: Session, table: Table, groups: Sequence[Group]) -> Group:
    """Return the group that leads to the fewest rows; one with too many alternatives to be a condition goes first."""
    if len(groups) <= 1:
        return groups[0] if groups else ()
    longest = max(groups, key=len)
    if len(longest) > _MOST_ALTERNATIVES:
        return longest
    return min(groups, key=lambda group: _count_terms(session, table, group))


def _count_terms(session: Session, table: Table, group: Group) -> int:
    """Count the rows of a group, each term up to a little more than a few."""
    count = f"SELECT count(*) FROM (SELECT 1 FROM {table.terms} t WHERE t.term = ? LIMIT ?)"
    return sum(session.execute(count, (term, FEW + 1)).fetchone()[0] for term in group)


def _of_term(table: Table) -> str:
    """Return where the rows come from that have a term."""
    rows = f"{table.terms} t CROSS JOIN {table.name} i ON i.seq = t.seq AND i.created_at = t.created_at"
    return f"FROM {rows} WHERE t.term = ?"


def _where(
    session: Session, table: Table, clauses: Sequence[Clause], groups: Sequence[Group]
) -> tuple[str, list[object]]:
    """Return SQL over a row `i` of the table, and its values."""
    parts = ["i.namespace = ?"]
    values: list[object] = [session.number]
    for part, bound in clauses:
        parts.append(part)
        values += bound
    for group in groups:
        marks = ", ".join("?" * len(group))
        has_one = f"SELECT 1 FROM {table.terms} o WHERE o.term IN ({marks})"
        parts.append(f"EXISTS ({has_one} AND o.created_at = i.created_at AND o.seq = i.seq)")
        values += group
    return _all(parts), values


def _all(parts: Sequence[str]) -> str:
    """Join by AND, nested evenly: SQLite takes no expression deeper than a thousand."""
    if len(parts) <= 2:  # noqa: PLR2004 - a pair
        return " AND ".join(parts)
    middle = len(parts) // 2
    return f"({_all(parts[:middle])}) AND ({_all(parts[middle:])})"


def _sharing(
    session: Session, table: Table, words: Sequence[str], conditions: Conditions, driver: Group
) -> list[_Match]:
    """Return the rows that meet the conditions and share a word, by way of a group of terms."""
    groups = [group for group in conditions.scope + conditions.groups if group is not driver]
    where, values = _where(session, table, conditions.clauses, groups)
    source = f"{_of_term(table)} AND {where}"
    found = {one.key: one for term in driver for one in _candidates(session, table, source, (term, *values))}
    wanted = frozenset(words)
    return [one for one in found.values() if not all(wanted.isdisjoint(field.split()) for field in one.fields)]


def _indexed(session: Session, table: Table, words: Sequence[str], conditions: Conditions, limit: int) -> list[_Match]:
    """Return the rows that meet the conditions and share a word, by way of FTS5: all, or those that it ranks first."""
    fields = " ".join(table.fields[: len(table.weights)])
    scope = "".join(f'scope : "{group[0].hex()}" AND ' for group in conditions.scope)
    match = f"{scope}{{{fields}}} : (" + " OR ".join(f'"{word}"' for word in words) + ")"
    where, values = _where(session, table, conditions.clauses, conditions.groups)
    found = f"FROM {table.words} WHERE {table.words} MATCH ?"
    rows = f"{table.words} CROSS JOIN {table.name} i ON i.seq = {table.words}.rowid"
    joined = f"FROM {rows} WHERE {table.words} MATCH ? AND {where}"
    if _count(session, found, (match,)) <= CANDIDATES:
        return _candidates(session, table, joined, (match, *values))
    if not scope and session.execute(_OTHER_NAMESPACE, (session.number,)).fetchone():
        match = f'namespace : "{session.number}" AND {match}'  # read this namespace's postings, not those of all
    elif conditions == Conditions():
        return _preselected(session, table, found, (match,), limit)
    if _count(session, joined, (match, *values)) <= CANDIDATES:
        return _candidates(session, table, joined, (match, *values))
    return _preselected(session, table, joined, (match, *values), limit)


def _preselected(session: Session, table: Table, source: str, values: Sequence[object], limit: int) -> list[_Match]:
    """Return the rows that FTS5 ranks first, of those that tie at the end the newest.

    Ties are the rule: short texts with one common word have few scores. All are scored once, and those that are not
    behind the last place are looked up.
    """
    count = _PRESELECTED * max(limit, _FEWEST)
    narrowing = len(table.fields) + 1 - len(table.weights)  # those columns count nothing
    score = f"bm25({table.words}, {', '.join(map(str, (*table.weights, *(0,) * narrowing)))})"
    scored = f"SELECT {table.words}.rowid AS seq, {score} AS score {source}"
    last = "SELECT max(score) FROM (SELECT score FROM scored ORDER BY score LIMIT ?)"
    chosen = f"FROM scored s CROSS JOIN {table.name} i ON i.seq = s.seq WHERE s.score <= ({last})"
    order = "ORDER BY s.score, i.created_at DESC, i.id DESC LIMIT ?"
    return _candidates(
        session, table, f"{chosen} {order}", (*values, count, count), before=f"WITH scored AS ({scored}) "
    )


def _count(session: Session, source: str, parameters: Sequence[object]) -> int:
    """Count what a source gives, up to one more than the kit ranks by itself."""
    counted = session.execute(f"SELECT count(*) FROM (SELECT 1 {source} LIMIT ?)", (*parameters, CANDIDATES + 1))
    return int(counted.fetchone()[0])


def _candidates(
    session: Session, table: Table, source: str, values: Sequence[object], *, before: str = ""
) -> list[_Match]:
    fields = ", ".join(f"i.{field}" for field in table.fields[: len(table.weights)])
    rows = session.execute(f"{before}SELECT i.seq, i.created_at, i.id, {fields} {source}", values)
    return [Candidate(seq, at / table.ticks, key, tuple(words)) for seq, at, key, *words in rows]
