"""Tries the suite on every mutant: its named case must catch it, and its whole failing set must be the reviewed one.

Cases that hang on chance or on the timing of processes may catch a mutant besides or not: they count where they are
named, and are left out of the reviewed sets.

`python conformance/tests/run_mutants.py [--update] [NAME ...]`; `--update` writes `mutants/failing_sets.json` anew.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memcore_conformance.catalogue import catalogue
from memcore_conformance.run import run
from memcore_sqlite.testing import SqliteHarness
from mutants import all_mutants

if TYPE_CHECKING:
    from mutants import Mutant

FAILING_SETS: Final = Path(__file__).parent / "mutants" / "failing_sets.json"
ELSEWHERE: Final = Path(__file__).parent / "elsewhere"
"""Where the other processes of the suite find the mutants that are for them."""
ONLY_OF_FILES: Final = {"maintenance", "durable", "shared"}
"""What only the mutants of `sqlite://` claim; and of records, only they have a transport."""
PATIENCE: Final = 0.1
"""A mutant that hangs shall not hold up the rest."""


def main(arguments: list[str]) -> int:
    os.environ["PYTHONPATH"] = str(ELSEWHERE)
    names = {name for name in arguments if not name.startswith("-")}
    mutants = [mutant for mutant in all_mutants() if mutant.name in names or not names]
    known: dict[str, list[str]] = json.loads(FAILING_SETS.read_text()) if FAILING_SETS.exists() else {}
    order = [mutant.name for mutant in mutants]
    with ProcessPoolExecutor() as workers:  # one for each core
        found = dict(zip(order, workers.map(failing, order), strict=True))
    faults = [fault for mutant in mutants for fault in judge(mutant, found[mutant.name])]
    found = {
        name: [case for case in failed if catalogue()[case].nature != "stochastic"] for name, failed in found.items()
    }
    faults += [f"{name}: several mutants are called so" for name, count in Counter(order).items() if count > 1]
    if not names:
        killers = {mutant.killer for mutant in mutants}
        faults += [f"{case.id}: no mutant names it as its killer" for case in catalogue() if case.id not in killers]
    if "--update" in arguments:
        FAILING_SETS.write_text(
            json.dumps(dict(sorted({**(known if names else {}), **found}.items())), indent=1) + "\n"
        )
    else:
        faults += [
            f"{name}: fails {found[name]}, reviewed: {known.get(name)}"
            for name in found
            if found[name] != known.get(name)
        ]
    print("\n".join([*faults, f"{len(mutants)} mutants, {len(faults)} faults"]))
    return 1 if faults else 0


def failing(name: str) -> list[str]:
    """Return the cases that a mutant fails."""
    mutant = next(mutant for mutant in all_mutants() if mutant.name == name)
    cases = None
    if isinstance(mutant.factory, type) and issubclass(mutant.factory, SqliteHarness):
        cases = [case for case in catalogue() if _needs_a_file(set(case.claims))]  # the others need none to fail
    return [verdict.case for verdict in run(mutant.factory, cases=cases, patience=PATIENCE).ended("failed", "error")]


def _needs_a_file(claims: set[str]) -> bool:
    return bool(ONLY_OF_FILES & claims) or {"records", "transport"} <= claims


def judge(mutant: Mutant, failed: list[str]) -> list[str]:
    """Return what is wrong with the failing set of a mutant."""
    if mutant.killer is None:
        return [f"{mutant.name}: harmless, and fails {failed}"] if failed else []
    if mutant.killer not in catalogue():
        return [f"{mutant.name}: no such case {mutant.killer}"]
    return [] if mutant.killer in failed else [f"{mutant.name}: {mutant.killer} does not catch it; failing: {failed}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
