"""Whatever is done, every answer about records is that of `memory://`."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import memcore
import pytest
from memcore import Invalidation, MemcoreError, MemoryWrite, Provenance, RecordQuery, SweepPolicy
from memcore.records.clock import StillClock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conftest import Store

    Operation = Callable[[Any], Awaitable[object]]

WORDS = ("tea", "coffee", "morning", "mornings", "likes", "Berlin", "上海", "2026")
SCOPES = ({}, {"user": "1"}, {"user": "1", "app": "a"}, {"user": "10"}, {"User": "1"})
KINDS = ("fact", "fact", "preference", "observation")
TIERS = (None, "short", "short", "long", "permanent")


class Dice:
    """Makes operations by chance: few ids, so that they meet, and times around the clock's."""

    def __init__(self, seed: int, clock: StillClock) -> None:
        self._dice = random.Random(seed)
        self._clock = clock
        self._ids = [UUID(int=0)]
        self._written: dict[UUID, MemoryWrite] = {}

    def operation(self) -> tuple[str, Operation]:
        makers = [self._write] * 20 + [self._search] * 10 + [self._read] * 4 + [self._end, self._delete] * 2
        makers += [self._touch, self._refresh, self._wait] * 3 + [self._erase, self._sweep, self._restore]
        return self._dice.choice(makers)()

    def _some(self, most: int) -> list[UUID]:
        return self._dice.sample(self._ids, min(len(self._ids), self._dice.randint(1, most)))

    def _text(self) -> str:
        return " ".join(self._dice.choices(WORDS, k=self._dice.randint(1, 6)))

    def _time(self) -> Any:
        return self._clock() + timedelta(seconds=self._dice.choice([-600, -60, -1, 0, 1, 30, 90]))

    def _change(self) -> MemoryWrite | Invalidation:
        dice = self._dice
        chosen = dice.choice(self._ids)
        if dice.random() < 0.15:
            return Invalidation(id=chosen, reason=dice.choice([None, "wrong"]), actor=dice.choice([None, "me"]))
        if chosen in self._written and dice.random() < 0.3:
            return self._written[chosen]
        chosen = UUID(int=dice.getrandbits(128))
        self._ids = [*self._ids, chosen][-30:]
        write = MemoryWrite(
            id=chosen,
            content=self._text(),
            scope=dice.choice(SCOPES),
            kind=dice.choice(KINDS),
            tags=tuple(dice.sample(["a", "b", "c d"], dice.randint(0, 2))),
            context=dice.choice([None, self._text()]),
            provenance=Provenance(author=dice.choice([None, "me"])),
            payload=dice.choice([None, {"n": 1.0}]),
            tier=dice.choice(TIERS),
            expires_at=self._time() if dice.random() < 0.15 else None,
            supersedes=tuple(self._some(2)) if dice.random() < 0.4 else (),
        )
        self._written[chosen] = write
        return write

    def _write(self) -> tuple[str, Operation]:
        changes = [self._change() for _ in range(self._dice.choice([1, 1, 1, 2, 3]))]
        return f"write {changes}", lambda records: records.write(changes)

    def _search(self) -> tuple[str, Operation]:
        dice = self._dice
        query = RecordQuery(
            text=dice.choice([None, None, self._text()]),
            scope=dice.choice(SCOPES),
            kinds=dice.choice([None, None, (), ("fact", "observation")]),
            tags=tuple(dice.sample(["a", "b", "c d"], dice.choice([0, 0, 1, 2]))),
            match_tags=dice.choice(["any", "all"]),
            tiers=dice.choice([None, None, ("short", "long"), ("permanent",)]),
            include_invalidated=dice.random() < 0.4,
            as_of=dice.choice([None, self._time()]),
            limit=dice.choice([1, 3, 20]),
        )

        async def search(records: Any) -> object:
            found = await records.search(query)
            if query.text or len(found) < query.limit:
                return found
            return found, await records.search(query.model_copy(update={"after": found[-1].cursor}))

        return f"search {query!r}", search

    def _end(self) -> tuple[str, Operation]:
        (chosen,) = self._some(1)
        return f"invalidate {chosen}", lambda records: records.invalidate(chosen, "wrong", "me")

    def _read(self) -> tuple[str, Operation]:
        (chosen,) = self._some(1)

        async def read(records: Any) -> object:
            pages = [await records.scan(limit=7)]
            while pages[-1].next:
                pages.append(await records.scan(limit=7, after=pages[-1].next))
            return await records.get(chosen), await records.history(chosen), await records.count(), pages

        return f"read {chosen}", read

    def _delete(self) -> tuple[str, Operation]:
        (chosen,) = self._some(1)
        return f"delete {chosen}", lambda records: records.delete(chosen)

    def _erase(self) -> tuple[str, Operation]:
        scope, kinds = self._dice.choice(SCOPES[2:]), self._dice.choice([None, ("fact",), ()])
        return f"delete_where {scope} {kinds}", lambda records: records.delete_where(scope, kinds=kinds)

    def _touch(self) -> tuple[str, Operation]:
        chosen = self._some(20)
        return f"touch {chosen}", lambda records: records.touch(chosen)

    def _refresh(self) -> tuple[str, Operation]:
        (chosen,), tier = self._some(1), self._dice.choice(TIERS)
        return f"refresh {chosen} {tier}", lambda records: records.refresh(chosen, tier)

    def _sweep(self) -> tuple[str, Operation]:
        policy = SweepPolicy(
            short_idle=timedelta(seconds=60), long_idle=timedelta(seconds=200), batch=self._dice.choice([1, 3, 500])
        )
        return f"sweep {policy}", lambda records: records.sweep(policy)

    def _restore(self) -> tuple[str, Operation]:
        chosen = self._some(3)

        async def restore(records: Any) -> object:
            """Let some records lead to others, also to those that are not there, and in a circle."""
            page = await records.scan(limit=3)
            changed = [
                record.model_copy(update={"superseded_by": other, "invalid_at": record.updated_at, "hits": 1})
                for record, other in zip(page.records, chosen, strict=False)
                if record.id != other
            ]
            return await records.restore(changed)

        return f"restore {chosen}", restore

    def _wait(self) -> tuple[str, Operation]:
        self._clock.advance(self._dice.choice([0.000001, 1.0, 29.0, 60.0]))
        return "wait", lambda records: records.count()


async def answer(operation: Operation, records: Any) -> object:
    try:
        return await operation(records)
    except MemcoreError as error:
        return type(error), str(error), getattr(error, "current", None)


def exactly(found: object) -> str:
    """Records are equal field by field: their own equality is no less, their text says more."""
    return repr(found)


@pytest.mark.parametrize("seed", range(4))
async def test_every_answer_is_that_of_memory(store: Store, seed: int) -> None:
    clock = StillClock()
    dice = Dice(seed, clock)
    backend = store.connect()
    timed = memcore.connect(store.url(), clock=clock)
    async with timed, memcore.connect("memory://", clock=clock) as memory:
        done: list[str] = []
        for _ in range(300):
            name, operation = dice.operation()
            done.append(name)
            expected = await answer(operation, memory.records)
            assert exactly(await answer(operation, timed.records)) == exactly(expected), "\n".join(done[-40:])
    assert (await backend.check()).faults == ()
