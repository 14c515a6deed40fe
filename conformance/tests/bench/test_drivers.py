"""Every driver answers as the workload says, and the check finds one that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memcore_conformance.bench.candidates import Candidate
from memcore_conformance.bench.check import DIFFERENT, NOT_OFFERED, check
from memcore_conformance.bench.dictionary import DictDriver
from memcore_conformance.bench.driver import NotOffered
from memcore_conformance.bench.place import Place
from memcore_conformance.bench.startup import run_fresh
from memcore_conformance.bench.workload import Question, make_items, make_questions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from uuid import UUID

    from memcore_conformance.bench.driver import Driver
    from memcore_conformance.bench.workload import Item

PERSISTENT = [
    Candidate("sqlite3 full", "sqlite:///bench.db"),
    Candidate("sqlite3 kv", "sqlite:///bench.db?synchronous=normal"),
    Candidate("aiosqlite full", "sqlite:///bench.db"),
    Candidate("sqlite:///bench.db", "sqlite:///bench.db"),
]
INDEXED = [candidate for candidate in PERSISTENT if candidate.name != "sqlite3 kv"]
IN_MEMORY = [Candidate("dict scan", "memory://"), Candidate("memory://", "memory://")]
SEARCHES = ("search rare", "search common", "search mixed", "search mixed in one session")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.fresh(tmp_path / "place")


async def checked(driver: Driver) -> Mapping[str, str]:
    await driver.open()
    try:
        return await check(driver)
    finally:
        await driver.close()
        await driver.forget()


@pytest.mark.parametrize("candidate", IN_MEMORY + INDEXED, ids=lambda candidate: candidate.name)
async def test_a_driver_answers_as_the_workload_says(candidate: Candidate, place: Place) -> None:
    assert await checked(candidate.driver(place)) == {}


async def test_what_keeps_no_index_offers_neither_search_nor_conditions(place: Place) -> None:
    faults = await checked(Candidate("sqlite3 kv", "sqlite:///bench.db").driver(place))
    assert set(faults) == set(make_questions()) - {"newest 20"}
    assert set(faults.values()) == {NOT_OFFERED}


@pytest.mark.parametrize("candidate", PERSISTENT, ids=lambda candidate: candidate.name)
async def test_a_persistent_driver_finds_its_items_again(candidate: Candidate, place: Place) -> None:
    items = make_items(3)
    for number, item in enumerate(items):
        driver = candidate.driver(place)
        await driver.open()
        assert [await driver.get(item.id) is not None for item in items[:number]] == [True] * number
        await driver.put(item)
        await driver.close()
        assert driver.persistent
    assert place.size() > 0


@pytest.mark.parametrize("candidate", INDEXED[1:], ids=lambda candidate: candidate.name)
async def test_the_program_of_a_first_result_finds_what_was_stored(candidate: Candidate, place: Place) -> None:
    items = make_items(3)
    driver = candidate.driver(place)
    await driver.open()
    await driver.put_many(items)
    await driver.close()
    program = driver.first_result(Question(words=(items[0].text.split()[-1],)))
    assert run_fresh(program, folder=place.folder) > 0


async def test_the_data_of_a_service_are_erased_at_the_end(place: Place, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/elsewhere.db"
    driver = Candidate(url, url).driver(place)
    (item,) = make_items(1)
    await driver.open()
    await driver.put(item)
    await driver.close()
    await driver.forget()
    await driver.open()
    assert await driver.get(item.id) is None
    await driver.close()


class Forgetful(DictDriver):
    async def put(self, item: Item) -> None:
        if item.created_at % 10:
            await super().put(item)


class Credulous(DictDriver):
    async def get(self, item_id: UUID) -> object:
        return await super().get(item_id) or next(iter(self._items.values()))


class OldestFirst(DictDriver):
    async def find(self, question: Question) -> Sequence[object]:
        return list(reversed(await super().find(question)))


class Deaf(DictDriver):
    async def find(self, question: Question) -> Sequence[object]:
        return await super().find(question._replace(words=()))


class Tagless(DictDriver):
    async def find(self, question: Question) -> Sequence[object]:
        if question.tag:
            raise NotOffered(question)
        return await super().find(question)


@pytest.mark.parametrize(
    ("driver", "faults"),
    [
        (Credulous(), {"get": DIFFERENT}),
        (Deaf(), dict.fromkeys(SEARCHES, DIFFERENT)),
        (Tagless(), {"tag common": NOT_OFFERED, "tag rare": NOT_OFFERED}),
    ],
    ids=["returns an item for any id", "ignores words", "has no tags"],
)
async def test_the_check_names_what_is_not_answered_and_why(driver: Driver, faults: dict[str, str]) -> None:
    assert await checked(driver) == faults


async def test_the_check_finds_that_items_were_lost() -> None:
    assert (await checked(Forgetful()))["get"] == DIFFERENT


async def test_the_check_finds_the_wrong_order_unless_the_driver_promises_none() -> None:
    driver = OldestFirst()
    assert (await checked(driver))["newest 20"] == DIFFERENT
    driver.newest_first = False
    assert await checked(driver) == {}
