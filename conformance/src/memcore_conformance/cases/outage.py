"""When the service fails: a typed error, nothing silent, and recovery (I-70, I-71)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memcore import MalformedMemoryPayload, MemoryAdapterError, MemoryAdapterUnavailable

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.harness import Fault
    from memcore_conformance.trial import Trial


@case("I-70a", claims=("items", "transport"))
async def an_outage_is_told_by_every_operation(trial: Trial) -> None:
    """While the transport is down, every operation raises `MemoryAdapterUnavailable`, and none answers emptily."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    async with trial.outage():
        with expect.raises(
            MemoryAdapterUnavailable, where=lambda error: error.__cause__ is not None, what="with its cause"
        ):
            await items.store(trial.item("coffee"))
        with expect.raises(MemoryAdapterUnavailable):
            await items.retrieve(item.id)
        with expect.raises(MemoryAdapterUnavailable):
            await items.find("tea")


@case("I-70b", claims=("items", "transport"), needs=("faults",))
async def a_malformed_answer_is_told(trial: Trial) -> None:
    """An answer that is not the service's contract is a `MalformedMemoryPayload`."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    _fail_next(trial, "malformed")
    with expect.raises(MalformedMemoryPayload):
        await items.retrieve(item.id)


@case("I-70c", claims=("items", "transport"), needs=("faults",))
async def refused_credentials_are_no_outage(trial: Trial) -> None:
    """Refused credentials are a `MemoryAdapterError` that is no outage."""
    items = await trial.items()
    _fail_next(trial, "denied")
    with expect.raises(MemoryAdapterError, where=lambda error: type(error) is MemoryAdapterError, what="itself"):
        await items.retrieve(trial.id())


@case("I-70d", claims=("items", "transport"), needs=("raw",))
async def a_damaged_row_is_told(trial: Trial) -> None:
    """A stored payload that was cut short is a `MalformedMemoryPayload`, never a miss."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    await trial.harness_does("truncate(…)", trial.raw.truncate(item.id))
    with expect.raises(MalformedMemoryPayload):
        await items.retrieve(item.id)


@case("I-71a", claims=("items", "backend", "transport"))
async def the_same_store_works_after_an_outage(trial: Trial) -> None:
    """After an outage the same store works again, with everything that it held."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    async with trial.outage():
        with expect.raises(MemoryAdapterUnavailable):
            await items.retrieve(item.id)
    expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)
    await items.keep(trial.item("coffee"))


@case("I-71b")
async def a_cancelled_write_leaves_the_store_usable(trial: Trial) -> None:
    """A write that is cancelled at any of its first awaits is wholly there or not at all, and the store goes on."""
    items = await trial.items()
    for steps in range(12):
        item = trial.item(f"tea {steps}")
        write = asyncio.ensure_future(items.raw.store(item))
        for _ in range(steps):
            await asyncio.sleep(0)
        write.cancel()
        await asyncio.gather(write, return_exceptions=True)
        trial.step(f"store({expect.describe(item)}) cancelled after {steps} turns of the loop")
        after = trial.item("coffee", id=item.id)
        await items.keep(after)


def _fail_next(trial: Trial, fault: Fault) -> None:
    if fault not in trial.faults.faults:
        raise trial.unproven(f"the fault {fault}")
    trial.faults.fail_next(fault)
    trial.step(f"harness: fail_next({fault!r})")
