"""How items are found: conditions on terms and words, and the statements that answer them by an index.

Words and terms stand in one index, so that a search in one namespace or under a filter reads only what is there. Up to
`CANDIDATES` matches are ranked by the kit, alike on every backend; of more, the server first chooses some for each hit
that is wanted, by how rare the words that they share with the query are among the matches (I-66).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from memcore.errors import MemoryAdapterUnavailable
from memcore.items.payload import decode_item
from memcore.kit.query import matches_filters
from memcore.kit.ranking import CANDIDATES, ITEM_WEIGHTS, Candidate, rank
from memcore.kit.terms import entry_term, namespace_term, tag_term
from memcore.kit.text import ANALYSIS_VERSION

from memcore_postgres.index import id_texts, term_texts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    import asyncpg
    from memcore.items.model import MemoryItem
    from memcore.kit.query import CheckedQuery

    Fetch = Callable[..., Awaitable[list[asyncpg.Record]]]

PAGE: Final = 200
"""Items of a page where many must be looked at: few enough for any size of item."""
_CHOSEN_PER_HIT: Final = 3
"""Of too many matches, so many are ranked for each hit that is wanted: more find nothing better on labelled data."""
_LONG_PAYLOAD: Final = 8192
"""Bytes above which a payload is fetched only if its item is a hit."""

_NEWEST: Final = """
    SELECT meta.schema_version, found.* FROM {schema}.meta LEFT JOIN (
        SELECT id, created_at, payload FROM {schema}.items WHERE {conditions}
        ORDER BY created_at DESC, id DESC LIMIT {limit}
    ) AS found ON true ORDER BY found.created_at DESC, found.id DESC
"""
_BEST: Final = """
    WITH matches AS MATERIALIZED (
        SELECT id, created_at, {has} FROM {schema}.items WHERE {conditions}
    ), rareness AS MATERIALIZED (
        SELECT count(*) AS matches, {rareness} FROM matches
    ), chosen AS (
        SELECT id FROM matches, rareness ORDER BY {score} DESC, created_at DESC, id DESC
        LIMIT CASE WHEN (SELECT rareness.matches FROM rareness) > {candidates} THEN {limit} ELSE {candidates} END
    )
    SELECT meta.schema_version, meta.analysis, meta.is_complete, found.* FROM {schema}.meta LEFT JOIN (
        SELECT items.id, items.created_at, items.words, items.tag_words,
            CASE WHEN octet_length(items.payload) <= {long_payload} THEN items.payload END AS payload
        FROM chosen JOIN {schema}.items ON items.namespace = $1 AND items.id = chosen.id
    ) AS found ON true
