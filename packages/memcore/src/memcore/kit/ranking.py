"""Ranking: bm25 over the candidates of one search, the same order for every backend.

An engine finds what matches; where that is more than `CANDIDATES`, it preselects by its own measure. The order is made
here. How rare a word is, is counted among the candidates themselves: it needs no statistics of the store, and tells
nothing about what others keep there.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from memcore.kit.text import date_words, may_be_date

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

CANDIDATES: Final = 300
"""Up to so many eligible matches the order is this module's alone, and equal on every backend (I-66)."""
ITEM_WEIGHTS: Final = (1.0, 0.5)
"""What a word counts in an item's text and in its tags."""
RECORD_WEIGHTS: Final = (1.0, 0.5, 0.3)
"""What a word counts in a record's content, in its tags, and in its context: what was said before."""
DATE_WEIGHT: Final = 0.5
"""What a query's date word counts where the candidate's own date has it."""

_SATURATION: Final = 1.2  # bm25's k1
_LENGTH_SHARE: Final = 0.75  # bm25's b

K = TypeVar("K")


class Candidate(NamedTuple, Generic[K]):
    """One match: the caller's key for it, what breaks ties, and each field's analysed words, joined by blanks.

    The ids of one search are all UUIDs, or all their bytes, which saves an adapter to make them for those that lose.
    """

    key: K
    created_at: float
    id: UUID | bytes
    fields: tuple[str, ...]


def rank(
    query_words: Sequence[str], candidates: Sequence[Candidate[K]], *, weights: Sequence[float], limit: int
) -> list[tuple[Candidate[K], float]]:
    """Return the best candidates with their scores, best first; ties newest first, then the greater id (I-68).

    The scores are the same to the last bit whatever order the candidates come in. `weights` holds one weight a field. A
    date is no field: its words count only where the query names them.
    """
    scored = list(zip(candidates, _scores(query_words, candidates, weights), strict=True))
    scored.sort(key=lambda pair: (pair[1], pair[0].created_at, pair[0].id), reverse=True)
    return scored[:limit]


def _scores(query_words: Sequence[str], candidates: Sequence[Candidate[K]], weights: Sequence[float]) -> list[float]:
    wanted = frozenset(query_words)
    dates = frozenset(filter(may_be_date, wanted))
    counted = [_count(candidate, wanted, dates, weights) for candidate in candidates]
    rarity = _rarity(Counter(chain.from_iterable(found for found, _ in counted)), len(counted))
    slope = _SATURATION * _LENGTH_SHARE * len(counted) / max(1, sum(length for _, length in counted))
    scores = []
    for found, length in counted:
        norm = _SATURATION * (1 - _LENGTH_SHARE) + slope * length
        score = 0.0
        for word, count in found.items():
            score += rarity[word] * count / (count + norm)
        scores.append(score)
    return scores


def _count(
    candidate: Candidate[K], wanted: frozenset[str], dates: frozenset[str], weights: Sequence[float]
) -> tuple[dict[str, float], int]:
    """Return how often each wanted word occurs, weighted, in the candidate's own order, and how many words it has."""
    found: dict[str, float] = {}
    length = 0
    for index, weight in enumerate(weights):
        words = candidate.fields[index].split()
        length += len(words)
        for word in filter(wanted.__contains__, words):
            found[word] = found.get(word, 0.0) + weight
    if dates:
        for word in filter(dates.__contains__, date_words(candidate.created_at)):
            found[word] = found.get(word, 0.0) + DATE_WEIGHT
    return found, length


def _rarity(counts: Counter[str], total: int) -> dict[str, float]:
    return {word: math.log1p((total - count + 0.5) / (count + 0.5)) for word, count in counts.items()}
