"""A URL decides where the memory lives, and nothing else: every scheme answers the same operations the same way.

Each scheme is asked the same generated operations as memory is, and what it does is compared as text, the order of
lists (I-66, I-68, I-82) and the errors included. The operations of another contract are another subclass of
`Operations`, and one line in `CONTRACTS`.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import memcore
import pytest
from memcore import MemoryItem, MemoryQuery

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

Call = tuple[str, Any]
"""The name of an operation, and its argument."""

PAIR: Final = "\ud83d" + "\ude00"
WORDS: Final = (
    *("tea", "coffee", "Ada", "caf\xe9", "\u5bc6\u7801", "\x00", "\ud83d"),
    *("\U0001f600", PAIR, "running", "runs", "2026-01-02", ""),
)
VALUES: Final = (None, True, 1, 1.0, -0.0, "a", "\ud83d", [1, {"a": None}], 10**30, float("nan"), (1,), PAIR)
OPERATIONS: Final = 500
PAGE: Final = 7


class Operations(ABC):
    """Operations on one store of a backend, the same for the same seed."""

    contract: str
    """The attribute of a backend that holds the store."""
    shares: dict[str, int]
    """How often each operation is chosen."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ids = [UUID(int=self.random.getrandbits(128)) for _ in range(40)]

    def next(self) -> Call:
        """Return the next one."""
        (name,) = self.random.choices(list(self.shares), list(self.shares.values()))
        return name, self.argument(name)

    @abstractmethod
    def argument(self, name: str) -> Any:
        """Return an argument for an operation."""

    async def perform(self, store: Any, call: Call) -> object:
        """Do one."""
        name, argument = call
        match name:
            case "scan":
                return await read_pages(store.scan)
            case "count":
                return await store.count()
        return await getattr(store, name)(argument)

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randrange(5)))


class ItemOperations(Operations):
    """Plain and managed operations on items."""

    contract = "items"
    shares = dict.fromkeys(("store_many", "retrieve", "delete", "delete_many", "delete_where", "scan", "count"), 1) | {
        "store": 4,
        "search": 4,
    }

    def argument(self, name: str) -> Any:
        choose = self.random.choice
        make: dict[str, Callable[[], Any]] = {
            "store": self._item,
            "store_many": lambda: [self._item() for _ in range(self.random.randrange(4))],
            "retrieve": lambda: choose([*self.ids, "no id"]),
            "delete": lambda: choose([*self.ids, "no id"]),
            "delete_many": lambda: self.random.sample(self.ids, 2),
            "delete_where": lambda: choose([{}, {"k": choose(VALUES)}, {"k": choose(VALUES), "other": None}]),
            "search": self._query,
        }
        return make[name]() if name in make else None

    def _item(self) -> MemoryItem:
        choose = self.random.choice
        return MemoryItem(
            id=choose(self.ids),
            created_at=choose([0.1, 1e16, self.random.uniform(-1e10, 1e10)]),
            content=choose([self.text(), {"text": [self.text()]}, choose(VALUES)]),
            tags=self.random.choices(WORDS[:8], k=self.random.randrange(3)),
            metadata={"k": choose(VALUES[:9]), "\ud83d k": 1},
        )

    def _query(self) -> MemoryQuery:
        choose = self.random.choice
        return MemoryQuery(
            text=choose([None, self.text()]),
            tags=choose([None, [], self.random.choices(WORDS, k=2)]),
            filters=choose([None, {}, {"k": choose(VALUES)}, {"\ud83d k": 1}]),
            limit=choose([20, 20, 3, 0, -1, 10**9]),
        )


CONTRACTS: Final[Sequence[type[Operations]]] = (ItemOperations,)


async def read_pages(scan: Callable[..., Awaitable[Any]]) -> list[object]:
    """Return all pages of a scan, without their cursors."""
    pages, after = [], None
    while True:
        page = await scan(after=after, limit=PAGE)
        pages.append(page.items)
        if (after := page.next) is None:
            return pages


async def outcome(perform: Callable[[], Awaitable[object]]) -> str:
    """Return what an operation does, exactly, as text."""
    try:
        return repr(await perform())
    except memcore.MemcoreError as error:
        return f"{type(error).__name__} {error} {vars(error)}"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda operations: operations.contract)
@pytest.mark.parametrize("scheme", ["sqlite", "postgresql", "http"])
def test_a_scheme_gives_the_answers_of_memory(
    request: pytest.FixtureRequest, scheme: str, contract: type[Operations], seed: int
) -> None:
    url = request.getfixturevalue(f"{scheme}_url")
    asyncio.run(assert_same_answers("memory://", url, contract(seed)))


async def assert_same_answers(expected_url: str, url: str, operations: Operations) -> None:
    done = set()
    async with memcore.connect(expected_url) as expected, memcore.connect(url) as backend:
        stores = [getattr(each, operations.contract) for each in (expected, backend)]
        for _ in range(OPERATIONS):
            call = operations.next()
            done.add(call[0])
            wanted, got = [await outcome(partial(operations.perform, store, call)) for store in stores]
            assert got == wanted, call
    assert done == operations.shares.keys()
