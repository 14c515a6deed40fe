"""Storing many items at once: all of them or none, for everybody (I-80)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from memcore import MemoryAdapterError, UnsupportedMemoryItem

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.verdicts import Mismatch

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import ManagedMemoryStore

    from memcore_conformance.items import Items
    from memcore_conformance.trial import Trial


@case("I-80c", claims=("items", "managed"))
async def nothing_is_a_batch_too(trial: Trial) -> None:
    """An empty batch gives an empty list and changes nothing."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    expect.equal(await items.store_many([]), [])
    expect.ids(await items.scan_all(), [item])


@case("I-80d", claims=("items", "managed"))
async def a_batch_replaces_whole_items(trial: Trial) -> None:
    """A batch creates and replaces as `store` does: every field, and what is found by it."""
    items = await trial.items()
    old = [trial.item("tea", tags=["old"], created_at=1.0) for _ in range(3)]
    new = [trial.item("coffee", id=item.id, created_at=2.0) for item in old[:2]]
    added = trial.item("coffee", tags=["new"])
    await items.keep(*old)
    expect.equal(await items.store_many([*new, added]), [item.id for item in (*new, added)])
    await trial.show_index()
    for item in (old[2], *new, added):
        expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)
    expect.ids(await items.find(), [old[2], *new, added], ordered=False)
    if "analysed" in trial.claims.names:
        expect.ids(await items.find("tea"), old[2:])
        expect.ids(await items.find(tags=["old"]), old[2:])
        expect.ids(await items.find("coffee"), [*new, added], ordered=False)


@case("I-80e", claims=("items", "managed"))
async def no_part_of_a_batch_is_seen(trial: Trial) -> None:
    """While a batch is being stored, others see all of it or none."""
    items = await trial.items()
    batch = [trial.item(f"tea {number}") for number in range(40)]
    storing = asyncio.ensure_future(items.store_many(batch))
    try:
        while not storing.done():
            seen = await items.count()
            expect.that(seen in {0, len(batch)}, expected=f"0 or {len(batch)} items", got=seen)
            await asyncio.sleep(0)
    finally:
        await asyncio.wait({storing})
    expect.equal(storing.result(), [item.id for item in batch])
    expect.equal(await items.count(), len(batch), what="how many items there are")


@case("I-80f", claims=("items", "managed", "transport"), needs=("faults",))
async def a_batch_that_fails_is_there_or_not(trial: Trial) -> None:
    """A batch that the transport fails is stored wholly, or it is an error and maybe not; the same again succeeds."""
    items = await trial.items()
    old = [trial.item("tea") for _ in range(4)]
    await items.keep(*old)
    for fault in sorted(trial.faults.faults - {"no_identity"}):
        new = [trial.item(fault, id=item.id) for item in old] + [trial.item(fault) for _ in range(2)]
        before = await _contents(items)
        after = before | {item.id: item.content for item in new}
        trial.faults.fail_next(fault)
        trial.step(f"harness: fail_next({fault!r})")
        outcomes = [after]
        try:
            await items.store_many(new)  # an adapter may try again what was lost
        except MemoryAdapterError:
            outcomes.append(before)
        there = await _contents(items)
        expect.that(there in outcomes, expected="all of the batch, or none after an error", got=list(there.values()))
        expect.equal(await items.store_many(new), [item.id for item in new])
        expect.that(await _contents(items) == after, expected="all of the batch", got="a part of it")


@case("I-80g", claims=("items", "managed", "backend"))
async def a_batch_over_the_limit_is_refused(trial: Trial) -> None:
    """A batch of more items than the stated limit is refused, and nothing of it is stored."""
    backend = await trial.backend()
    if backend.capabilities.limits is None:
        raise Mismatch(expected="stated size limits", got="capabilities without limits")
    items = await trial.items()
    too_many = [trial.item("tea")] * (backend.capabilities.limits.batch + 1)
    with expect.raises(UnsupportedMemoryItem):
        store = cast("ManagedMemoryStore", items.raw)
        await trial.does(f"store_many({len(too_many)} items)", store.store_many(too_many))
    expect.equal(await items.count(), 0, what="how many items there are")


@case("I-80h", claims=("items", "managed"))
async def a_refused_batch_changes_nothing(trial: Trial) -> None:
    """If one item of a batch is refused, wherever it stands, what was stored before is as it was."""
    items = await trial.items()
    old = trial.item("tea")
    await items.keep(old)
    bad = trial.item({1, 2})
    for place in range(3):
        batch = [trial.item("coffee", id=old.id), trial.item("coffee")]
        batch.insert(place, bad)
        with expect.raises(UnsupportedMemoryItem) as caught:
            await items.store_many(batch)
        expect.equal(caught.error.path, f"items[{place}].content", what="the path of the error")
        expect.same_item(await items.retrieve(old.id), old, fields=trial.claims.exact_fields)
        expect.ids(await items.scan_all(), [old])


async def _contents(items: Items) -> dict[UUID, object]:
    return {item.id: item.content for item in await items.scan_all()}
