"""An index in memory: entries by id, and every order and posting derived from them; for items and for records."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from memcore.kit.ranking import CANDIDATES, Candidate, rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from uuid import UUID

_Order = list[tuple[float, int]]
"""`(created_at, id)` ascending: the newest stand at the end."""

_PRESELECTED: Final = 4
"""How many times the limit is ranked by the kit where more entries match than it ranks in any case."""


class Entry(Protocol):
    """What can be indexed."""

    @property
    def id(self) -> UUID:
        """The identity."""
        ...

    @property
    def created_at(self) -> float:
        """UTC epoch seconds."""
        ...

    @property
    def fields(self) -> tuple[str, ...]:
        """Each field's analysed words, joined by blanks."""
        ...

    @property
    def terms(self) -> AbstractSet[bytes]:
        """The exact conditions that it meets."""
        ...


E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class Conditions(Generic[E]):
    """What must hold exactly: of each group of terms at least one, and whatever `accepts` asks of an entry."""

    groups: tuple[frozenset[bytes], ...] = ()
    accepts: Callable[[E], bool] | None = None

    def met_by(self, entry: E) -> bool:
        """Tell whether an entry meets them."""
        terms = entry.terms
        for group in self.groups:  # a loop: `any` over a generator costs twice as much
            if group.isdisjoint(terms):
                return False
        return self.accepts is None or self.accepts(entry)


class Index(Generic[E]):
    """Entries by id as an integer, in order of time, by term and by word."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.entries: dict[int, E] = {}
        self._weights = weights
        self._order: _Order = []
        self._by_term: dict[bytes, _Order] = {}
        self._postings: dict[str, dict[int, float]] = {}

    def put(self, entry: E) -> None:
        """Add an entry, in the place of one with the same id."""
        self.remove(entry.id.int)
        key, place = entry.id.int, _place(entry)
        self.entries[key] = entry
        _insert(self._order, place)
        for term in entry.terms:
            order = self._by_term.get(term)
            if order is None:
                self._by_term[term] = [place]
            else:
                _insert(order, place)
        postings = self._postings
        for weight, words in zip(self._weights, entry.fields, strict=True):
            for word in words.split():
                posting = postings.get(word)
                if posting is None:
                    postings[word] = {key: weight}
                else:
                    posting[key] = posting.get(key, 0.0) + weight

    def remove(self, key: int) -> bool:
        """Take an entry out; tell whether it was there."""
        entry = self.entries.pop(key, None)
        if entry is None:
            return False
        place = _place(entry)
        _discard(self._order, place)
        for term in entry.terms:
            order = self._by_term[term]
            _discard(order, place)
            if not order:
                del self._by_term[term]
        for word in {word for words in entry.fields for word in words.split()}:
            posting = self._postings[word]
            del posting[key]
            if not posting:
                del self._postings[word]
        return True

    def newest(self, conditions: Conditions[E]) -> Iterator[E]:
        """Yield what meets the conditions, newest first, by way of the rarest of them."""
        orders = self._rarest(conditions)
        places = reversed(self._order) if orders is None else _unique(heapq.merge(*map(reversed, orders), reverse=True))
        entries = (self.entries[key] for _, key in places)
        return (entry for entry in entries if conditions.met_by(entry))

    def ranked(self, words: Sequence[str], conditions: Conditions[E], limit: int) -> list[tuple[E, float]]:
        """Return the best that share a word and meet the conditions, with their scores, best first."""
        scores = self._scores([self._postings[word] for word in words if word in self._postings], conditions)
        keys = self._best(scores, _PRESELECTED * limit) if len(scores) > CANDIDATES else scores
        entries = map(self.entries.__getitem__, keys)
        candidates = [Candidate(entry, entry.created_at, entry.id, entry.fields) for entry in entries]
        ranked = rank(words, candidates, weights=self._weights, limit=limit)
        return [(candidate.key, score) for candidate, score in ranked]

    def _rarest(self, conditions: Conditions[E]) -> list[_Order] | None:
        """Return the orders that lead to the fewest entries; `None` if every entry must be looked at."""
        groups = [[self._by_term.get(term, []) for term in group] for group in conditions.groups]
        return min(groups, key=_size, default=None)

    def _scores(self, postings: list[dict[int, float]], conditions: Conditions[E]) -> dict[int, float]:
        """Score what shares a word and meets the conditions, good enough to choose candidates.

        How rare a word is, is counted in this whole store; the conditions lead the way where they are met more rarely.
        """
        total = len(self.entries)
        weighted = [(posting, math.log(1 + total / len(posting))) for posting in sorted(postings, key=len)]
        orders = self._rarest(conditions)
        if orders is not None and _size(orders) < sum(map(len, postings)):
            keys = {key for order in orders for _, key in order}
            weighted = [({key: posting[key] for key in keys if key in posting}, rarity) for posting, rarity in weighted]
        scores: dict[int, float] = {}
        known = scores.get
        for posting, rarity in weighted:
            for key, frequency in posting.items():
                scores[key] = known(key, 0.0) + rarity * frequency / (frequency + 1.2)
        if not conditions.groups and conditions.accepts is None:
            return scores
        return {key: score for key, score in scores.items() if conditions.met_by(self.entries[key])}

    def _best(self, scores: dict[int, float], count: int) -> list[int]:
        """Return the best `count` keys, ties newest first."""
        if len(scores) <= count:
            return list(scores)
        least = heapq.nlargest(count, scores.values())[-1]
        better = [key for key, score in scores.items() if score > least]
        ties = [key for key, score in scores.items() if score == least]
        newest = heapq.nlargest(count - len(better), ties, key=lambda key: _place(self.entries[key]))
        return better + newest


def _place(entry: Entry) -> tuple[float, int]:
    return entry.created_at, entry.id.int


def _size(orders: list[_Order]) -> int:
    return sum(map(len, orders))


def _insert(order: _Order, place: tuple[float, int]) -> None:
    """Insert in order; what is new mostly belongs at the end."""
    if order and place < order[-1]:
        insort(order, place)
    else:
        order.append(place)


def _discard(order: _Order, place: tuple[float, int]) -> None:
    del order[bisect_left(order, place)]


def _unique(places: Iterable[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """Drop repeats from a sorted stream: they stand side by side."""
    last = None
    for place in places:
        if place != last:
            yield place
        last = place
