"""One measurement: the candidates of a group at one size, each operation by one after the other, several rounds.

Noise of a shared machine so falls on all of them, and the median of the rounds leaves its peaks out. Between two
measurements everything that is alive is taken out of the garbage collector's sight: no candidate pays for another's.
"""

from __future__ import annotations

import gc
import random
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Final

from memcore.kit.text import analyse_item

from memcore_conformance.bench.check import check
from memcore_conformance.bench.driver import Driver, NotOffered
from memcore_conformance.bench.place import Place
from memcore_conformance.bench.startup import run_fresh
from memcore_conformance.bench.timing import at_once, one_by_one
from memcore_conformance.bench.workload import Item, make_items, make_questions, matching
from memcore_conformance.bench.writers import PROCESSES, Outcome, write_at_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from memcore_conformance.bench.candidates import Candidate, Group
    from memcore_conformance.bench.timing import Clock

TASKS: Final = 64
SEARCHES: Final = ("search rare", "search common", "search mixed")
NARROWED: Final = "search mixed in one session"
CONDITIONS: Final = ("tag common", "tag rare", "metadata common", "metadata rare", "newest 20")
WRITERS: Final = {f"{PROCESSES} processes, {tasks} task{'s' * (tasks > 1)} each": tasks for tasks in (1, TASKS)}
OPERATIONS: Final = (
    *("put", "put, 64 tasks", "bulk", "get", "get, 64 tasks"),
    *SEARCHES,
    NARROWED,
    *CONDITIONS,
    *("first result", *WRITERS, "bytes an item"),
)

_BATCH: Final = 1_000
_BUDGET: Final = 0.4  # seconds an operation takes in one round at most, beyond its first few calls
_PUTS, _PUTS_AT_ONCE = 200, 640
_GETS, _GETS_AT_ONCE = 400, 1_280
_ASKED: Final = 40
_WRITES: Final = 500  # of each process, and no more than the store holds


@dataclass(frozen=True, slots=True)
class Measurements:
    """What was measured: by operation and candidate, one figure a round, in seconds or bytes."""

    size: int
    figures: dict[str, dict[str, list[float]]]
    left_out: dict[str, dict[str, str]]
    """By candidate and operation: why there is no figure."""
    outcomes: dict[str, dict[str, list[Outcome]]]
    """What came of several writing processes."""

    def typical(self, operation: str, candidate: str) -> float | None:
        """Return the median of the rounds, if there is one."""
        figures = self.figures.get(operation, {}).get(candidate)
        return median(figures) if figures else None


async def measure(
    group: Group, *, size: int, runs: int, root: Path, clock: Clock, writers: bool, tell: Callable[[str], None]
) -> Measurements:
    """Measure a group over so many items; `tell` hears what is being done.

    The files of all candidates go into `root`, and are of no use afterwards. `writers` says whether several processes
    write as well, which takes a while.
    """
    bench = _Bench(size, runs, clock, tell)
    try:
        async with AsyncExitStack() as opened:
            for number, candidate in enumerate(group.candidates):
                stand = await _set_up(candidate, root / f"{size}-{number}")
                opened.push_async_callback(stand.driver.close)
                bench.stands.append(stand)
            await bench.load()
            await bench.read()
            await bench.start_again()
            await bench.write()
        if writers:
            await bench.write_from_processes()
    finally:
        gc.unfreeze()
        for stand in bench.stands:
            await stand.driver.forget()
    left_out = {stand.name: dict(stand.left_out) for stand in bench.stands}
    return Measurements(size, bench.figures, left_out, bench.outcomes)


@dataclass(frozen=True, slots=True)
class _Stand:
    candidate: Candidate
    place: Place
    driver: Driver
    left_out: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.candidate.name


async def _set_up(candidate: Candidate, folder: Path) -> _Stand:
    """Try the candidate on a small store, then open the one to be measured."""
    trial, place = Place.fresh(folder / "trial"), Place.fresh(folder / "store")
    driver = candidate.driver(trial)
    await driver.open()
    try:
        left_out = await check(driver)
    finally:
        await driver.close()
        await driver.forget()
    driver = candidate.driver(place)
    await driver.open()
    return _Stand(candidate, place, driver, left_out)


