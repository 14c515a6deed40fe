"""The results for people and for programs: Markdown tables, and one JSON document."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from memcore_conformance.bench.goals import IMPORT_ALLOWANCE, judge
from memcore_conformance.bench.measure import OPERATIONS
from memcore_conformance.bench.scopes import FLATNESS, IN_SCOPE, IN_SESSION, NARROWING
from memcore_conformance.bench.scopes import OPERATIONS as SCOPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memcore_conformance.bench.candidates import Group
    from memcore_conformance.bench.goals import Extra, Judgement
    from memcore_conformance.bench.measure import Measurements
    from memcore_conformance.bench.scopes import ScopeFigures

_BYTES: Final = "bytes an item"
_MILLISECONDS: Final = "first result"


@dataclass(frozen=True, slots=True)
class Report:
    """All results of one run."""

    environment: Mapping[str, str]
    runs: int
    importing: Mapping[str, float]
    """Seconds of `import memcore`, and of pydantic with one model."""
    costs: Mapping[Extra, float]
    results: Sequence[tuple[Group, Sequence[Measurements]]]
    scopes: Sequence[ScopeFigures] = ()

    def judgements(self) -> Iterator[Judgement]:
        """Yield every goal that could be judged."""
        for group, measured in self.results:
            yield from judge(group, measured, self.costs)

    def text(self) -> str:
        """Return everything as Markdown."""
        parts = [
            "\n".join(f"- {name}: {value}" for name, value in self.environment.items()),
            f"Microseconds an operation, where no unit is given: medians of {self.runs} rounds of all candidates.",
            self._importing(),
        ]
        for group, measured in self.results:
            for measurements in measured:
                parts += [f"## {heading(group, measurements)}", figures_table(group, measurements)]
                parts += _notes(measurements)
        for scoped in self.scopes:
            parts += [f"## {scoped.adapter}: one user's records among those of others", _scope_table(scoped)]
        rows = [_judgement_row(judgement) for judgement in self.judgements()]
        rows += [row for scoped in self.scopes for row in _scope_rows(scoped)]
        if rows:
            parts += ["## Goals", table(("adapter", "size", "operation", "goal", "of it", ""), rows)]
        return "\n\n".join(parts) + "\n"

    def data(self) -> dict[str, Any]:
        """Return everything as JSON values: seconds and bytes, one figure a round."""
        return {
            "environment": dict(self.environment),
            "runs": self.runs,
            "importing": dict(self.importing),
            "costs": dict(self.costs),
            "results": [
                {"scheme": group.scheme, "synchronous": group.synchronous, "yardstick": group.yardstick}
                | asdict(measurements)
                for group, measured in self.results
                for measurements in measured
            ],
            "scopes": [asdict(scoped) for scoped in self.scopes],
            "goals": [
                asdict(judgement)
                | {"goal": str(judgement.goal), "operation": judgement.goal.operation}
                | {"met": judgement.met}
                for judgement in self.judgements()
            ],
        }

    def _importing(self) -> str:
        ours, theirs = self.importing["memcore"], self.importing["pydantic"]
        verdict = "met" if ours - theirs <= IMPORT_ALLOWANCE else "MISSED"
        return (
            f"`import memcore` takes {ours * 1e3:.0f} ms, pydantic with one model {theirs * 1e3:.0f} ms; "
            f"{IMPORT_ALLOWANCE * 1e3:.0f} ms more are the goal: {verdict}."
        )


def figures_table(group: Group, measurements: Measurements) -> str:
    """Return one row an operation: each candidate's typical figure, the adapters' with the ratio to the yardstick."""
    header = ["operation"]
    for candidate in group.candidates:
        header.append(candidate.name)
        if candidate in group.adapters and group.yardstick:
            header.append(f"/ {group.yardstick}")
    rows = []
    for operation in OPERATIONS:
        row = [operation]
        limit = measurements.typical(operation, group.yardstick) if group.yardstick else None
        for candidate in group.candidates:
            figure = measurements.typical(operation, candidate.name)
            row.append(show(operation, figure))
            if candidate in group.adapters and group.yardstick:
                row.append(f"{figure / limit:.2f}" if figure is not None and limit else "")
        if any(row[1:]):
            rows.append(row)
    return table(header, rows)


def heading(group: Group, measurements: Measurements) -> str:
    """Return what one table or panel is about."""
    mode = f", synchronous = {group.synchronous}" if group.synchronous else ""
    return f"{group.scheme}, {measurements.size:,} items{mode}"


def show(operation: str, figure: float | None) -> str:
    """Return a figure in the unit of its operation."""
    if figure is None:
        return ""
    if operation == _BYTES:
        return f"{figure:,.0f}"
    if operation == _MILLISECONDS:
        return f"{figure * 1e3:.0f} ms"
    microseconds = figure * 1e6
    return f"{microseconds:,.1f}" if microseconds < 100 else f"{microseconds:,.0f}"  # noqa: PLR2004 - three digits do


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with its columns aligned; the first one is text, the others are figures."""
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    cells = [[line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in (lines[0], rule, *lines[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _scope_table(scoped: ScopeFigures) -> str:
    header = ("other users", *(f"{others:,}" for others in scoped.sizes))
    rows = [(name, *(show(name, scoped.typical(name, others)) for others in scoped.sizes)) for name in SCOPED]
    return table(header, rows)


def _scope_rows(scoped: ScopeFigures) -> Iterator[tuple[str, ...]]:
    """Yield how the two goals of one user's search stand."""
    goals = [(IN_SCOPE, "the same among the fewest others", scoped.flatness(), FLATNESS)]
    if scoped.scheme in NARROWING:
        goals.append((IN_SESSION, "the same search without a scope", scoped.narrowing(), NARROWING[scoped.scheme]))
    for operation, limit, ratio, allowed in goals:
        verdict = "met" if ratio <= allowed else "MISSED"
        goal = f"{allowed:.3g} x {limit}"
        measured = f"{operation}: {ratio:.2f} x"
        yield scoped.adapter, f"{scoped.sizes[-1]:,}", measured, goal, f"{ratio / allowed:.2f}", verdict


def _notes(measurements: Measurements) -> Iterator[str]:
    """Yield what came of the writing processes, and what was not measured."""
    lines = [
        f"- {operation}: {candidate} wrote {sum(outcome.written for outcome in outcomes):,}, "
        f"{_errors(error for outcome in outcomes for error in outcome.errors)}, "
        f"{sum(outcome.lost for outcome in outcomes)} lost"
        for operation, candidates in measurements.outcomes.items()
        for candidate, outcomes in candidates.items()
    ]
    for candidate, left_out in measurements.left_out.items():
        for reason in dict.fromkeys(left_out.values()):
            operations = ", ".join(name for name, why in left_out.items() if why == reason)
            lines.append(f"- {candidate}, {reason}: {operations}")
    if lines:
        yield "\n".join(lines)


def _errors(errors: Iterable[str]) -> str:
    counted = Counter(errors)
    return ", ".join(f"{count} x {kind}" for kind, count in counted.items()) if counted else "no error"


def _judgement_row(judgement: Judgement) -> tuple[str, ...]:
    operation, allowed = judgement.goal.operation, judgement.allowed
    return (
        judgement.adapter,
        f"{judgement.size:,}",
        f"{operation}: {show(operation, judgement.measured)}",
        f"{judgement.goal} = {show(operation, allowed)}",
        f"{judgement.measured / allowed:.2f}" if allowed else "",
        "met" if judgement.met else "MISSED",
    )
