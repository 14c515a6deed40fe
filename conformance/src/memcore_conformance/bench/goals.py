"""What an adapter aims at: ratios to a limit, a peer or itself, measured in the same run; never absolute times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from memcore_conformance.bench.measure import CONDITIONS, NARROWED, SEARCHES, WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memcore_conformance.bench.candidates import Group
    from memcore_conformance.bench.measure import Measurements

IMPORT_ALLOWANCE: Final = 0.040
"""Seconds that `import memcore` may take beyond pydantic with one model."""

Extra = Literal["hop", "analysis", "pydantic"]


@dataclass(frozen=True, slots=True)
class Goal:
    """An operation takes at most `factor` times what the limit takes, and what `plus` names on top."""

    operation: str
    factor: float
    limit: str | None = None
    """A candidate beside the adapter; without one the adapter is compared with itself."""
    of: str | None = None
    """The operation of the limit, where it is another."""
    plus: Extra | None = None
    least: int = 0
    """Sizes below this are not judged."""
    base: int | None = None
    """The size of the limit, where it is another."""

    def __str__(self) -> str:
        against = self.limit or "the same"
        extra = {None: "", "hop": " + a thread hop", "analysis": " + the analysis", "pydantic": " + import pydantic"}
        of = f", {self.of}" if self.of else ""
        at = f" at {self.base:,}" if self.base else ""
        return f"{self.factor:.3g} x {against}{of}{at}{extra[self.plus]}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A goal of one adapter at one size, and how it stands."""

    adapter: str
    size: int
    goal: Goal
    measured: float
    allowed: float

    @property
    def met(self) -> bool:
        """Whether the adapter keeps within what is allowed."""
        return self.measured <= self.allowed


GOALS: Final[Mapping[str, tuple[Goal, ...]]] = {
    "memory": (
        Goal("put", 1.5, "LangGraph memory", plus="analysis"),
        Goal("get", 3, "LangGraph memory"),
        *(Goal(name, 0.05, "dict scan", least=100_000) for name in SEARCHES),
        *(Goal(name, 2, least=100_000, base=10_000) for name in CONDITIONS),
    ),
    "sqlite": (
        Goal("put", 1.8, "sqlite3 full"),
        Goal("put, 64 tasks", 0.4, "sqlite3 full"),
        Goal("bulk", 1.8, "sqlite3 full"),
        Goal("get", 2, "aiosqlite full"),
        Goal("get, 64 tasks", 2, "sqlite3 full"),
        Goal("get, 64 tasks", 1, "LangGraph sqlite"),
        *(Goal(name, 1.25, "sqlite3 full", plus="hop", least=10_000) for name in SEARCHES),
        Goal(NARROWED, 0.15, of="search mixed", least=100_000),
        *(Goal(name, 2.5, "sqlite3 full") for name in CONDITIONS),
        *(Goal(name, 2, least=100_000, base=10_000) for name in CONDITIONS),
        *(Goal(name, 0.01, "LangGraph sqlite", least=100_000) for name in CONDITIONS),
        Goal("first result", 1.5, "aiosqlite full", plus="pydantic"),
        *(Goal(name, 1 / 1.5, "sqlite3 full") for name in WRITERS),
        Goal("bytes an item", 1.4, "sqlite3 full"),
    ),
    "postgresql": (
        Goal("put", 1.2, "asyncpg full"),
        Goal("put, 64 tasks", 0.45, "asyncpg full"),
        Goal("bulk", 1.4, "asyncpg full"),
        Goal("get", 0.75, "asyncpg full"),
        Goal("get, 64 tasks", 0.2, "asyncpg full"),
        *(Goal(name, 1.2, "asyncpg full") for name in SEARCHES),
        Goal(NARROWED, 0.5, of="search mixed", least=100_000),
        *(Goal(name, 1, "asyncpg full") for name in CONDITIONS),
    ),
}


def judge(group: Group, measured: Sequence[Measurements], costs: Mapping[Extra, float]) -> Iterator[Judgement]:
    """Yield a judgement for each goal of each adapter at each size where both sides were measured.

    `costs` are the seconds of what the goals name on top, `hop` excepted: that one is known from the group.
    """
    sizes = {measurements.size: measurements for measurements in measured}
    for goal in GOALS.get(group.scheme, ()):
        for size, measurements in sizes.items():
            base = sizes.get(goal.base or size)
            if size < goal.least or base is None:
                continue
            extra = _extra(goal.plus, measurements, costs)
            for adapter in group.adapters:
                own = measurements.typical(goal.operation, adapter.name)
                limit = base.typical(goal.of or goal.operation, goal.limit or adapter.name)
                if own is not None and limit is not None and extra is not None:
                    yield Judgement(adapter.name, size, goal, own, goal.factor * limit + extra)


def _extra(plus: Extra | None, measurements: Measurements, costs: Mapping[Extra, float]) -> float | None:
    if plus is None:
        return 0.0
    if plus != "hop":
        return costs.get(plus)
    direct, hopped = (measurements.typical("get", name) for name in ("sqlite3 full", "aiosqlite full"))
    return None if direct is None or hopped is None else hopped - direct
