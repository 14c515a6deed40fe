"""Behind the service a store answers every operation as it does without it: the same items, order and errors."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import memcore
import pytest
from memcore import MemoryItem, MemoryQuery

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Process, Service

PAIR = "\ud83d" + "\ude00"
WORDS = [
    "tea",
    "coffee",
    "Ada",
    "caf\xe9",
    "\u5bc6\u7801",
    "\x00",
    "\ud83d",
    "\U0001f600",
    PAIR,
    "running",
    "runs",
    "2026-01-02",
    "",
]
VALUES = [None, True, 1, 1.0, -0.0, "a", "\ud83d", [1, {"a": None}], 10**30, float("nan"), (1,), PAIR]
OPERATIONS = 500


class Operations:
    """Operations that are the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._ids = [UUID(int=self._random.getrandbits(128)) for _ in range(40)]

    def next(self) -> tuple[str, Any]:  # noqa: PLR0911 - one for each operation
        choose = self._random.choice
        kind = choose(
            ["store"] * 4
            + ["search"] * 4
            + ["store_many", "retrieve", "delete", "delete_many"]
            + ["delete_where", "scan", "count"]
        )
        match kind:
            case "store":
                return kind, self._item()
            case "store_many":
                return kind, [self._item() for _ in range(self._random.randrange(4))]
            case "retrieve" | "delete":
                return kind, choose([*self._ids, "no id"])
            case "delete_many":
                return kind, self._random.sample(self._ids, 2)
            case "delete_where":
                return kind, choose([{}, {"k": choose(VALUES)}, {"k": choose(VALUES), "other": None}])
            case "search":
                return kind, self._query()
        return kind, None

    def _text(self) -> str:
        return " ".join(self._random.choices(WORDS, k=self._random.randrange(5)))

    def _item(self) -> MemoryItem:
        choose = self._random.choice
        return MemoryItem(
            id=choose(self._ids),
            created_at=choose([0.1, 1e16, self._random.uniform(-1e10, 1e10)]),
            content=choose([self._text(), {"text": [self._text()]}, choose(VALUES)]),
            tags=self._random.choices(WORDS[:8], k=self._random.randrange(3)),
            metadata={"k": choose(VALUES[:9]), "\ud83d k": 1},
        )

    def _query(self) -> MemoryQuery:
        choose = self._random.choice
        return MemoryQuery(
            text=choose([None, self._text()]),
            tags=choose([None, [], self._random.choices(WORDS, k=2)]),
            filters=choose([None, {}, {"k": choose(VALUES)}, {"\ud83d k": 1}]),
            limit=choose([20, 20, 3, 0, -1, 10**9]),
        )


async def outcome(items: Any, kind: str, argument: Any) -> str:
    """Return what an operation does, exactly, as text."""
    try:
        match kind:
            case "scan":
                pages, after = [], None
                while True:
                    page = await items.scan(after=after, limit=7)
                    pages.append(page.items)
                    if (after := page.next) is None:
                        return repr(pages)
            case "count":
                return repr(await items.count())
        return repr(await getattr(items, kind)(argument))
    except memcore.MemcoreError as error:
        return f"{type(error).__name__} {error} {vars(error)}"


async def assert_equal(expected: Any, served: Any, *, seed: int, operations: int = OPERATIONS) -> None:
    generated = Operations(seed)
    kinds = set()
    for _ in range(operations):
        kind, argument = generated.next()
        kinds.add(kind)
        assert await outcome(served, kind, argument) == await outcome(expected, kind, argument), (kind, argument)
    assert len(kinds) == 9


@pytest.mark.parametrize("seed", [1, 2])
async def test_memory_behind_the_service_is_memory(service: Service, seed: int) -> None:
    async with memcore.connect("memory://") as expected, service.connect() as served:
        await assert_equal(expected.items, served.items, seed=seed)


async def test_a_file_behind_the_service_is_memory_too(make_service: Callable[..., Service], tmp_path: Path) -> None:
    service = make_service(
        lambda name: memcore.connect(f"sqlite:///{tmp_path}/m.db", namespace=name, synchronous="normal")
    )
    async with memcore.connect("memory://") as expected, service.connect() as served:
        await assert_equal(expected.items, served.items, seed=3)


async def test_memory_behind_a_real_service_is_memory(serve: Callable[..., Process]) -> None:
    async with memcore.connect("memory://") as expected, memcore.connect(serve("memory://").url) as served:
        await assert_equal(expected.items, served.items, seed=4)
