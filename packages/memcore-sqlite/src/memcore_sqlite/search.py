# ruff: noqa: S608 - the SQL is put together from constants of this module, and every value is bound
"""Search in SQL: exact conditions by their terms, words by FTS5, the order by the kit (I-66 to I-68).

What the caller wrote never becomes SQL or FTS5 syntax: tags and filters are digests, words are quoted one by one.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from memcore.errors import MemoryAdapterUnavailable
from memcore.items.payload import decode_item
from memcore.kit import exact_json
from memcore.kit.ranking import CANDIDATES, ITEM_WEIGHTS, Candidate, rank
from memcore.kit.terms import entry_term, tag_term
from memcore.kit.text import ANALYSIS_VERSION

from memcore_sqlite.schema import analysis_version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memcore.items.model import MemoryItem
    from memcore.kit.query import CheckedQuery

    from memcore_sqlite.session import Session

FEW: Final = 1_000
"""Items up to which an exact condition is walked through and their words are looked at, instead of asking FTS5."""
_PRESELECTED: Final = 4
"""How many times the limit FTS5 chooses for the kit to rank, where more than the kit's bound match."""
_FEWEST: Final = 10
"""The limit below which it chooses no fewer: the kit counts words among the candidates."""
_MOST_ALTERNATIVES: Final = 500  # SQLite before 3.32 binds 999 values at most

_BY_TIME: Final = "ORDER BY i.created_at DESC, i.id DESC LIMIT ?"
_BY_TERM_TIME: Final = "ORDER BY t.created_at DESC, i.id DESC LIMIT ?"  # the index has this order, but for ties
_OF_TERM: Final = (
    "FROM item_terms t CROSS JOIN items i ON i.seq = t.seq AND i.created_at = t.created_at WHERE t.term = ?"
)
_OF_WORDS: Final = "FROM item_words WHERE item_words MATCH ?"
_OF_WORDS_JOINED: Final = "FROM item_words CROSS JOIN items i ON i.seq = item_words.rowid WHERE item_words MATCH ?"
_ROW: Final = "i.created_at, i.id, i.payload"
_CANDIDATE: Final = "i.seq, i.created_at, i.id, i.words, i.tag_words"
_PAYLOAD: Final = "SELECT payload FROM items WHERE seq = ?"
_OTHER_NAMESPACE: Final = "SELECT 1 FROM namespaces WHERE number <> ? LIMIT 1"
_SCORE: Final = f"bm25(item_words, {ITEM_WEIGHTS[0]}, {ITEM_WEIGHTS[1]}, 0)"


@dataclass(frozen=True, slots=True)
class Conditions:
    """What must hold exactly: of each group of terms at least one, and of the absent keys none."""

    groups: tuple[tuple[bytes, ...], ...] = ()
    absent: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: CheckedQuery, namespace: str) -> Conditions:
        """Return the conditions of a query: any of its tags, all of its filters (I-67)."""
        filters = cls.of_filters(query.filters, namespace)
        tags = tuple(tag_term(namespace, tag) for tag in query.tags)
        return cls((*filters.groups, tags) if tags else filters.groups, filters.absent)

    @classmethod
    def of_filters(cls, filters: Mapping[str, Any], namespace: str) -> Conditions:
        """Return the conditions of filters; null also stands for a missing key, which has no term."""
        groups = [(entry_term(namespace, key, value),) for key, value in filters.items() if value is not None]
        return cls(tuple(groups), tuple(key for key, value in filters.items() if value is None))


Found = tuple[float, bytes, str]
"""`created_at`, id and payload of a row: in this order, rows compare as listings are ordered."""
_Match = Candidate[tuple[int, bytes]]
"""Keyed by the `seq` and the id of its row."""


def newest(session: Session, conditions: Conditions, limit: int) -> list[MemoryItem]:
    """Return the newest items that meet the conditions (I-68)."""
    return [
        decode_item(UUID(bytes=key), created_at, payload)
        for created_at, key, payload in matching(session, conditions, limit)
    ]


def matching(session: Session, conditions: Conditions, limit: int) -> list[Found]:
    """Return the rows that meet the conditions, newest first, by way of the rarest of them."""
    driver = _rarest(session, conditions.groups)
    where, values = _where(session, conditions, but=driver)
    if not driver:
        listing = f"SELECT {_ROW} FROM items i WHERE {where} {_BY_TIME}"
        return session.execute(listing, (*values, limit)).fetchall()
    listing = f"SELECT {_ROW} {_OF_TERM} AND {where} {_BY_TERM_TIME}"
    pages = [session.execute(listing, (term, *values, limit)).fetchall() for term in driver]
    if len(pages) == 1:
        return pages[0]
    return [row for row, _ in groupby(heapq.merge(*pages, reverse=True))][:limit]


def best(session: Session, words: Sequence[str], conditions: Conditions, limit: int) -> list[MemoryItem]:
    """Return the best of the items that share a word and meet the conditions (I-66).

    Raises:
        MemoryAdapterUnavailable: the words were made by another version's analysis.
    """
    check_analysis(session)
    driver = _rarest(session, conditions.groups)
    if driver and (len(driver) > _MOST_ALTERNATIVES or _count_terms(session, driver) <= FEW):
        candidates = _sharing(session, words, conditions, driver)
    else:
        candidates = _indexed(session, words, conditions, limit)
    ranked = rank(words, candidates, weights=ITEM_WEIGHTS, limit=limit)
    return [_load(session, match) for match, _score in ranked]


