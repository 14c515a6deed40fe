"""When the place of the data is full, read-only, locked or holds something else (I-70, I-80), or gets newer (I-32)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from memcore import ExternalMemoryStore, MalformedMemoryPayload, MemoryAdapterUnavailable

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore import MemoryItem

    from memcore_conformance.harness import StorageFault
    from memcore_conformance.items import Items
    from memcore_conformance.trial import Trial

LARGE = 100_000
"""Characters that no free page takes up."""


@case("I-70s", claims=("items", "durable"), needs=("storage",))
async def a_full_place_keeps_what_it_has(trial: Trial) -> None:
    """Where no space is left a write says so, nothing that was stored is lost, and with space again it succeeds."""
    await _write_in_vain(trial, "full")


@case("I-70t", claims=("items", "durable"), needs=("storage",))
async def a_read_only_place_refuses_writes(trial: Trial) -> None:
    """Where nothing may be written a write says so, and when it may be it succeeds."""
    await _write_in_vain(trial, "read_only")


@case("I-70u", claims=("items", "durable"), needs=("storage",))
async def a_lock_of_somebody_else_is_told(trial: Trial) -> None:
    """While somebody else holds the lock that a write needs, it says so in the end, and later it succeeds."""
    await _write_in_vain(trial, "locked")


@case("I-70v", claims=("backend", "items", "durable"), needs=("storage", "raw"))
async def garbage_is_refused_and_left_alone(trial: Trial) -> None:
    """Where something else lies in place of the data, opening says so and changes nothing of it."""
    items = await trial.items()
    kept = trial.item("tea")
    await items.keep(kept)
    await trial.close()
    await _break(trial, "garbage")
    before = await trial.harness_does("fingerprint()", trial.raw.fingerprint())
    backend = await trial.make_backend()
    with expect.raises(MalformedMemoryPayload):
        await trial.does("open()", backend.open())
    with expect.raises(MalformedMemoryPayload):
        await trial.does("store()", backend.items.store(trial.item()))
    expect.equal(await trial.harness_does("fingerprint()", trial.raw.fingerprint()), before, what="what lies there")
    await trial.close()
    await trial.harness_does("mend_storage()", trial.storage.mend_storage())
    expect.same_item(await (await trial.items()).retrieve(kept.id), kept, fields=trial.claims.exact_fields)


@case("I-80s", claims=("items", "managed", "durable"), needs=("storage",))
async def a_batch_that_finds_no_space_leaves_nothing(trial: Trial) -> None:
    """A batch for which there is no space leaves nothing, and as a whole it is stored when there is."""
    items = await trial.items()
    await items.keep(trial.item("tea"))
    batch = [trial.item("x" * size) for size in (1, 1, LARGE, 1)]
    await _break(trial, "full")
    with expect.raises(MemoryAdapterUnavailable):
        await items.store_many(batch)
    await trial.harness_does("mend_storage()", trial.storage.mend_storage())
    expect.equal(await items.count(), 1, what="how many items there are")
    await items.store_many(batch)
    expect.equal(await items.count(), 1 + len(batch), what="how many items there are")


@case("I-32n", claims=("backend", "items", "transport"), needs=("raw",))
async def data_that_become_newer_stop_an_open_store(trial: Trial) -> None:
    """When a newer version takes over the data, an open store says so; its claims stay what they were."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    store = cast("ExternalMemoryStore", items.raw)
    manifest = store.manifest
    await trial.harness_does("make_newer()", trial.raw.make_newer())
    with expect.raises(MemoryAdapterUnavailable):
        await items.store(trial.item("coffee"))
    with expect.raises(MemoryAdapterUnavailable):
        await items.retrieve(item.id)
    with expect.raises(MemoryAdapterUnavailable):
        await items.find("tea")
    expect.that(store.manifest is manifest, expected="the same manifest", got=store.manifest)


async def _write_in_vain(trial: Trial, fault: StorageFault) -> None:
    items = await trial.items()
    kept, new = trial.item("tea"), trial.item("x" * LARGE)
    again = trial.item("y" * LARGE, id=kept.id)
    await items.keep(kept)
    await _break(trial, fault)
    for item in (new, again):
        with expect.raises(
            MemoryAdapterUnavailable, where=lambda error: error.__cause__ is not None, what="with its cause"
        ):
            await items.store(item)
    await trial.harness_does("mend_storage()", trial.storage.mend_storage())
    await _expect_either(trial, items, kept, again)
    for item in (new, again):
        await items.keep(item)


async def _expect_either(trial: Trial, items: Items, old: MemoryItem, new: MemoryItem) -> None:
    """Expect the old item or the new one, whole: a write that failed may be applied later (I-70)."""
    got = await items.retrieve(old.id)
    wanted = new if got and got.content == new.content else old
    expect.same_item(got, wanted, fields=trial.claims.exact_fields)


async def _break(trial: Trial, fault: StorageFault) -> None:
    if fault not in trial.storage.storage_faults:
        raise trial.unproven(f"the storage fault {fault}")
    await trial.harness_does(f"break_storage({fault!r})", trial.storage.break_storage(fault))
