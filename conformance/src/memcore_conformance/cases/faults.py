"""Every fault at every operation: told by its kind, with its cause, without content, and over with that call (I-70)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from memcore import MalformedMemoryPayload, MemoryAdapterError, MemoryAdapterUnavailable

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memcore import MemoryItem

    from memcore_conformance.harness import Fault
    from memcore_conformance.items import Items
    from memcore_conformance.trial import Trial

TRANSIENT: Final[tuple[Fault, ...]] = ("refused", "timeout", "lost_answer")
"""Faults that another try may mend: an adapter may try again, or tell them."""
_PRIVATE: Final = "my diary"
_READS_AFTERWARDS: Final = 20


class Operation(NamedTuple):
    """One operation, and whether its answer is right."""

    name: str
    call: Callable[[], Awaitable[object]]
    is_right: Callable[[object], bool]


@case("I-70e", claims=("items", "transport"), needs=("faults",))
async def a_lost_call_is_told_or_made_good(trial: Trial) -> None:
    """What is refused, late or lost is tried again and answered rightly, or it is a `MemoryAdapterUnavailable`."""
    items = await trial.items()
    item = trial.item("tea", tags=["warm"])
    await items.keep(item)
    for fault in known_faults(trial, *TRANSIENT):
        for operation in (*_plain(items, item), *_managed(trial, items, item)):
            fail_next(trial, fault)
            try:
                answer = await operation.call()
            except MemoryAdapterUnavailable as error:
                expect.that(error.__cause__, expected=f"the cause of the failure of {operation.name}()", got=error)
            else:
                expect.that(operation.is_right(answer), expected=f"the answer of {operation.name}()", got=answer)
            expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-70f", claims=("items", "transport", "managed"))
async def an_outage_is_told_by_every_managed_operation(trial: Trial) -> None:
    """While the transport is down, every managed operation raises `MemoryAdapterUnavailable` with its cause."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    async with trial.outage():
        for operation in _managed(trial, items, item):
            with expect.raises(MemoryAdapterUnavailable, where=has_cause, what=f"by {operation.name}(), with a cause"):
                await operation.call()


@case("I-70g", claims=("items", "transport"), needs=("faults",))
async def every_operation_tells_the_kind_of_a_fault(trial: Trial) -> None:
    """At every operation, a malformed answer and refused credentials are told as what they are, not as an outage."""
    items = await trial.items()
    item = trial.item("tea", tags=["warm"])
    await items.keep(item)
    kinds: dict[Fault, type[MemoryAdapterError]] = {"malformed": MalformedMemoryPayload, "denied": MemoryAdapterError}
    for fault in known_faults(trial, *kinds):
        for operation in (*_plain(items, item), *_managed(trial, items, item)):
            fail_next(trial, fault)
            with expect.raises(kinds[fault], where=is_just(kinds[fault]), what=f"by {operation.name}(), and no other"):
                await operation.call()
            expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-70l", claims=("items", "transport"), needs=("faults",))
async def no_message_shows_content(trial: Trial) -> None:
    """Whatever fails, no message shows what is stored, nor what was looked for."""
    items = await trial.items()
    item = trial.item(_PRIVATE, tags=[_PRIVATE])
    await items.keep(item)
    for fault in known_faults(trial, *TRANSIENT, "malformed", "denied"):
        for call in (items.store, lambda item: items.find(item.content, tags=item.tags)):
            fail_next(trial, fault)
            try:
                await call(item)
            except MemoryAdapterError as error:
                expect.that(_PRIVATE not in f"{error} {error!r}", expected="a message without content", got=error)


@case("I-70i", claims=("items", "transport"), needs=("faults",))
async def a_failed_write_is_whole_or_nothing(trial: Trial) -> None:
    """After a write that failed, what is stored is the old item or the new one, wholly; of a new id, nothing or all."""
    items = await trial.items()
    for fault in known_faults(trial, *TRANSIENT):
        old = trial.item("tea", tags=["old"], created_at=1.5)
        new = trial.item("coffee", tags=["new"], created_at=2.5, id=old.id)
        unknown = trial.item("water", tags=["new"])
        await items.keep(old)
        for write, outcomes in ((new, (old, new)), (unknown, (None, unknown))):
            fail_next(trial, fault)
            await _try_to_store(items, write)
            _expect_one_of(trial, await items.retrieve(write.id), outcomes)


@case("I-70j", claims=("items", "transport"), needs=("faults",))
async def the_next_write_is_ordered_after_a_failed_one(trial: Trial) -> None:
    """After a write whose outcome is unknown, the next one of this client wins, and it stays so."""
    items = await trial.items()
    for fault in known_faults(trial, *TRANSIENT):
        first = trial.item("tea", tags=["first"])
        second = trial.item("coffee", tags=["second"], id=first.id)
        fail_next(trial, fault)
        await _try_to_store(items, first)
        await items.store(second)
        for _ in range(_READS_AFTERWARDS):
            expect.same_item(await items.retrieve(first.id), second, fields=trial.claims.exact_fields)
            await asyncio.sleep(0)


