"""Writing: exactly, atomically, under the item's own id, or not at all (I-40 to I-45)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import MemoryAdapterError, UnsupportedMemoryItem

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.verdicts import Mismatch

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


@case("I-40a")
async def a_refusal_names_the_place(trial: Trial) -> None:
    """What cannot come back exactly is refused, with the field and the path inside it."""
    items = await trial.items()
    with expect.raises(UnsupportedMemoryItem) as caught:
        await items.store(trial.item({"scores": [1, 2, 3, float("nan")]}))
    expect.equal(caught.error.field, "content", what="the field of the error")
    expect.equal(caught.error.path, "content.scores[3]", what="the path of the error")


@case("I-40b", claims=("items", "transport"), needs=("faults",))
async def a_refused_item_is_not_sent(trial: Trial) -> None:
    """A refused item never reaches the transport."""
    items = await trial.items()
    before = trial.faults.calls()
    with expect.raises(UnsupportedMemoryItem):
        await items.store(trial.item({1, 2}))
    expect.equal(trial.faults.calls(), before, what="calls of the transport")


@case("I-42a")
async def storing_a_known_id_replaces(trial: Trial) -> None:
    """Storing a known id replaces the whole item."""
    items = await trial.items()
    first = trial.item("tea", tags=["old"])
    second = trial.item("coffee", id=first.id, tags=["new"])
    await items.keep(first)
    await items.store(second)
    expect.same_item(await items.retrieve(first.id), second, fields=trial.claims.exact_fields)


@case("I-43a")
async def store_returns_the_id_of_the_item(trial: Trial) -> None:
    """`store` returns the id of the item."""
    items = await trial.items()
    item = trial.item()
    expect.equal(await items.store(item), item.id)


@case("I-43b")
async def stored_is_retrievable_at_once(trial: Trial) -> None:
    """Once `store` has returned, `retrieve` finds the item without waiting for any index."""
    items = await trial.items()
    item = trial.item()
    await items.store(item)
    expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-43c", claims=("items", "transport"), needs=("faults",))
async def a_success_without_identity_is_a_failure(trial: Trial) -> None:
    """A success of the service that names no item is a failed write."""
    if "no_identity" not in trial.faults.faults:
        raise trial.unproven("the fault no_identity")
    items = await trial.items()
    trial.faults.fail_next("no_identity")
    with expect.raises(MemoryAdapterError):
        await items.store(trial.item())


@case("I-44a", claims=("items", "durable"), needs=("processes",), seconds=60)
async def what_was_acknowledged_survives_a_kill(trial: Trial) -> None:
    """What was acknowledged survives the death of the process that wrote it."""
    child = await trial.process()
    given = [trial.item(f"tea {number}") for number in range(20)]
    for item in given:
        await child.store(item)
    trial.step("20 items acknowledged; kill the process")
    await child.kill()
    items = await trial.items()
    for item in given:
        expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-45a", claims=("items", "backend"))
async def what_is_over_a_limit_is_refused(trial: Trial) -> None:
    """An item over a stated limit is refused, and one at the limit is kept."""
    backend = await trial.backend()
    limits = backend.capabilities.limits
    if limits is None:
        raise Mismatch(expected="stated size limits", got="capabilities without limits")
    items = await trial.items()
    await items.keep(trial.item("tea", tags=["t" * limits.tag]))
    with expect.raises(UnsupportedMemoryItem, where=lambda error: error.field == "tags", what="naming the tags"):
        await items.store(trial.item("tea", tags=["t" * (limits.tag + 1)]))
