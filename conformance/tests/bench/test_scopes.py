"""One user's records are searched among those of ever more others, and only that user's are found."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from memcore.records.in_memory import InMemoryRecords
from memcore_conformance.bench.candidates import Candidate
from memcore_conformance.bench.scopes import OPERATIONS, ScopeFigures, WrongAnswer, measure_scopes

if TYPE_CHECKING:
    from pathlib import Path

    from memcore import MemoryHit, RecordQuery


async def measured(root: Path) -> ScopeFigures | None:
    return await measure_scopes(
        Candidate("memory://", "memory://"),
        scheme="memory",
        others=(1, 20),
        runs=2,
        root=root / "place",
        clock=perf_counter,
        tell=lambda _: None,
    )


async def test_every_operation_has_a_figure_a_round_for_every_number_of_other_users(tmp_path: Path) -> None:
    figures = await measured(tmp_path)

    assert figures is not None
    assert {name: {others: len(rounds) for others, rounds in by.items()} for name, by in figures.figures.items()} == (
        {name: {1: 2, 20: 2} for name in OPERATIONS}
    )


async def test_an_adapter_that_finds_nothing_of_the_user_gets_no_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find_nothing(_self: InMemoryRecords, _query: RecordQuery) -> list[MemoryHit]:
        return []

    monkeypatch.setattr(InMemoryRecords, "search", find_nothing)

    with pytest.raises(WrongAnswer):
        await measured(tmp_path)
