"""Several processes write at once; what they acknowledged is looked for afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from memcore_conformance.bench.candidates import Candidate
from memcore_conformance.bench.place import Place
from memcore_conformance.bench.workload import make_items
from memcore_conformance.bench.writers import Order, write_at_once

SQLITE3 = Candidate("sqlite3 full", "sqlite:///bench.db?synchronous=off")


@pytest.mark.parametrize(
    "candidate", [SQLITE3, Candidate("sqlite:///bench.db", "sqlite:///bench.db")], ids=lambda candidate: candidate.name
)
@pytest.mark.parametrize("tasks", [1, 8])
async def test_processes_write_all_their_items_into_one_store(candidate: Candidate, tasks: int, tmp_path: Path) -> None:
    place = Place.fresh(tmp_path / "place")
    outcome = await write_at_once(candidate, place, seed=50, items=20, tasks=tasks, processes=3)
    assert (outcome.written, outcome.errors, outcome.lost) == (60, (), 0)


@pytest.mark.parametrize("name", ["sqlite3 full", "aiosqlite full"])
async def test_what_is_refused_is_counted_by_its_error(name: str, tmp_path: Path) -> None:
    candidate, place = Candidate(name, SQLITE3.url), Place.fresh(tmp_path / "place")
    driver = candidate.driver(place)
    await driver.open()
    await driver.put_many(make_items(5, seed=50))  # the first process meets its own first items
    await driver.close()
    outcome = await write_at_once(candidate, place, seed=50, items=20, tasks=1, processes=2)
    assert outcome.written == 35
    assert outcome.errors == ("IntegrityError: UNIQUE constraint failed: item.id",) * 5


async def test_what_is_acknowledged_and_not_there_is_lost(tmp_path: Path) -> None:
    place = Place.fresh(tmp_path / "place")  # every process has a dictionary of its own
    outcome = await write_at_once(Candidate("dict scan", "memory://"), place, seed=50, items=10, tasks=1, processes=2)
    assert (outcome.written, outcome.lost) == (20, 20)


def test_an_order_survives_the_way_to_its_process() -> None:
    order = Order(SQLITE3, Place(Path("somewhere"), "bench-1"), seed=3, items=20, tasks=4)
    assert Order.read(order.write()) == order
