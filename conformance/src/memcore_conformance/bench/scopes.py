"""What one user's search costs while the store fills with other users: the time should follow that user's records.

Each adapter is compared with itself. One user has fifty records and each other user has one, all of one vocabulary, so
that every word of a question stands in thousands of texts that are none of this user's business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Final

import memcore

from memcore_conformance.bench.place import Place
from memcore_conformance.bench.timing import one_by_one
from memcore_conformance.bench.workload import SESSIONS, make_items, make_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from memcore_conformance.bench.candidates import Candidate
    from memcore_conformance.bench.timing import Clock
    from memcore_conformance.bench.workload import Item

OTHERS: Final = (1, 1_000, 100_000)
"""Other users in the store, unless told otherwise."""
OWN: Final = 50
FLATNESS: Final = 2.0
"""How many times longer a search in one user's scope may take among the most others than among the fewest."""
NARROWING: Final[Mapping[str, float]] = {"sqlite": 0.15, "postgresql": 0.5}
"""By scheme: what a search in one of fifty scopes may take of the same search in all, among the most others."""

IN_SCOPE: Final = "text, one user of 50 records"
LISTING: Final = "newest, the same user"
IN_SESSION: Final = "text, one scope of 50"
EVERYWHERE: Final = "text, no scope"
OPERATIONS: Final = (IN_SCOPE, LISTING, IN_SESSION, EVERYWHERE)

_USER: Final = memcore.Scope({"user": "ada"})
_BATCH: Final = 1_000
_BUDGET: Final = 0.4
_ASKED: Final = 40


@dataclass(frozen=True, slots=True)
class ScopeFigures:
    """By operation and number of other users: seconds, one figure a round."""

    adapter: str
    scheme: str
    figures: dict[str, dict[int, list[float]]] = field(default_factory=dict)

    def typical(self, operation: str, others: int) -> float:
        """Return the median of the rounds."""
        return median(self.figures[operation][others])

    @property
    def sizes(self) -> list[int]:
        """The numbers of other users, ascending."""
        return sorted(self.figures[IN_SCOPE])

    def flatness(self) -> float:
        """Return the worst time of a search in one user's scope, as a multiple of that among the fewest others."""
        first = self.typical(IN_SCOPE, self.sizes[0])
        return max(self.typical(IN_SCOPE, others) for others in self.sizes) / first

    def narrowing(self) -> float:
        """Return the time of a search in one scope of fifty, as a share of that in all, among the most others."""
        return self.typical(IN_SESSION, self.sizes[-1]) / self.typical(EVERYWHERE, self.sizes[-1])


async def measure_scopes(
    candidate: Candidate,
    *,
    scheme: str,
    others: Sequence[int],
    runs: int,
    root: Path,
    clock: Clock,
    tell: Callable[[str], None],
) -> ScopeFigures | None:
    """Measure one adapter; `None` if it offers no records."""
    place = Place.fresh(root)
    measured = ScopeFigures(candidate.name, scheme)
    async with place.connect(candidate.url) as backend:
        if "records" not in backend.capabilities.contracts:
            return None
        bench = _Bench(backend.records, runs, clock, measured)
        await bench.write_own()
        for count in sorted(others):
            tell(f"{candidate.name}: one user's records among those of {count:,} others")
            await bench.write_others(count)
            await bench.ask(count)
    await place.forget(candidate.url)
    return measured


class WrongAnswer(Exception):
    """A search found another user's records, or none: its time means nothing."""


@dataclass(slots=True)
class _Bench:
    records: memcore.RecordStore
    runs: int
    clock: Clock
    measured: ScopeFigures
    written: int = 0

    async def write_own(self) -> None:
        """Give the user a few records of the same vocabulary."""
        own = make_items(OWN, seed=11)
        await self.records.write([memcore.MemoryWrite(scope=_USER, content=item.text) for item in own])

    async def write_others(self, count: int) -> None:
        """Add users with one record each until there are so many."""
        items = make_items(count, seed=12)[self.written :]
        for start in range(0, len(items), _BATCH):
            await self.records.write([_write(item) for item in items[start : start + _BATCH]])
        self.written = count

    async def ask(self, count: int) -> None:
        """Ask every question in every way, the ways by turns."""
        questions = [" ".join(question.words) for question in make_questions()["search mixed"]]
        for run in range(self.runs):
            asked = [questions[(run * _ASKED + number) % len(questions)] for number in range(_ASKED)]
            ways = {
                IN_SCOPE: [memcore.RecordQuery(text=text, scope=_USER, limit=10) for text in asked],
                LISTING: [memcore.RecordQuery(scope=_USER, limit=10)] * _ASKED,
                IN_SESSION: [
                    memcore.RecordQuery(text=text, scope={"session": str(number % SESSIONS)}, limit=10)
                    for number, text in enumerate(asked)
                ],
                EVERYWHERE: [memcore.RecordQuery(text=text, limit=10) for text in asked],
            }
            await self._check(ways[IN_SCOPE][0])
            for operation, queries in ways.items():
                seconds = await one_by_one(self.records.search, queries, clock=self.clock, budget=_BUDGET)
                self.measured.figures.setdefault(operation, {}).setdefault(count, []).append(seconds)

    async def _check(self, query: memcore.RecordQuery) -> None:
        hits = await self.records.search(query)
        if not hits or any(not hit.record.scope.contains(_USER) for hit in hits):
            raise WrongAnswer(f"{len(hits)} hits of one user's words, or some of another user")


def _write(item: Item) -> memcore.MemoryWrite:
    """Return the record of a user who has no other."""
    scope = {"user": str(item.id), "session": str(item.metadata["session"])}
    return memcore.MemoryWrite(id=item.id, scope=scope, content=item.text, tags=tuple(item.tags))
