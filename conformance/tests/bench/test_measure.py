"""A measurement has a figure of every operation for everyone who can do it, and one a round."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from memcore_conformance.bench.candidates import Candidate, Group
from memcore_conformance.bench.measure import CONDITIONS, OPERATIONS, WRITERS, measure

if TYPE_CHECKING:
    from pathlib import Path

URL = "sqlite:///bench.db?synchronous=normal"


def group(*beside: str) -> Group:
    limits = tuple(Candidate(name, URL) for name in beside)
    return Group(scheme="sqlite", adapters=(Candidate(URL, URL),), beside=limits)


async def test_every_operation_is_measured_once_a_round(tmp_path: Path) -> None:
    told: list[str] = []
    result = await measure(group(), size=60, runs=2, root=tmp_path, clock=perf_counter, writers=False, tell=told.append)
    assert {name: len(figures[URL]) for name, figures in result.figures.items() if name != "bytes an item"} == (
        dict.fromkeys(set(OPERATIONS) - set(WRITERS) - {"bytes an item"}, 2)
    )
    assert result.typical("bytes an item", URL) is not None
    assert "60 items: put" in told


async def test_what_a_candidate_does_not_offer_has_no_figure_and_a_reason(tmp_path: Path) -> None:
    result = await measure(
        group("sqlite3 kv"), size=60, runs=1, root=tmp_path, clock=perf_counter, writers=False, tell=lambda _: None
    )
    assert "sqlite3 kv" in result.figures["put"]
    assert "sqlite3 kv" not in result.figures["tag rare"]
    assert set(CONDITIONS) - {"newest 20"} <= set(result.left_out["sqlite3 kv"])


async def test_several_processes_write_into_what_they_can_share(tmp_path: Path) -> None:
    result = await measure(
        group("dict scan"), size=10, runs=1, root=tmp_path, clock=perf_counter, writers=True, tell=lambda _: None
    )
    assert set(result.outcomes) == set(WRITERS)
    for outcomes in result.outcomes.values():
        assert list(outcomes) == [URL]
        assert (outcomes[URL][0].written, outcomes[URL][0].lost) == (40, 0)
