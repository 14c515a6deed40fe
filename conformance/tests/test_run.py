from __future__ import annotations

from typing import NoReturn

import pytest
from memcore import Capabilities
from memcore.backend import not_offered
from memcore_conformance.catalogue import catalogue
from memcore_conformance.memory import MemoryHarness
from memcore_conformance.run import Run, run
from mutants import Backend, Harness
from mutants.backend import ClaimsMaintenance
from remote import RemoteHarness


@pytest.mark.parametrize(
    ("harness", "capabilities"),
    [
        (MemoryHarness, "analysed + managed + records + history + lifecycle + transfer"),
        (RemoteHarness, "analysed + managed"),
    ],
    ids=["memory", "remote"],
)
def test_an_adapter_that_is_right_is_graded_core_with_its_capabilities(harness: type, capabilities: str) -> None:
    report = run(harness)
    assert report.ended("failed", "error", "unproven") == []
    assert str(report.grade).startswith(f"core + {capabilities}; NOT claimed: ")


def test_a_grade_names_everything_that_is_not_claimed() -> None:
    assert str(run(MemoryHarness).grade).partition("NOT claimed: ")[2] == (
        "transport, maintenance, durable, power safe, shared, semantic, conversations"
    )


def test_an_adapter_that_fails_a_case_has_no_grade() -> None:
    report = run(ClaimsMaintenance.factory)
    assert report.grade
    assert report.grade.level == "none"
    assert "B-02c" in report.grade.not_met
    assert not report.met


def test_an_adapter_that_offers_no_contract_has_no_grade() -> None:
    class OffersNothing(Backend):
        @property
        def items(self) -> NoReturn:
            raise not_offered("nothing", "items")

        @property
        def capabilities(self) -> Capabilities:
            return Capabilities(contracts=frozenset())

    report = run(type("OffersNothingHarness", (Harness,), {"backend_type": OffersNothing}))
    assert report.ended("failed", "error") == []
    assert str(report.grade).startswith("no grade; NOT claimed: items, ")


def test_a_run_of_chosen_cases_is_partial_and_concludes_nothing() -> None:
    report = run(MemoryHarness, cases=[catalogue()["I-43a"]])
    assert (report.complete, report.grade, report.met) == (False, None, False)


def test_the_same_case_many_times_completes_nothing() -> None:
    progress = Run(MemoryHarness)
    for _ in catalogue():
        progress.try_case(catalogue()["I-43a"])
    assert not progress.report().complete


def test_an_adapter_that_does_not_open_has_an_error_for_every_case() -> None:
    class Broken(Backend):
        async def open(self) -> None:
            raise OSError("no file")

    report = run(type("BrokenHarness", (Harness,), {"backend_type": Broken}))
    assert len(report.ended("error")) == len(catalogue())
    assert report.complete
    assert not report.met


def test_a_run_tells_each_verdict_as_it_comes() -> None:
    heard: list[str] = []
    chosen = [catalogue()["I-43a"], catalogue()["I-10a"]]
    run(MemoryHarness, cases=chosen, told=lambda case, verdict: heard.append(f"{case.id} {verdict.outcome}"))
    assert heard == ["I-43a passed", "I-10a passed"]
