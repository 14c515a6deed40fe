"""Sequences of calls: the plain model, and how the shortest failure is found."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from memcore import MemoryItem
from memcore_conformance.exploration import Exploration
from memcore_conformance.model import Model, equal
from memcore_conformance.verdicts import Mismatch

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


class Notes:
    """A trial as far as an exploration knows it."""

    def __init__(self) -> None:
        self.done: list[str] = []


class Counting(RuleBasedStateMachine):
    """Fails once it has counted beyond five."""

    def __init__(self, exploration: Exploration, notes: Notes) -> None:
        super().__init__()
        self.exploration, self.notes, self.total = exploration, notes, 0
        exploration.begin(self.start())

    async def start(self) -> None:
        self.notes.done.clear()

    @rule(number=st.integers(0, 3))
    def add(self, number: int) -> None:
        self.exploration.do(self.count(number))

    async def count(self, number: int) -> None:
        self.notes.done.append(f"add {number}")
        self.total += number
        if self.total > 5:
            raise Mismatch(expected="at most 5", got=str(self.total))


async def test_an_exploration_ends_as_its_shortest_failure_did_with_its_steps() -> None:
    notes = Notes()
    exploration = Exploration(cast("Trial", notes))

    with pytest.raises(Mismatch):
        await exploration.explore(lambda: Counting(exploration, notes))

    assert len(notes.done) <= 4
    assert sum(int(step[-1]) for step in notes.done) > 5


async def test_an_exploration_that_is_cancelled_tries_nothing_more() -> None:
    notes = Notes()
    exploration = Exploration(cast("Trial", notes))
    begun = asyncio.Event()

    class Hanging(Counting):
        async def start(self) -> None:
            begun.set()
            await asyncio.Event().wait()

    exploring = asyncio.ensure_future(exploration.explore(lambda: Hanging(exploration, notes)))
    await begun.wait()
    exploring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await exploring

    await asyncio.get_running_loop().shutdown_default_executor()  # returns, as the thread has come to its end


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, None, False),
        ([1, {"a": 2}], [1.0, {"a": 2.0}], True),
        ([True], [1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        ("1", 1, False),
    ],
)
def test_the_model_compares_as_json(one: object, other: object, *, same: bool) -> None:
    assert equal(one, other) is same


def test_the_model_finds_what_meets_every_condition_newest_first() -> None:
    fields: list[dict[str, Any]] = [
        {"content": "milk tea", "tags": ["a"], "created_at": 1.0},
        {"content": ["tea", 5], "tags": ["a", "b"], "created_at": 2.0, "metadata": {"k": 1}},
        {"content": "fog", "tags": ["tea b"], "created_at": 3.0, "metadata": {"k": None}},
    ]
    old, listed, tagged = (MemoryItem(id=UUID(int=number), **part) for number, part in enumerate(fields))
    model = Model()
    model.store([tagged, old, listed])

    assert model.matching("tea rain", [], {}) == [tagged, listed, old]
    assert model.matching("", ["a", "x"], {"k": 1.0}) == [listed]
    assert model.matching("te", [], {}) == []
    assert model.matching("", [], {"k": None}) == [tagged, old]
    assert model.erase([old.id, old.id, UUID(int=9)]) == 1
    assert model.in_order() == [listed, tagged]