@dataclass(slots=True)
class _Bench:
    size: int
    runs: int
    clock: Clock
    tell: Callable[[str], None]
    stands: list[_Stand] = field(default_factory=list)
    figures: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    outcomes: dict[str, dict[str, list[Outcome]]] = field(default_factory=dict)
    items: list[Item] = field(init=False)

    def __post_init__(self) -> None:
        self.items = make_items(self.size + self.runs * (_PUTS + _PUTS_AT_ONCE))

    async def load(self) -> None:
        """Fill the stores, in as many portions as there are rounds."""
        _set_aside()
        for run, stand in self._turns("bulk"):
            portion = self.items[self.size * run // self.runs : self.size * (run + 1) // self.runs]
            started = self.clock()
            for start in range(0, len(portion), _BATCH):
                await stand.driver.put_many(portion[start : start + _BATCH])
            self._note("bulk", stand, (self.clock() - started) / max(1, len(portion)))
            _set_aside()

    async def read(self) -> None:
        """Ask for items and search; every store holds exactly the items that were loaded."""
        chance = random.Random(5)  # noqa: S311 - reproducible, not secret
        ids = [item.id for item in chance.choices(self.items[: self.size], k=_GETS + _GETS_AT_ONCE)]
        for _, stand in self._turns("get"):
            await one_by_one(stand.driver.get, ids[:1], clock=self.clock, budget=_BUDGET)
            self._note("get", stand, await one_by_one(stand.driver.get, ids[:_GETS], clock=self.clock, budget=_BUDGET))
        for _, stand in self._turns("get, 64 tasks", needs="get"):
            seconds = await at_once(stand.driver.get, ids[_GETS:], tasks=TASKS, clock=self.clock, budget=_BUDGET)
            self._note("get, 64 tasks", stand, seconds)
        for name, questions in make_questions().items():
            for run, stand in self._turns(name):
                asked = [questions[(run * _ASKED + number) % len(questions)] for number in range(_ASKED)]
                self._note(name, stand, await one_by_one(stand.driver.find, asked, clock=self.clock, budget=_BUDGET))

    async def start_again(self) -> None:
        """Close what lasts, look at its files, get a first result in new processes, and open it again."""
        lasting = [stand for stand in self.stands if stand.driver.persistent]
        for stand in lasting:
            await stand.driver.close()
            if stand.place.size():
                self._note("bytes an item", stand, stand.place.size() / self.size)
        loaded, common = self.items[: self.size], make_questions()["search common"]
        question = next(question for question in common if matching(loaded, question))
        for _, stand in self._turns("first result", needs="search common", lasting=True):
            try:
                program = stand.driver.first_result(question)
            except NotOffered:
                continue
            self._note("first result", stand, run_fresh(program, folder=stand.place.folder))
        for stand in lasting:
            await stand.driver.open()

    async def write(self) -> None:
        """Store single items, one after the other and from many tasks."""
        fresh = iter(self.items[self.size :])
        portions = [(list(islice(fresh, _PUTS)), list(islice(fresh, _PUTS_AT_ONCE))) for _ in range(self.runs)]
        for run, stand in self._turns("put"):
            seconds = await one_by_one(stand.driver.put, portions[run][0], clock=self.clock, budget=_BUDGET)
            self._note("put", stand, seconds)
        for run, stand in self._turns("put, 64 tasks"):
            items = portions[run][1]
            seconds = await at_once(stand.driver.put, items, tasks=TASKS, clock=self.clock, budget=_BUDGET)
            self._note("put, 64 tasks", stand, seconds)

    async def write_from_processes(self) -> None:
        """Let several processes write into each store that they can share."""
        for name, tasks in WRITERS.items():
            for run, stand in self._turns(name, lasting=True):
                seed = 1_000 * tasks + PROCESSES * run
                items = min(_WRITES, self.size)
                outcome = await write_at_once(stand.candidate, stand.place, seed=seed, items=items, tasks=tasks)
                self.outcomes.setdefault(name, {}).setdefault(stand.name, []).append(outcome)
                self._note(name, stand, outcome.seconds / max(1, outcome.written))

    def _turns(
        self, operation: str, *, needs: str | None = None, lasting: bool = False
    ) -> Iterator[tuple[int, _Stand]]:
        """Yield each round with each candidate that takes part, every round beginning with another of them."""
        self.tell(f"{self.size:,} items: {operation}")
        able = [stand for stand in self.stands if (needs or operation) not in stand.left_out]
        able = [stand for stand in able if stand.driver.persistent or not lasting]
        for run in range(self.runs):
            first = run % max(1, len(able))
            for stand in able[first:] + able[:first]:
                yield run, stand

    def _note(self, operation: str, stand: _Stand, figure: float) -> None:
        self.figures.setdefault(operation, {}).setdefault(stand.name, []).append(figure)


def analysis_seconds(items: list[Item], *, clock: Clock) -> float:
    """Return what the analysis of one item costs, which an adapter pays and a raw limit does not."""
    durations = []
    for item in items:
        started = clock()
        analyse_item(item.text, item.tags)
        durations.append(clock() - started)
    return median(durations)


def _set_aside() -> None:
    gc.collect()
    gc.freeze()
