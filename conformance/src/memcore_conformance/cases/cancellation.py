"""Cancelling a call at any of its awaits: the store goes on, and nothing is half done (I-70, I-71)."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.items import Items

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Generator

    from memcore_conformance.trial import Trial

    Call = Callable[[], Coroutine[Any, Any, object]]

_MOST_AWAITS: Final = 50
_READS_AFTERWARDS: Final = 5


@case("I-71d")
async def a_write_may_be_cancelled_at_every_await(trial: Trial) -> None:
    """A write that is cancelled at any of its awaits is whole or not there, and the next one wins and stays."""
    items = await trial.items()
    old = trial.item("tea", tags=["old"])
    await items.keep(old)
    new = trial.item("coffee", tags=["new"], id=old.id)
    async for _ in each_await(trial, lambda: items.store(new)):
        got = await items.retrieve(old.id)
        wanted = new if got and got.tags == new.tags else old
        expect.same_item(got, wanted, fields=trial.claims.exact_fields)
        await items.store(old)
        for _ in range(_READS_AFTERWARDS):
            expect.same_item(await items.retrieve(old.id), old, fields=trial.claims.exact_fields)
            await asyncio.sleep(0)


@case("I-71e")
async def a_read_may_be_cancelled_at_every_await(trial: Trial) -> None:
    """A reading call that is cancelled at any of its awaits leaves the store as usable as it was."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    for read in (partial(items.retrieve, item.id), partial(items.find, "tea"), items.find):
        async for _ in each_await(trial, read):
            expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)
            expect.ids(await items.find("tea"), [item])
            expect.equal(await items.store(item), item.id)


@case("I-71f", claims=("items", "managed"))
async def a_batch_may_be_cancelled_at_every_await(trial: Trial) -> None:
    """A batch or an erasure that is cancelled at any of its awaits is done wholly or not at all."""
    items = await trial.items()
    batch = [trial.item(f"tea {number}") for number in range(4)]
    ids = [item.id for item in batch]
    other = trial.item("coffee")
    steps: tuple[tuple[Call, Call], ...] = (
        (partial(items.delete_many, ids), partial(items.store_many, batch)),
        (partial(items.store_many, batch), partial(items.delete_many, ids)),
    )
    for prepare, change in steps:
        await prepare()
        async for _ in each_await(trial, change):
            await items.store(other)  # ordered after what was cancelled: from here on its outcome stands
            there = [item_id for item_id in ids if await items.retrieve(item_id)]
            expect.that(there in ([], ids), expected="all of the batch, or nothing", got=f"{len(there)} of {len(ids)}")
            expect.equal(await items.count(), len(there) + 1, what="how many items there are")
            await prepare()


@case("I-71g", claims=("items", "durable"))
async def a_cancelled_write_keeps_nobody_from_writing(trial: Trial) -> None:
    """After a write was cancelled at any of its awaits, another backend on the same data can write at once."""
    items, other = await trial.items(), await trial.items()
    async for place in each_await(trial, lambda: items.store(trial.item("tea"))):
        item = trial.item(f"coffee {place}")
        await other.store(item)
        expect.same_item(await other.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-71h")
async def a_cancelled_call_takes_no_other_with_it(trial: Trial) -> None:
    """Of many calls at the same time, cancelling one at any of its awaits leaves all others to be answered."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    given = [trial.item(f"coffee {number}") for number in range(4)]
    calls: tuple[Call, ...] = (
        partial(items.retrieve, item.id),
        partial(items.find, "tea"),
        lambda: items.store(trial.item("milk")),
    )
    for call in calls:
        for place in range(_MOST_AWAITS):
            cancelled = asyncio.ensure_future(_cancel_at(call(), place))
            answers = await asyncio.gather(
                items.retrieve(item.id), items.find("tea"), *map(items.store, given), return_exceptions=True
            )
            wanted = [item.id, [item.id], *(one.id for one in given)]
            expect.equal(list(map(_ids, answers)), wanted, what="the answers of the others")
            trial.step(f"one of them cancelled at its await {place + 1}")
            if not await cancelled:
                break
    for one in given:
        expect.same_item(await items.retrieve(one.id), one, fields=trial.claims.exact_fields)


@case("I-71i", claims=("items", "backend"))
async def the_first_call_may_be_cancelled_at_every_await(trial: Trial) -> None:
    """The call that opens a backend may be cancelled at any of its awaits: the same backend works afterwards."""
    for place in range(_MOST_AWAITS):
        backend = await trial.make_backend()
        items = Items(backend.items, trial)
        item = trial.item("tea")
        reached = await _cancel_at(items.store(item), place)
        await items.keep(item)
        if not reached:
            break
        trial.step(f"cancelled at its await {place + 1}")


def _ids(answer: object) -> object:
    """Return the ids that an answer holds; an id or an error as it is."""
    return [hit.id for hit in answer] if isinstance(answer, list) else getattr(answer, "id", answer)


async def each_await(trial: Trial, call: Call) -> AsyncIterator[int]:
    """Make the call again and again, each time cancelled at its next await, until it ends before that."""
    for place in range(_MOST_AWAITS):
        reached = await _cancel_at(call(), place)
        if not reached:
            return
        trial.step(f"cancelled at its await {place + 1}")
        yield place


async def _cancel_at(work: Coroutine[Any, Any, object], place: int) -> bool:
    """Run to the await of that number and cancel there; tell whether it came so far."""
    cancelling = _Cancelling(work, place)
    task = asyncio.ensure_future(_await(cancelling))
    await asyncio.wait({task})
    if not task.cancelled():
        task.result()
    return cancelling.reached


async def _await(cancelling: _Cancelling) -> object:
    return await cancelling


class _Cancelling:
    """A coroutine whose task is cancelled at the await of that number."""

    reached = False

    def __init__(self, work: Coroutine[Any, Any, object], place: int) -> None:
        self._work = work
        self._place = place

    def __await__(self) -> Generator[Any, Any, object]:
        """Pass on what the work waits for."""
        advance: Callable[[], object] = partial(self._work.send, None)
        for waits in count():
            try:
                waiting = advance()
            except StopIteration as end:
                return end.value
            if waits == self._place:
                self.reached = True
                cast("asyncio.Task[object]", asyncio.current_task()).cancel()  # it is met at the await that follows
            try:
                yield waiting
                advance = partial(self._work.send, None)
            except BaseException as error:  # noqa: BLE001 - the cancellation above all
                advance = partial(self._work.throw, error)
        return None
