"""A run: the ledger of what is owed and what came, and the report that it closes with."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from memcore_conformance.catalogue import catalogue
from memcore_conformance.claims import Claims
from memcore_conformance.engine import SEED, Survey, run_case, survey
from memcore_conformance.grades import Grade, grade
from memcore_conformance.verdicts import ServiceMissing, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memcore_conformance.catalogue import Case
    from memcore_conformance.harness import HarnessFactory
    from memcore_conformance.verdicts import Outcome


class Report(BaseModel):
    """Everything that came out of a run, complete or not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    adapter: str
    suite: str
    """The version of the suite: the version of the contract."""
    catalogue: str
    """The digest of the cases."""
    owed: int
    """How many verdicts a complete run has."""
    seed: str
    claims: Claims | None
    """`None` where the adapter did not even say."""
    versions: dict[str, str]
    """What takes part, as the adapter's ping tells."""
    verdicts: tuple[Verdict, ...]
    grade: Grade | None
    """`None` where the run is partial."""

    @property
    def complete(self) -> bool:
        """Whether there is exactly one verdict for every case of the catalogue."""
        ids = [verdict.case for verdict in self.verdicts]
        return len(ids) == len(set(ids)) == self.owed

    @property
    def met(self) -> bool:
        """Whether the run is complete and the adapter has a grade: what a build may call success."""
        return self.complete and self.grade is not None and self.grade.level != "none"

    def ended(self, *outcomes: Outcome) -> list[Verdict]:
        """Return the verdicts with one of these outcomes."""
        return [verdict for verdict in self.verdicts if verdict.outcome in outcomes]


class Run:
    """One adapter being tried, case by case."""

    def __init__(self, factory: HarnessFactory, *, seed: str = SEED, patience: float = 1.0) -> None:
        self._factory = factory
        self._seed = seed
        self._patience = patience
        self._verdicts: dict[str, Verdict] = {}

    def try_case(self, case: Case) -> Verdict:
        """Try one case and enter its verdict."""
        found = self._survey
        if isinstance(found, Survey):
            verdict = run_case(case, self._factory, found.claims, seed=self._seed, patience=self._patience)
        else:
            verdict = Verdict(case=case.id, outcome="error", note=str(found))
        self._verdicts[case.id] = verdict
        return verdict

    def report(self) -> Report:
        """Close the ledger."""
        cases = catalogue()
        found = self._survey
        claims, versions = (found.claims, found.versions) if isinstance(found, Survey) else (None, {})
        complete = self._verdicts.keys() == {part.id for part in cases}
        return Report(
            adapter=self._factory.name,
            suite=version("memcore-conformance"),
            catalogue=cases.digest,
            owed=len(cases),
            seed=self._seed,
            claims=claims,
            versions=versions,
            verdicts=tuple(self._verdicts[name] for name in sorted(self._verdicts)),
            grade=grade(claims, cases, self._verdicts) if complete and claims else None,
        )

    @cached_property
    def _survey(self) -> Survey | ServiceMissing:
        try:
            return survey(self._factory)
        except ServiceMissing as missing:
            return missing


def run(
    factory: HarnessFactory,
    *,
    cases: Iterable[Case] | None = None,
    seed: str = SEED,
    patience: float = 1.0,
    told: Callable[[Case, Verdict], None] = lambda _case, _verdict: None,
) -> Report:
    """Try the cases on an adapter, all of them unless some are chosen; `told` hears each verdict as it comes."""
    progress = Run(factory, seed=seed, patience=patience)
    for part in catalogue() if cases is None else cases:
        told(part, progress.try_case(part))
    return progress.report()
