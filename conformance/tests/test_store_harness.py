from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import memcore
from memcore_conformance.render import summary
from memcore_conformance.run import run

if TYPE_CHECKING:
    from memcore import Backend, ExternalMemoryStore


class FiveMethods:
    """A harness in the form of five methods, over a store that has a transport only in name."""

    name: ClassVar[str] = "five"

    async def make_store(self) -> ExternalMemoryStore:
        self.backend: Backend = memcore.connect("memory://")
        await self.backend.open()
        return self.backend.items  # type: ignore[return-value]

    async def reset(self) -> None: ...

    async def make_search_index_visible(self) -> None: ...

    async def make_transport_unavailable(self) -> None:
        async def unavailable(*_arguments: object) -> None:
            raise memcore.MemoryAdapterUnavailable("down") from ConnectionError()

        for name in ("store", "retrieve", "search"):
            setattr(self.backend.items, name, unavailable)

    async def close(self) -> None: ...


def test_a_harness_of_five_methods_is_accepted_and_graded_portable() -> None:
    report = run(FiveMethods)
    assert report.ended("failed", "error") == []
    assert report.complete
    assert report.grade
    assert report.grade.level == "portable"


def test_what_needs_a_faculty_is_unproven_and_what_needs_a_backend_is_not_claimed() -> None:
    outcomes = {verdict.case: verdict.outcome for verdict in run(FiveMethods).verdicts}
    assert (outcomes["I-40b"], outcomes["B-02a"], outcomes["I-80a"]) == ("unproven", "not_claimed", "not_claimed")


def test_an_outage_is_proven_without_any_faculty() -> None:
    outcomes = {verdict.case: verdict.outcome for verdict in run(FiveMethods).verdicts}
    assert outcomes["I-70a"] == "passed"


def test_what_the_harness_cannot_show_is_told_with_the_cases_that_it_would_take() -> None:
    lines = summary(run(FiveMethods)).splitlines()
    (line,) = [line for line in lines if line.startswith("unproven, the harness cannot show it: faults: ")]
    assert "I-40b" in line
