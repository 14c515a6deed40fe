"""A URL decides where the memory lives, and nothing else: every scheme answers the same operations the same way.

Each scheme is asked the same generated operations as memory is, and what it does is compared as text, the order of
lists (I-66, I-68, I-82) and the errors included. The operations of another contract are another subclass of
`Operations`, and one line in `CONTRACTS`.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import memcore
import pytest
from memcore import Invalidation, MemoryItem, MemoryQuery, MemoryWrite, RecordQuery, SweepPolicy
from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from memcore.records.model import Kind, Mode, Tier

Call = tuple[str, Any]
"""The name of an operation, and its argument."""

PAIR: Final = "\ud83d" + "\ude00"
WORDS: Final = (
    *("tea", "coffee", "Ada", "caf\xe9", "\u5bc6\u7801", "\x00", "\ud83d"),
    *("\U0001f600", PAIR, "running", "runs", "2026-01-02", ""),
)
VALUES: Final = (None, True, 1, 1.0, -0.0, "a", "\ud83d", [1, {"a": None}], 10**30, float("nan"), (1,), PAIR)
PAGE: Final = 7
KINDS: Final[Sequence[Kind]] = ("fact", "fact", "preference", "profile", "observation", "state")
SCOPES: Final[Sequence[dict[str, str]]] = (
    *({}, {"user": "ada"}, {"user": "ad"}, {"user": "ada", "thread": "1"}),
    *({"\x00": "\ud83d"}, {"User": "ada"}),
)
LONG_AGO, FAR_AHEAD = datetime(2001, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)


class Operations(ABC):
    """Operations on one store of a backend, the same for the same seed."""

    contract: str
    """The attribute of a backend that holds the store."""
    count: int
    """How many are done."""
    shares: Mapping[str, float]
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

    def show(self, _store: Any, value: object) -> str:
        """Return what a store answered, as text that is equal where the answers are."""
        return repr(value)

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randrange(5)))


class ItemOperations(Operations):
    """Plain and managed operations on items."""

    contract = "items"
    count = 500
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


class RecordOperations(Operations):
    """All operations on records.

    The times are each store's own. An answer shows a time by the operation that first told it, and a moment of the past
    is asked for by that name.
    """

    contract = "records"
    count = 1_000
    shares = dict.fromkeys(("invalidate", "delete", "history", "refresh", "restore", "scan", "count", "pages"), 2) | {
        "write": 20,
        "search": 20,
        "get": 4,
        "touch": 4,
        "sweep": 1,
        "delete_where": 0.5,
    }

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.ids = self.ids[:5]
        self._writes: list[MemoryWrite] = []
        self._names: dict[int, dict[datetime, str]] = defaultdict(dict)

    def argument(self, name: str) -> Any:
        choose = self.random.choice
        make: dict[str, Callable[[], Any]] = {
            "write": lambda: [self._change() for _ in range(choose([1, 1, 1, 1, 1, 2, 3, 0]))],
            "search": self._query,
            "pages": self._query,
            "delete_where": lambda: (choose(SCOPES), choose([None, ["profile"], ["preference"], [], ["state"]])),
            "refresh": lambda: (self._id(), choose([None, "short", "long", "permanent", "none"])),
            "sweep": lambda: SweepPolicy(short_idle=choose([timedelta(microseconds=1), timedelta(days=7)])),
            "touch": lambda: [self._id() for _ in range(self.random.randrange(4))],
        }
        return make[name]() if name in make else self._id()

    async def perform(self, store: Any, call: Call) -> object:  # noqa: PLR0911 - one for each operation
        match call:  # the rest is of one argument
            case "search", query:
                return await store.search(self._at(store, query))
            case "pages", query:
                return await self._pages(store, self._at(store, query))
            case "invalidate", record_id:
                return await store.invalidate(record_id, reason="no \x00 longer", actor=None)
            case "delete_where", (scope, kinds):
                return await store.delete_where(scope, kinds=kinds)
            case "refresh", (record_id, tier):
                return await store.refresh(record_id, tier)
            case "restore", record_id:
                return await self._restore(store, record_id)
        return await super().perform(store, call)

    def show(self, store: Any, value: object) -> str:
        names = self._names[id(store)]
        for moment in sorted(set(moments(value)) - names.keys()):
            names[moment] = f"time {len(names)}"
        return repr(with_names(value, names))

    async def _restore(self, store: Any, record_id: UUID) -> object:
        found = await store.get(record_id)
        return await store.restore([found.model_copy(update={"hits": 4}), found] if found else [])

    async def _pages(self, store: Any, query: RecordQuery) -> list[object]:
        pages: list[object] = []
        while hits := await store.search(query):
            pages.append(hits)
            query = query.model_copy(update={"after": hits[-1].cursor})
        return pages

    def _change(self) -> MemoryWrite | Invalidation:
        choose = self.random.choice
        chance = self.random.random()
        if self._writes and chance < 0.1:
            return choose(self._writes)
        if chance < 0.18:
            return Invalidation(id=self._id(), reason=choose([None, "moved"]), actor=choose([None, "ada"]))
        write = MemoryWrite(
            id=choose([*[UUID(int=self.random.getrandbits(128))] * 9, self._id()]),
            scope=choose(SCOPES),
            kind=choose(KINDS),
            content="".join(character for character in f"{self.text()}." if character not in "\x00\ud83d\ude00"),
            tags=self.random.choices(WORDS[:8], k=self.random.randrange(3)),
            expires_at=choose([*[None] * 8, LONG_AGO, FAR_AHEAD]),
            payload=choose(VALUES[:9]) if self.random.random() < 0.95 else choose(VALUES),
            target=choose([None, {"type": "note", "n": 1.0}]),
            context=choose([None, self.text()]),
            tier=choose([None, "short", "long", "permanent"]),
            supersedes=self.random.sample(self.ids, choose([*[0] * 6, 1, 1, 1, 2])),
        )
        self._writes.append(write)
        if not write.supersedes:  # more likely to succeed
            self.ids = [*self.ids[-20:], write.id]
        return write

    def _query(self) -> tuple[RecordQuery, int | None]:
        choose = self.random.choice
        kinds: list[list[Kind] | None] = [None, None, None, ["fact", "state"], ["observation", "profile"], []]
        tiers: list[list[Tier] | None] = [None, None, None, ["short", "long"], ["permanent"], []]
        modes: list[Mode] = ["auto", "auto", "auto", "auto", "keyword", "semantic"]
        query = RecordQuery(
            text=choose([None, self.text(), "tea coffee Ada"]),
            scope=choose([{}, {}, *SCOPES]),
            kinds=choose(kinds),
            tags=self.random.choices(WORDS[:8], k=choose([0, 0, 0, 1, 2])),
            match_tags=choose(["any", "all"]),
            tiers=choose(tiers),
            include_invalidated=choose([False, True]),
            mode=choose(modes),
            limit=choose([*[20] * 6, 3, 3, 10**9, 0, -1]),
        )
        return query, choose([None, None, self.random.randrange(1_000)])

    def _at(self, store: Any, asked: tuple[RecordQuery, int | None]) -> RecordQuery:
        """Return the query as of the moment of that number, as far as the store has told of so many."""
        query, number = asked
        moments = list(self._names[id(store)])
        as_of = None if number is None or not moments else moments[number % len(moments)]
        return query.model_copy(update={"as_of": as_of, "limit": query.limit})

    def _id(self) -> UUID:
        return self.random.choice(self.ids)


def moments(value: object) -> list[datetime]:
    """Return the times in an answer that only the store can have told."""
    if isinstance(value, datetime):
        return [] if value in {LONG_AGO, FAR_AHEAD} else [value]
    if isinstance(value, BaseModel):
        value = dict(value)
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [moment for part in parts for moment in moments(part)]


def with_names(value: object, names: Mapping[datetime, str]) -> object:
    """Return an answer with its times replaced by their names."""
    if isinstance(value, datetime):
        return names.get(value, value)
    if isinstance(value, BaseModel):
        value = {"type": type(value).__name__} | dict(value)
    if isinstance(value, Mapping):
        return {key: with_names(part, names) for key, part in value.items()}
    return [with_names(part, names) for part in value] if isinstance(value, list | tuple) else value


CONTRACTS: Final[Sequence[type[Operations]]] = (ItemOperations, RecordOperations)


async def read_pages(scan: Callable[..., Awaitable[Any]]) -> list[object]:
    """Return all pages of a scan, without their cursors."""
    pages, after = [], None
    while True:
        page = await scan(after=after, limit=PAGE)
        pages.append(getattr(page, "items", None) or getattr(page, "records", None))
        if (after := page.next) is None:
            return pages


async def outcome(operations: Operations, call: Call, store: Any) -> str:
    """Return what an operation does, exactly, as text."""
    try:
        return operations.show(store, await operations.perform(store, call))
    except memcore.MemcoreError as error:
        return f"{type(error).__name__} {error} {operations.show(store, vars(error))}"


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
        for _ in range(operations.count):
            call = operations.next()
            done.add(call[0])
            wanted, got = [await outcome(operations, call, store) for store in stores]
            assert got == wanted, call
    assert done == operations.shares.keys()
