from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memcore import Capabilities
from memcore_conformance.catalogue import Case
from memcore_conformance.claims import Claims
from memcore_conformance.grades import Grade, grade
from memcore_conformance.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from memcore_conformance.claims import Claim


async def _nothing(_trial: object) -> None: ...


def _graded(durable: Outcome | None, durable_and_managed: Outcome) -> Grade:
    """Grade an adapter that claims to be durable and is not managed."""
    combination: tuple[Claim, ...] = ("durable", "managed")
    cases = [Case(id="I-44b", title="both", function=_nothing, claims=combination)]
    verdicts = {"I-44b": Verdict(case="I-44b", outcome=durable_and_managed)}
    if durable:
        cases.append(Case(id="I-44a", title="one", function=_nothing, claims=("durable",)))
        verdicts["I-44a"] = Verdict(case="I-44a", outcome=durable)
    capabilities = Capabilities(contracts=frozenset({"items"}), durable=True)
    return grade(Claims(manifest=None, capabilities=capabilities, transport=True), cases, verdicts)


def test_a_capability_is_proven_by_the_cases_that_are_owed_alone() -> None:
    assert _graded("passed", "not_claimed").proven == ("durable",)


@pytest.mark.parametrize("outcome", ["failed", "error", "unproven"])
def test_a_capability_of_which_a_case_does_not_pass_is_not_proven(outcome: Outcome) -> None:
    assert _graded(outcome, "not_claimed").proven == ()


def test_a_capability_of_which_no_case_is_owed_is_claimed_without_proof() -> None:
    graded = _graded(None, "not_claimed")
    assert (graded.proven, graded.without_proof) == ((), ("durable",))