@case("I-70k", claims=("items", "transport"), needs=("raw",))
async def a_search_tells_a_damaged_row(trial: Trial) -> None:
    """A search that comes upon a stored payload that was cut short tells it, and does not leave it out."""
    items = await trial.items()
    damaged, sound = trial.item("tea"), trial.item("tea")
    await items.keep(damaged, sound)
    await trial.harness_does("truncate(…)", trial.raw.truncate(damaged.id))
    with expect.raises(MalformedMemoryPayload):
        await items.find("tea")
    with expect.raises(MalformedMemoryPayload):
        await items.find()
    expect.same_item(await items.retrieve(sound.id), sound, fields=trial.claims.exact_fields)


@case("I-71c", claims=("items", "backend", "transport"))
async def outages_may_come_again_and_hit_many(trial: Trial) -> None:
    """Every one of many calls at once tells an outage, every time it comes; after it all of them are answered."""
    items = await trial.items()
    given = [trial.item(f"tea {number}") for number in range(8)]
    await items.keep(*given)
    ids = [item.id for item in given]
    for _ in range(3):
        async with trial.outage():
            for failure in await asyncio.gather(*map(items.retrieve, ids), return_exceptions=True):
                with expect.raises(MemoryAdapterUnavailable):
                    _raise(failure)
        expect.equal(await asyncio.gather(*map(items.store, given)), ids, what="the ids that store() returns")
        expect.ids([item for item in await asyncio.gather(*map(items.retrieve, ids)) if item], given)


def _plain(items: Items, item: MemoryItem) -> tuple[Operation, ...]:
    def holds(found: object) -> bool:
        return isinstance(found, list) and [hit.id for hit in found] == [item.id]

    return (
        Operation("store", lambda: items.store(item), lambda answer: answer == item.id),
        Operation("retrieve", lambda: items.retrieve(item.id), lambda answer: answer == item),
        Operation("search", lambda: items.find("tea", tags=["warm"]), holds),
        Operation("search", items.find, holds),
    )


def _managed(trial: Trial, items: Items, item: MemoryItem) -> tuple[Operation, ...]:
    if "managed" not in trial.claims.names:
        return ()
    unknown = trial.id()
    erasing = (Operation("delete_where", lambda: items.delete_where({"no such key": 1}), lambda answer: answer == 0),)
    return (
        Operation("store_many", lambda: items.store_many([item]), lambda answer: answer == [item.id]),
        Operation("delete", lambda: items.delete(unknown), lambda answer: answer is False),
        Operation("delete_many", lambda: items.delete_many([unknown]), lambda answer: answer == 0),
        Operation("scan", items.scan, lambda page: [found.id for found in getattr(page, "items", [])] == [item.id]),
        Operation("count", items.count, lambda answer: answer == 1),
        *(erasing if "open_filters" in trial.claims.names else ()),
    )


def known_faults(trial: Trial, *faults: Fault) -> list[Fault]:
    """Return those of the faults that this transport can have."""
    known = [fault for fault in faults if fault in trial.faults.faults]
    if not known:
        raise trial.unproven(f"any of the faults {', '.join(faults)}")
    return known


def fail_next(trial: Trial, fault: Fault) -> None:
    """Make the next call of the transport fail."""
    trial.faults.fail_next(fault)
    trial.step(f"harness: fail_next({fault!r})")


async def _try_to_store(items: Items, item: MemoryItem) -> None:
    try:
        await items.store(item)
    except MemoryAdapterUnavailable as error:
        expect.that(error.__cause__, expected="the cause of the failure", got=error)


def _expect_one_of(trial: Trial, got: MemoryItem | None, outcomes: tuple[MemoryItem | None, MemoryItem]) -> None:
    before, after = outcomes
    if got is None:
        expect.none(before, what="what was stored before")
    else:
        wanted = before if before and got.tags == before.tags else after
        expect.same_item(got, wanted, fields=trial.claims.exact_fields)


def has_cause(error: BaseException) -> bool:
    """Tell whether the error names what it stands for."""
    return error.__cause__ is not None


def is_just(kind: type[BaseException]) -> Callable[[BaseException], bool]:
    """Return what tells whether an error is of that very kind, and of none beneath it."""
    return lambda error: type(error) is kind


def _raise(answer: object) -> None:
    """Raise what `gather` has collected, where it is an error."""
    if isinstance(answer, BaseException):
        raise answer
