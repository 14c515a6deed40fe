"""The judge of histories: what some order explains, and what none does."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from memcore import MemoryAdapterUnavailable, MemoryConflict, MemoryRecord
from memcore_conformance.history import History, Operation, explained


def write(value: str, start: int, end: int | None) -> Operation:
    return Operation("write", value, start, end)


def read(value: str | None, start: int, end: int) -> Operation:
    return Operation("read", value, start, end)


def erase(*, there: bool, start: int, end: int | None) -> Operation:
    return Operation("erase", there, start, end)


def swap(old: str, new: str, start: int, end: int) -> Operation:
    return Operation("swap", (old, new), start, end)


def lost(old: str, seen: str, start: int, end: int) -> Operation:
    return Operation("lost", (old, seen), start, end)


@pytest.mark.parametrize(
    "operations",
    [
        [],
        [read(None, 0, 1)],
        [write("a", 0, 1), read("a", 2, 3)],
        [write("a", 0, 1), write("b", 2, 3), read("b", 4, 5)],
        [write("a", 0, 3), read(None, 1, 2)],
        [write("a", 0, 3), read("a", 1, 2)],
        [write("a", 0, 5), write("b", 1, 4), read("b", 6, 7), read("b", 8, 9)],
        [write("a", 0, 5), write("b", 1, 4), read("a", 6, 7)],
        [write("a", 0, None), read(None, 1, 2), read("a", 3, 4)],
        [write("a", 0, None), read(None, 1, 2), read(None, 3, 4)],
        [write("a", 0, 1), erase(there=True, start=2, end=3), read(None, 4, 5), erase(there=False, start=6, end=7)],
        [write("a", 0, 1), erase(there=True, start=2, end=None), read("a", 3, 4), read(None, 5, 6)],
        [write("a", 0, 1), write("a", 2, 5), read("a", 3, 4)],
        [write("a", 0, 1), swap("a", "b", 2, 5), lost("a", "b", 3, 4), read("b", 6, 7)],
        [write("a", 0, 1), swap("a", "b", 2, 9), lost("a", "c", 3, 8), swap("b", "c", 4, 7)],
    ],
)
def test_an_order_explains_it(operations: list[Operation]) -> None:
    assert explained(operations)


@pytest.mark.parametrize(
    "operations",
    [
        [read("a", 0, 1)],
        [write("a", 0, 1), read(None, 2, 3)],
        [write("a", 0, 1), write("b", 2, 3), read("a", 4, 5)],
        [write("a", 0, 5), read("a", 1, 2), read(None, 3, 4)],
        [write("a", 0, 5), write("b", 1, 4), read("a", 6, 7), read("b", 8, 9)],
        [write("a", 0, None), read("a", 1, 2), read(None, 3, 4)],
        [read("a", 0, 1), write("a", 2, None)],
        [write("a", 0, 1), erase(there=False, start=2, end=3)],
        [erase(there=True, start=0, end=1), write("a", 2, 3)],
        [write("a", 0, 1), erase(there=True, start=2, end=5), erase(there=True, start=3, end=4)],
        [write("a", 0, 1), swap("a", "b", 2, 5), swap("a", "c", 3, 4)],
        [write("a", 0, 1), lost("a", "b", 2, 3), swap("a", "b", 4, 5)],
        [write("a", 0, 1), lost("a", "a", 2, 3)],
        [write("a", 0, 1), swap("a", "b", 2, 3), swap("b", "c", 4, 5), lost("a", "b", 6, 7)],
    ],
)
def test_no_order_explains_it(operations: list[Operation]) -> None:
    assert not explained(operations)


def test_many_concurrent_operations_are_judged_at_once() -> None:
    writes = [write(str(number), number, 1_000) for number in range(40)]

    assert explained([*writes, read("7", 1_001, 1_002), read("7", 1_003, 1_004)])
    assert not explained([*writes[:12], read("7", 1_001, 1_002), read("8", 1_003, 1_004)])


async def test_calls_are_recorded_with_their_order_and_outcome() -> None:
    async def answer(value: object) -> object:
        return value

    async def fail() -> bool:
        raise MemoryAdapterUnavailable("gone")

    history = History()
    await history.write("k", "a", answer("id"))
    await history.read(answer("a"), lambda value: {"k": str(value), "other": None})
    await history.erase("k", fail())
    await history.read(fail(), lambda value: {"k": value})

    assert history.operations == {
        "k": [write("a", 0, 1), read("a", 2, 3), erase(there=True, start=4, end=None)],
        "other": [read(None, 2, 3)],
    }
    assert history.unexplained() == []


async def test_a_swap_tells_what_is_there_whether_it_won_or_lost() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    winner = MemoryRecord(id=uuid4(), content="tea", created_at=now, updated_at=now)

    async def win() -> None: ...

    async def lose() -> None:
        raise MemoryConflict("lost", current=winner)

    history = History()
    assert await history.swap("k", "a", "b", win()) == "b"
    assert await history.swap("k", "a", "c", lose()) == winner.id
    assert history.operations == {"k": [swap("a", "b", 0, 1), Operation("lost", ("a", winner.id), 2, 3)]}
