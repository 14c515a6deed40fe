"""What people read: a table of families, the failures in a few lines each, and the grade or why there is none."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, get_args

from memcore_conformance.catalogue import catalogue
from memcore_conformance.verdicts import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memcore_conformance.catalogue import Case
    from memcore_conformance.run import Report
    from memcore_conformance.verdicts import Verdict

OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_STEPS: Final = 6


def report_text(report: Report) -> str:
    """Return the whole report: every failure, then the summary."""
    failures = [failure_text(catalogue()[v.case], v, report.adapter) for v in report.ended("failed", "error")]
    return "\n\n".join([*failures, summary(report)])


def summary(report: Report) -> str:
    """Return the table, what the harness lacks, and what is concluded."""
    return "\n\n".join(part for part in (table(report), lacking(report), conclusion(report)) if part)


def table(report: Report) -> str:
    """Return how many cases of each family ended how."""
    counts: dict[str, Counter[str]] = {}
    for verdict in report.verdicts:
        counts.setdefault(catalogue()[verdict.case].family, Counter())[verdict.outcome] += 1
    rows = [["family", *(name.replace("_", " ") for name in OUTCOMES)]]
    rows += [[family, *(str(count[name] or "·") for name in OUTCOMES)] for family, count in sorted(counts.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    return "\n".join(lines)


def lacking(report: Report) -> str:
    """Return a line for everything that the harness cannot do, with the cases that are unproven for it."""
    cases: dict[str, list[str]] = {}
    for verdict in report.ended("unproven"):
        cases.setdefault(str(verdict.note), []).append(verdict.case)
    return "\n".join(f"unproven, {note}: {', '.join(names)}" for note, names in sorted(cases.items()))


def failure_text(case: Case, verdict: Verdict, adapter: str) -> str:
    """Return what an author needs to see of a case that did not pass."""
    lines = [f"{case.id}  {case.title}", f"  verdict   {verdict.outcome} ({case.level}, clause {case.clause})"]
    if verdict.note:
        lines.append(f"  because   {verdict.note}")
    if verdict.failure:
        lines += _steps(verdict.failure.done)
        lines += [f"  expected  {verdict.failure.expected}", f"  got       {verdict.failure.got}"]
    return "\n".join([*lines, f"  again     {command(adapter)} --case {case.id}"])


def conclusion(report: Report) -> str:
    """Return the last line: the grade, or that the run is partial."""
    counted = f"{report.adapter}: {len(report.verdicts)} of {report.owed} verdicts"
    suite = f"suite {report.suite}, catalogue {report.catalogue[:12]}"
    if not report.complete:
        return f"{counted} ({suite})\nPARTIAL: nothing is concluded from a filtered or shortened run"
    return f"{counted} ({suite})\n{report.adapter}: {report.grade or 'no grade: it does not say what it claims'}"


def command(adapter: str) -> str:
    """Return the command that repeats a run."""
    return f"memcore conformance {adapter}"


def _steps(done: tuple[str, ...]) -> Iterator[str]:
    hidden = len(done) - _STEPS
    shown = [f"… {hidden} steps before", *done[hidden:]] if hidden > 0 else list(done)
    for place, step in enumerate(shown):
        yield ("  done      " if place == 0 else " " * 12) + step
