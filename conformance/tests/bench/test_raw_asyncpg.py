"""The limit of PostgreSQL answers as the workload says, on a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memcore_conformance.bench.candidates import Candidate, group
from memcore_conformance.bench.check import NOT_OFFERED, check
from memcore_conformance.bench.place import Place
from memcore_conformance.bench.workload import make_questions
from memcore_postgres.testing import PostgresHarness

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def url() -> AsyncIterator[str]:
    harness = PostgresHarness()
    await harness.reset()
    yield harness.url()
    await harness.close()


async def faults(name: str, url: str, folder: Path) -> dict[str, str]:
    driver = Candidate(name, url).driver(Place.fresh(folder / "place"))
    await driver.open()
    try:
        return dict(await check(driver))
    finally:
        await driver.close()
        await driver.forget()


async def test_the_limit_answers_as_the_workload_says(url: str, tmp_path: Path) -> None:
    assert await faults("asyncpg full", url, tmp_path) == {}


async def test_what_keeps_no_index_offers_neither_search_nor_conditions(url: str, tmp_path: Path) -> None:
    assert await faults("asyncpg kv", url, tmp_path) == dict.fromkeys(
        make_questions().keys() - {"newest 20"}, NOT_OFFERED
    )


def test_raw_asyncpg_stands_beside_postgresql() -> None:
    (postgresql,) = group(["postgresql://localhost/memory"])
    assert [candidate.name for candidate in postgresql.beside] == ["asyncpg full", "asyncpg kv"]
