"""Behind the service the records of a store answer every operation as without it: records, order, scores and errors."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import memcore
import pytest
from memcore import Invalidation, MemoryRecord, MemoryWrite, Provenance, RecordQuery, SweepPolicy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Process, Service

PAIR = "\ud83d" + "\ude00"
WORDS = ["tea", "coffee", "Ada", "caf\xe9", "\u5bc6\u7801", "\U0001f600", "running", "runs", "2026-01-02"]
ODD = ["", "\x00", "\ud83d", PAIR]
VALUES: list[Any] = [
    None,
    True,
    1,
    1.0,
    -0.0,
    "a",
    "\ud83d",
    {"z": [1, {"a": None}], "b": 2},
    10**30,
    float("nan"),
    PAIR,
]
OPERATIONS = 400
START = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = {
    "write": 8,
    "search": 6,
    "get": 1,
    "invalidate": 1,
    "delete": 1,
    "delete_where": 1,
    "history": 2,
    "scan": 1,
    "count": 1,
    "touch": 2,
    "refresh": 1,
    "sweep": 1,
    "restore": 1,
}


class Clock:
    """A time that stands still within an operation, and passes between two of them."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


class Operations:
    """Operations that are the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._ids: list[UUID] = []
        self._new_id()

    def next(self, now: datetime) -> tuple[str, tuple[Any, ...]]:
        """Return the name of an operation and what it is given."""
        (name,) = self._random.choices(list(KINDS), list(KINDS.values()))
        choose, some = self._random.choice, self._id
        return name, {
            "write": lambda: ([self._change(now) for _ in range(choose([0, 1, 1, 1, 2, 3]))],),
            "search": lambda: (self._query(now),),
            "get": lambda: (choose([some(), "no id"]),),
            "invalidate": lambda: (some(), choose([None, "wrong", *ODD]), choose([None, "ada"])),
            "delete": lambda: (some(),),
            "delete_where": lambda: (choose([{}, self._scope() | {"thread": "1"}]),),
            "history": lambda: (some(),),
            "scan": tuple,
            "count": tuple,
            "touch": lambda: ([some() for _ in range(3)],),
            "refresh": lambda: (some(), choose([None, "long", "none"])),
            "sweep": lambda: (choose([None, SweepPolicy(short_idle=timedelta(minutes=30, microseconds=1))]),),
            "restore": lambda: ([self._record(now) for _ in range(choose([0, 1, 2]))],),
        }[name]()

    def _id(self) -> UUID:
        """Return one of the latest, which are likely to be there and valid."""
        return self._random.choice(self._ids[-12:])

    def _new_id(self) -> UUID:
        self._ids.append(UUID(int=self._random.getrandbits(128)))
        return self._ids[-1]

    def _scope(self) -> dict[str, str]:
        return {"user": self._random.choice(["ada", "bob", "Ada", "\ud83d"])}

    def _part(self, now: datetime) -> dict[str, Any]:
        choose = self._random.choice
        return {
            "id": self._new_id() if self._random.random() < 0.9 else self._id(),
            "scope": choose([{}, self._scope(), self._scope() | {"thread": choose(["1"] * 9 + [PAIR])}]),
            "kind": choose(["fact", "fact", "fact", "preference", "state"]),
            "content": " ".join(self._random.choices(WORDS, k=self._random.randrange(1, 5))),
            "tags": self._random.choices(WORDS + ODD[:3], k=self._random.randrange(3)),
            "provenance": choose([Provenance(), Provenance(author="\ud83d", run_id="r")]),
            "expires_at": choose([None, None, now + timedelta(minutes=self._random.randrange(-1, 200))]),
            "target": choose([None, {"b": 1, "a": choose(VALUES[:-2])}]),
            "payload": choose(VALUES[:-2] * 3 + VALUES),
            "supports": [Provenance(conversation_id=text) for text in self._random.choices(ODD[:3], k=choose([0, 2]))],
            "context": choose([None, "tea", "", "\x00"]),
            "tier": choose([None, "short", "short", "long", "permanent"]),
        }

    def _change(self, now: datetime) -> MemoryWrite | Invalidation:
        choose = self._random.choice
        if choose([False] * 5 + [True]):
            return Invalidation(id=self._id(), reason=choose([None, "why", "why", PAIR]), actor=choose([None, "me"]))
        old = [self._id() for _ in range(choose([0, 0, 0, 1, 1, 2]))]
        return MemoryWrite(**self._part(now), supersedes=old)

    def _record(self, now: datetime) -> MemoryRecord:
        ended = {"invalid_at": now, "invalid_reason": "moved", "superseded_by": self._id()}
        part = self._part(now) | self._random.choice([{}, ended])
        if part["id"] == part.get("superseded_by"):
            del part["superseded_by"]
        return MemoryRecord(**part, created_at=now, updated_at=now, hits=self._random.randrange(9), last_hit_at=now)

    def _query(self, now: datetime) -> RecordQuery:
        choose = self._random.choice
        return RecordQuery(
            text=choose([None, None, *WORDS, " ".join(self._random.choices(WORDS + ODD, k=3))]),
            scope=choose([{}, {}, self._scope(), {"thread": PAIR}]),
            kinds=choose([None, None, (), ("fact", "state")]),
            tags=self._random.choices(WORDS + ODD, k=choose([0, 0, 1, 2])),
            match_tags=choose(["any", "all"]),
            tiers=choose([None, None, None, (), ("short", "long")]),
            include_invalidated=choose([False, True]),
            as_of=choose([None, None, now - timedelta(minutes=self._random.randrange(200))]),
            mode=choose(["auto", "auto", "keyword", "semantic"]),
            limit=choose([20, 20, 3, 0, -1, 10**9]),
            after=choose([None, None, None, "no cursor"]),
        )


async def outcome(records: Any, name: str, arguments: tuple[Any, ...]) -> str:
    """Return what an operation does, exactly, as text."""
    try:
        if name != "scan":
            return repr(await getattr(records, name)(*arguments))
        pages, after = [], None
        while True:
            page = await records.scan(after=after, limit=7)
            pages.append(page.records)
            if (after := page.next) is None:
                return repr(pages)
    except memcore.MemcoreError as error:
        return f"raised {type(error).__name__} {error} {vars(error)}"


async def assert_equal(clock: Clock, expected: Any, served: Any, *, seed: int) -> None:
    generated = Operations(seed)
    outcomes = []
    for _ in range(OPERATIONS):
        clock.now += timedelta(minutes=1)
        name, arguments = generated.next(clock.now)
        outcomes.append(await outcome(expected, name, arguments))
        assert await outcome(served, name, arguments) == outcomes[-1], (name, arguments)
    errors = {text.split()[1] for text in outcomes if text.startswith("raised ")}
    assert errors == {"MemoryConflict", "MemoryNotFound", "UnsupportedMemoryItem", "UnsupportedMemoryQuery"}
    assert sum("MemoryRecord(" in text for text in outcomes) > OPERATIONS / 10


@pytest.mark.parametrize("seed", [1, 2])
async def test_records_in_memory_behind_the_service_are_those_of_memory(
    make_service: Callable[..., Service], seed: int
) -> None:
    clock = Clock()
    service = make_service(lambda name: memcore.connect("memory://", namespace=name, clock=clock))
    async with memcore.connect("memory://", clock=clock) as expected, service.connect() as served:
        await assert_equal(clock, expected.records, served.records, seed=seed)


async def test_records_in_a_file_behind_the_service_are_those_of_memory(
    make_service: Callable[..., Service], tmp_path: Path
) -> None:
    clock = Clock()
    service = make_service(
        lambda name: memcore.connect(f"sqlite:///{tmp_path}/m.db", namespace=name, synchronous="normal", clock=clock)
    )
    async with memcore.connect("memory://", clock=clock) as expected, service.connect() as served:
        await assert_equal(clock, expected.records, served.records, seed=3)


async def test_times_are_those_of_the_service(make_service: Callable[..., Service]) -> None:
    service = make_service(lambda name: memcore.connect("memory://", namespace=name, clock=lambda: START))
    async with service.connect() as one, service.connect() as other:
        (written,) = await one.records.write([MemoryWrite(content="tea")])
        assert written.created_at == START
        assert await other.records.get(written.id) == written


async def test_records_travel_over_a_real_service(serve: Callable[..., Process], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    part: dict[str, Any] = {
        "scope": {"user": "ada"},
        "tags": ["\x00", "\ud83d"],
        "payload": {"z": 10**4000, "a": [1.0, 1]},
    }
    async with memcore.connect(serve(url).url) as served, memcore.connect(url) as file:
        (old,) = await served.records.write([MemoryWrite(content="likes tea", tier="short", **part)])
        (new,) = await served.records.write([MemoryWrite(content="likes coffee", supersedes=[old.id], **part)])
        records: Any = served.records
        assert repr(await records.history(old.id)) == repr(await file.records.history(new.id))  # type: ignore[attr-defined]
        assert [hit.record for hit in await records.search(RecordQuery(text="likes", scope={"user": "ada"}))] == [new]
        assert await records.touch([old.id, new.id]) == 2
        with pytest.raises(memcore.MemoryConflict) as caught:
            await records.write([MemoryWrite(content="likes cocoa", supersedes=[old.id])])
        assert repr(caught.value.current) == repr(await file.records.get(new.id))
