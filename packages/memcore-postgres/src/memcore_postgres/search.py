"""How anything is found: the statements that list and rank the rows of a table, answered by its indexes.

Words and terms stand in one index, so that a search in one namespace, in one scope or under a filter reads only what is
there. Up to `CANDIDATES` matches are ranked by the kit, alike on every backend; of more, the server first chooses some
for each hit that is wanted, by how rare the words that they share with the query are among the matches (I-66).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from memcore.errors import MemoryAdapterUnavailable
from memcore.kit.ranking import CANDIDATES, Candidate, rank
from memcore.kit.text import ANALYSIS_VERSION

from memcore_postgres.index import id_texts, term_texts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from uuid import UUID

    import asyncpg

    Fetch = Callable[..., Awaitable[list[asyncpg.Record]]]

_CHOSEN_PER_HIT: Final = 3
"""Of too many matches, so many are ranked for each hit that is wanted: more find nothing better on labelled data."""
_LONG_PAYLOAD: Final = 8192
"""Bytes above which a payload is fetched only if its row is a hit."""

_LISTING: Final = """
    SELECT meta.schema_version, found.* FROM {schema}.meta LEFT JOIN (
        SELECT {columns}, payload FROM {schema}.{name} WHERE {conditions} ORDER BY {order} LIMIT {limit}
    ) AS found ON true ORDER BY {order}
"""
_BY_TIME: Final = "created_at DESC, id DESC"
_BY_ID: Final = "id"
_BEST: Final = """
    WITH matches AS MATERIALIZED (
        SELECT id, created_at, {has} FROM {schema}.{name} WHERE {conditions}
    ), rareness AS MATERIALIZED (
        SELECT count(*) AS matches, {rareness} FROM matches
    ), chosen AS (
        SELECT id FROM matches, rareness ORDER BY {score} DESC, created_at DESC, id DESC
        LIMIT CASE WHEN (SELECT rareness.matches FROM rareness) > {candidates} THEN {limit} ELSE {candidates} END
    )
    SELECT meta.schema_version, meta.analysis, meta.is_complete, found.* FROM {schema}.meta LEFT JOIN (
        SELECT {columns}, {fields}, CASE WHEN octet_length(payload) <= {long_payload} THEN payload END AS payload
        FROM chosen JOIN {schema}.{name} ON {name}.namespace = $1 AND {name}.id = chosen.id
    ) AS found ON true
"""
_HAS: Final = "(lexemes @@ {place}::tsquery)::int::double precision AS has_{n}"
_RARENESS: Final = "ln((count(*) + 1) / (sum(has_{n}) + 0.5::double precision)) AS rareness_{n}"
_SCORE: Final = "has_{n} * rareness_{n}"


class Table(NamedTuple):
    """What statements need to know of a table."""

    schema: str
    name: str
    columns: str
    """What a row is read as, its payload apart: `id` and `created_at` among it, each named with its table."""
    fields: tuple[str, ...]
    """The columns of analysed words."""
    weights: Sequence[float]
    """What a word counts in each of them."""
    ticks: int = 1
    """Of `created_at`, in a second."""


class Clauses:
    """Conditions as SQL, with their parameters numbered as they come; `$1` is the namespace."""

    def __init__(self, namespace: str) -> None:
        self._texts = ["namespace = $1"]
        self.parameters: list[Any] = [namespace]

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

    def add(self, text: str, *values: object) -> Self:
        """Add a condition, with a `{}` for each of its parameters."""
        self._texts.append(text.format(*map(self.bind, values)))
        return self

    def add_all(self, terms: Iterable[bytes]) -> Self:
        """Ask for rows that have every one of these terms."""
        return self.add("terms @> {}::text[]", term_texts(terms))

    def add_any(self, terms: Iterable[bytes]) -> Self:
        """Ask for rows that have one of these terms."""
        return self.add("terms && {}::text[]", term_texts(terms))

    def add_words(self, words: Iterable[str]) -> Self:
        """Ask for rows that have one of these words."""
        return self.add("lexemes @@ {}::tsquery", " | ".join(map(_quote, words)))

    def add_ids(self, ids: Iterable[UUID]) -> Self:
        """Ask for rows that have one of these ids."""
        return self.add("id = ANY((SELECT {}::text[]::uuid[])::uuid[])", id_texts(ids))

    def copy(self) -> Clauses:
        """Return the same conditions apart, to which others may be added."""
        twin = Clauses("")
        twin._texts, twin.parameters = self._texts[:], self.parameters[:]
        return twin


async def newest(fetch: Fetch, table: Table, clauses: Clauses, limit: int) -> list[asyncpg.Record]:
    """Return what meets the conditions, newest first (I-68)."""
    # Without conditions the server need not plan the statement each time; with some it had better look at their values.
    place = f"{clauses.bind(limit)}::bigint" if clauses.has_conditions else str(limit)
    return await _list(fetch, table, clauses, _BY_TIME, place)


async def page(fetch: Fetch, table: Table, clauses: Clauses, limit: int) -> list[asyncpg.Record]:
    """Return what meets the conditions, in order of id."""
    return await _list(fetch, table, clauses, _BY_ID, f"{clauses.bind(limit)}::bigint")


async def best(
    fetch: Fetch, table: Table, clauses: Clauses, words: Sequence[str], limit: int
) -> list[tuple[asyncpg.Record, float]]:
    """Return what shares a word with the query and meets the conditions, with its score, best first (I-66).

    Raises:
        MemoryAdapterUnavailable: not all words are of this analysis.
    """
    again = clauses.add_words(words).copy()
    rows = await _fetch_best(fetch, table, clauses, words, limit)
    candidates = [
        Candidate(row, row["created_at"] / table.ticks, row["id"], tuple(row[field] for field in table.fields))
        for row in rows
        if row["id"] is not None
    ]
    ranked = [(hit.key, score) for hit, score in rank(words, candidates, weights=table.weights, limit=limit)]
    long = [row["id"] for row, _ in ranked if row["payload"] is None]
    if not long:
        return ranked
    again.add_ids(long)
    whole = {row["id"]: row for row in await newest(fetch, table, again, len(long))}
    hits = [(row if row["payload"] is not None else whole.get(row["id"]), score) for row, score in ranked]
    return [(row, score) for row, score in hits if row is not None]  # what matches no more by now is left out


async def _list(fetch: Fetch, table: Table, clauses: Clauses, order: str, limit: str) -> list[asyncpg.Record]:
    statement = _LISTING.format(
        schema=table.schema, name=table.name, columns=table.columns, conditions=clauses, order=order, limit=limit
    )
    return [row for row in await fetch(statement, *clauses.parameters) if row["id"] is not None]


async def _fetch_best(
    fetch: Fetch, table: Table, clauses: Clauses, words: Sequence[str], limit: int
) -> list[asyncpg.Record]:
    places = list(enumerate(map(clauses.bind, map(_quote, words))))
    statement = _BEST.format(
        schema=table.schema,
        name=table.name,
        columns=table.columns,
        fields=", ".join(table.fields),
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
            "the words of this store are of another analysis, and a text search would miss some: run "
            "`memcore reindex URL` with the newest version"
        )
    return rows


def _quote(word: str) -> str:
    """Return a query for a word, which holds no ASCII punctuation that could end its quotes."""
    return f"'{word}'"
