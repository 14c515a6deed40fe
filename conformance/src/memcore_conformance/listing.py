"""The page that lists all cases and what proves each clause: `python -m memcore_conformance.listing > PAGE`."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING, Final

from memcore_conformance.catalogue import catalogue
from memcore_conformance.traceability import traceability

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memcore_conformance.catalogue import Case
    from memcore_conformance.traceability import Trace

_HEAD: Final = """\
# Cases

<!-- made by `nox -s cases`: do not edit -->

Everything that the suite tries, by family, and below it [what proves each clause](#clauses). A case is owed by an
adapter that claims all that stands under *claims*, and needs a harness with what stands under *needs*; both are
explained in [The conformance suite](conformance.md). `memcore conformance --list` prints the same.
"""


def page() -> str:
    """Return the page in Markdown."""
    families = groupby(sorted(catalogue(), key=lambda part: (part.family, part.id)), key=lambda part: part.family)
    lines = [line for name, cases in families for line in _family(name, cases)]
    return "\n".join([_HEAD, *lines, *_clauses()])


def _family(name: str, cases: Iterable[Case]) -> Iterator[str]:
    yield f"## {name.capitalize()}\n"
    yield from _table(("case", "what must hold", "claims", "needs"), map(_row, cases))


def _row(part: Case) -> tuple[str, ...]:
    title = part.title if part.level == "must" else f"{part.title} (should)"
    return f"`{part.id}`", title, ", ".join(part.claims), ", ".join(part.needs)


def _clauses() -> Iterator[str]:
    yield "## Clauses\n"
    yield from _table(("clause", "what it says", "proven by"), map(_trace, traceability()))


def _trace(line: Trace) -> tuple[str, ...]:
    link = f"[{line.clause}](clauses.md#{line.clause.lower()})"
    return link, line.summary, ", ".join(f"`{name}`" for name in line.cases) or f"{line.reason}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for cells in (head, ("---",) * len(head), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(page())