"""
_HAS: Final = "(lexemes @@ {place}::tsquery)::int::double precision AS has_{n}"
_RARENESS: Final = "ln((count(*) + 1) / (sum(has_{n}) + 0.5::double precision)) AS rareness_{n}"
_SCORE: Final = "has_{n} * rareness_{n}"


@dataclass(frozen=True, slots=True)
class Conditions:
    """Tags and filters as terms: any of `tags`, all of `entries`; `missing` keys have no index (I-67)."""

    namespace: str
    tags: frozenset[bytes] = frozenset()
    entries: frozenset[bytes] = frozenset()
    missing: frozenset[str] = frozenset()

    @classmethod
    def of(cls, query: CheckedQuery, namespace: str) -> Conditions:
        """Return the conditions of a query, its words apart."""
        filters = cls.of_filters(query.filters, namespace)
        tags = frozenset(tag_term(namespace, tag) for tag in query.tags)
        return cls(namespace, tags, filters.entries, filters.missing)

    @classmethod
    def of_filters(cls, filters: Mapping[str, Any], namespace: str) -> Conditions:
        """Return the conditions of filters alone."""
        entries = frozenset(entry_term(namespace, key, value) for key, value in filters.items() if value is not None)
        return cls(
            namespace, entries=entries, missing=frozenset(key for key, value in filters.items() if value is None)
        )

    def lacks(self, item: MemoryItem) -> bool:
        """Tell whether the item lacks every key that must be missing."""
        return matches_filters(item.metadata, dict.fromkeys(self.missing))


class Clauses:
    """Conditions as SQL, with their parameters numbered as they come; `$1` is the namespace."""

    def __init__(self, conditions: Conditions) -> None:
        self._texts = ["namespace = $1"]
        self.parameters: list[Any] = [conditions.namespace]
        if conditions.entries:
            self.add("terms @> {}::text[]", term_texts(conditions.entries))
        if conditions.tags:
            self.add("terms && {}::text[]", term_texts(conditions.tags))

    def __str__(self) -> str:
        return " AND ".join(self._texts)

    @property
    def has_conditions(self) -> bool:
        """Whether there is any beside the namespace."""
        return len(self._texts) > 1

    def bind(self, value: object) -> str:
        """Return the place of one more parameter."""
        self.parameters.append(value)
        return f"${len(self.parameters)}"

    def add(self, text: str, *values: object) -> None:
        """Add a condition, with a `{}` for each of its parameters."""
        self._texts.append(text.format(*map(self.bind, values)))


async def newest(fetch: Fetch, schema: str, conditions: Conditions, limit: int) -> list[MemoryItem]:
    """Return what meets the conditions, newest first (I-68)."""
    if not conditions.missing:
        return decode_all(await _fetch_newest(fetch, schema, Clauses(conditions), limit))
    found: list[MemoryItem] = []
    async for item in walk(fetch, schema, conditions):
        found.append(item)
        if len(found) == limit:
            break
    return found


async def best(fetch: Fetch, schema: str, conditions: Conditions, words: Sequence[str], limit: int) -> list[MemoryItem]:
    """Return what shares a word with the query and meets the conditions, best first (I-66).

    Raises:
        MemoryAdapterUnavailable: not all words are of this analysis.
    """
    matching = _matching(conditions, words)
    if conditions.missing:
        ids = [item.id async for item in walk(fetch, schema, conditions, words)]
        matching.add("id = ANY((SELECT {}::text[]::uuid[])::uuid[])", id_texts(ids))
    rows = await _fetch_best(fetch, schema, matching, words, limit)
    candidates = [
        Candidate(row, row["created_at"], row["id"], (row["words"], row["tag_words"])) for row in rows if row["id"]
    ]
    ranked = [candidate.key for candidate, _ in rank(words, candidates, weights=ITEM_WEIGHTS, limit=limit)]
    long = [row["id"] for row in ranked if row["payload"] is None]
    again = await _fetch_long(fetch, schema, _matching(conditions, words), long) if long else {}
    hits = [row if row["payload"] is not None else again.get(row["id"]) for row in ranked]
    return [decode(row) for row in hits if row is not None]  # what changed in between and matches no more is left out


async def walk(
    fetch: Fetch, schema: str, conditions: Conditions, words: Sequence[str] = ()
) -> AsyncIterator[MemoryItem]:
    """Yield, newest first, what meets the conditions and lacks the keys that must be missing, page by page."""
    last: MemoryItem | None = None
    while True:
        clauses = _matching(conditions, words) if words else Clauses(conditions)
        if last is not None:
            clauses.add("(created_at, id) < ({}::double precision, {}::uuid)", last.created_at, last.id)
        items = decode_all(await _fetch_newest(fetch, schema, clauses, PAGE))
        for item in items:
            if conditions.lacks(item):
                yield item
        if len(items) < PAGE:
            return
        last = items[-1]


def decode(row: asyncpg.Record) -> MemoryItem:
    """Return the item of a row.

    Raises:
        MalformedMemoryPayload: the payload is damaged.
    """
    item_id = UUID(int=row["id"].int)  # the driver's own is a subclass
    return decode_item(item_id, row["created_at"], row["payload"])


def decode_all(rows: Sequence[asyncpg.Record]) -> list[MemoryItem]:
    """Return the items of rows; one without an id only tells that there are none."""
    return [decode(row) for row in rows if row["id"] is not None]


def _matching(conditions: Conditions, words: Sequence[str]) -> Clauses:
    clauses = Clauses(conditions)
    clauses.add("lexemes @@ {}::tsquery", " | ".join(map(_quote, words)))
    if not conditions.entries:  # an entry's term belongs to one namespace already
        clauses.add("terms @> {}::text[]", term_texts([namespace_term(conditions.namespace)]))
    return clauses


def _quote(word: str) -> str:
    """Return a query for a word, which holds no ASCII punctuation that could end its quotes."""
    return f"'{word}'"


async def _fetch_newest(fetch: Fetch, schema: str, clauses: Clauses, limit: int) -> list[asyncpg.Record]:
    # Without conditions the server need not plan the statement each time; with some it had better look at their values.
    place = f"{clauses.bind(limit)}::bigint" if clauses.has_conditions else limit
    statement = _NEWEST.format(schema=schema, conditions=clauses, limit=place)
    return await fetch(statement, *clauses.parameters)


async def _fetch_best(
    fetch: Fetch, schema: str, clauses: Clauses, words: Sequence[str], limit: int
) -> list[asyncpg.Record]:
    places = list(enumerate(map(clauses.bind, map(_quote, words))))
    statement = _BEST.format(
        schema=schema,
        conditions=clauses,
        has=", ".join(_HAS.format(n=n, place=place) for n, place in places),
        rareness=", ".join(_RARENESS.format(n=n) for n, _ in places),
        score=" + ".join(_SCORE.format(n=n) for n, _ in places),
        limit=f"{clauses.bind(limit * _CHOSEN_PER_HIT)}::bigint",
        candidates=CANDIDATES,
        long_payload=_LONG_PAYLOAD,
    )
    rows = await fetch(statement, *clauses.parameters)
    if rows[0]["analysis"] != ANALYSIS_VERSION or not rows[0]["is_complete"]:
        raise MemoryAdapterUnavailable(
            "the words of this store are of another analysis, and a text search would miss some items: run "
            "`memcore reindex URL` with the newest version"
        )
    return rows


async def _fetch_long(fetch: Fetch, schema: str, clauses: Clauses, ids: Sequence[UUID]) -> dict[UUID, asyncpg.Record]:
    clauses.add("id = ANY((SELECT {}::text[]::uuid[])::uuid[])", id_texts(ids))
    return {row["id"]: row for row in await _fetch_newest(fetch, schema, clauses, len(ids))}