def check_analysis(session: Session) -> None:
    """Check that this version's analysis made the index, now: another process may have begun to rebuild it.

    Raises:
        MemoryAdapterUnavailable: it did not; an answer would silently lack items.
    """
    if analysis_version(session) != ANALYSIS_VERSION:
        raise MemoryAdapterUnavailable(
            f"the words of {session.path or 'this database'} were made by another version's analysis, or are being "
            f"rebuilt; run: memcore reindex {session.url}"
        )


def _rarest(session: Session, groups: Sequence[tuple[bytes, ...]]) -> tuple[bytes, ...]:
    """Return the group that leads to the fewest items; one with too many alternatives to be a condition goes first."""
    if len(groups) <= 1:
        return groups[0] if groups else ()
    longest = max(groups, key=len)
    return longest if len(longest) > _MOST_ALTERNATIVES else min(groups, key=lambda group: _count_terms(session, group))


def _count_terms(session: Session, group: tuple[bytes, ...]) -> int:
    """Count the items of a group, each term up to a little more than a few."""
    count = "SELECT count(*) FROM (SELECT 1 FROM item_terms WHERE term = ? LIMIT ?)"
    return sum(session.execute(count, (term, FEW + 1)).fetchone()[0] for term in group)


def _where(session: Session, conditions: Conditions, *, but: tuple[bytes, ...] = ()) -> tuple[str, list[object]]:
    """Return SQL over a row `i` of `items`, and its values; the group `but` is met already."""
    clauses = ["i.namespace = ?"]
    values: list[object] = [session.number]
    for group in conditions.groups:
        if group is not but:
            marks = ", ".join("?" * len(group))
            clauses.append(
                f"EXISTS (SELECT 1 FROM item_terms o WHERE o.term IN ({marks})"
                " AND o.created_at = i.created_at AND o.seq = i.seq)"
            )
            values += group
    for key in conditions.absent:
        clauses.append("lacks(i.payload, ?)")
        values.append(exact_json.canonical(key))
    return " AND ".join(clauses), values


def _sharing(session: Session, words: Sequence[str], conditions: Conditions, driver: tuple[bytes, ...]) -> list[_Match]:
    """Return the items that meet the conditions and share a word, by way of a group of terms."""
    where, values = _where(session, conditions, but=driver)
    listing = f"SELECT {_CANDIDATE} {_OF_TERM} AND {where}"
    found = {one.key: one for term in driver for one in _candidates(session, listing, (term, *values))}
    wanted = frozenset(words)
    return [one for one in found.values() if not all(wanted.isdisjoint(field.split()) for field in one.fields)]


def _indexed(session: Session, words: Sequence[str], conditions: Conditions, limit: int) -> list[_Match]:
    """Return the items that meet the conditions and share a word, by way of FTS5: all, or those that it ranks first."""
    match = "{words tag_words} : (" + " OR ".join(f'"{word}"' for word in words) + ")"
    where, values = _where(session, conditions)
    joined = f"{_OF_WORDS_JOINED} AND {where}"
    if _count(session, _OF_WORDS, (match,)) <= CANDIDATES:
        return _candidates(session, f"SELECT {_CANDIDATE} {joined}", (match, *values))
    others = session.execute(_OTHER_NAMESPACE, (session.number,)).fetchone()
    if others:  # read this namespace's postings, not those of all
        match = f'namespace : "{session.number}" AND {match}'
    elif conditions == Conditions():
        return _preselected(session, _OF_WORDS, (match,), limit)
    if _count(session, joined, (match, *values)) <= CANDIDATES:
        return _candidates(session, f"SELECT {_CANDIDATE} {joined}", (match, *values))
    return _preselected(session, joined, (match, *values), limit)


def _preselected(session: Session, source: str, values: Sequence[object], limit: int) -> list[_Match]:
    """Return the items that FTS5 ranks first, of those that tie at the end the newest.

    Ties are the rule: short texts with one common word have few scores. All are scored once, and those that are not
    behind the last place are looked up.
    """
    count = _PRESELECTED * max(limit, _FEWEST)
    scored = f"SELECT item_words.rowid AS seq, {_SCORE} AS score {source}"
    last = "SELECT max(score) FROM (SELECT score FROM scored ORDER BY score LIMIT ?)"
    best = f"SELECT {_CANDIDATE} FROM scored s CROSS JOIN items i ON i.seq = s.seq WHERE s.score <= ({last})"
    order = "ORDER BY s.score, i.created_at DESC, i.id DESC LIMIT ?"
    return _candidates(session, f"WITH scored AS ({scored}) {best} {order}", (*values, count, count))


def _count(session: Session, source: str, parameters: Sequence[object]) -> int:
    """Count what a source gives, up to one more than the kit ranks by itself."""
    counted = session.execute(f"SELECT count(*) FROM (SELECT 1 {source} LIMIT ?)", (*parameters, CANDIDATES + 1))
    return int(counted.fetchone()[0])


def _candidates(session: Session, listing: str, values: Sequence[object]) -> list[_Match]:
    rows = session.execute(listing, values)
    return [Candidate((seq, key), at, key, (words, tag_words)) for seq, at, key, words, tag_words in rows]


def _load(session: Session, match: _Match) -> MemoryItem:
    seq, key = match.key
    ((payload,),) = session.execute(_PAYLOAD, (seq,))
    return decode_item(UUID(bytes=key), match.created_at, payload)
