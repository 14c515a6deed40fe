"""Reading by identity: a direct read, exact as the manifest says (I-50, I-51)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from memcore import MemoryItem

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


@case("I-50a")
async def an_unknown_id_is_a_miss(trial: Trial) -> None:
    """An id that was never stored gives `None`."""
    items = await trial.items()
    await items.keep(trial.item())
    expect.none(await items.retrieve(trial.id()))


@case("I-50b", claims=("items", "transport"), needs=("raw",))
async def what_is_no_memory_item_is_a_miss(trial: Trial) -> None:
    """Something of that identity that is no memory item gives `None`."""
    items = await trial.items()
    item = trial.item()
    await items.keep(item)
    foreign = trial.id()
    await trial.harness_does(f"plant_foreign({str(foreign)[:8]})", trial.raw.plant_foreign(foreign))
    expect.none(await items.retrieve(foreign))


@case("I-50c")
async def an_id_is_all_of_its_bits(trial: Trial) -> None:
    """An id that differs in one bit, or holds the same bytes in another order, is another id."""
    items = await trial.items()
    item = trial.item()
    await items.keep(item)
    near = [UUID(int=item.id.int ^ (1 << bit)) for bit in (0, 31, 63, 64, 96, 127)]
    for item_id in (*near, UUID(bytes=item.id.bytes[::-1]), UUID(bytes=item.id.bytes_le)):
        expect.none(await items.retrieve(item_id))


@case("I-50d")
async def every_uuid_is_an_identity(trial: Trial) -> None:
    """Items of every kind of UUID are kept apart: none of all zeros, ones, or an unusual version is special."""
    items = await trial.items()
    given = [
        trial.item(f"tea {number}", id=UUID(int=number)) for number in (0, 1, 2**127, 2**128 - 1, 0xFF << 60, 42 << 96)
    ]
    await items.keep(*given)
    for item in given:
        expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)
    expect.ids(await items.find(), given, ordered=False)


@case("I-51a")
async def what_is_claimed_comes_back_exactly(trial: Trial) -> None:
    """Every field that is claimed to be kept comes back equal and of equal type, the time bit for bit."""
    items = await trial.items()
    item = trial.item({"tea": [1, 1.0]}, tags=["b", "a", "b"], metadata={"k": 0.1}, created_at=1_700_000_000.123_456_7)
    await items.store(item)
    expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-51b")
async def dropped_fields_read_as_defaults(trial: Trial) -> None:
    """A field that is declared dropped reads as a default, the same for every item."""
    manifest = trial.claims.manifest
    dropped = manifest.dropped_item_fields if manifest else frozenset()
    items = await trial.items()
    item = trial.item("tea", metadata={"k": 1}, created_at=1.5)
    await items.keep(item)
    got = await items.retrieve(item.id)
    if "metadata" in dropped:
        expect.equal(got and got.metadata, {}, what="dropped metadata")
    if "created_at" in dropped:
        expect.that(got and got.created_at != item.created_at, expected="a default, not the dropped time", got=got)


@case("I-51c", claims=("items", "lossy"), needs=("losses",))
async def losses_are_exactly_those_declared(trial: Trial) -> None:
    """A lossy store changes what its fixtures show, exactly as their rules say."""
    items = await trial.items()
    losses = trial.losses.losses()
    expect.that(losses, expected="a fixture for every loss", got="none")
    for loss in losses:
        trial.step(f"loss {loss.name!r}: {loss.rule}")
        await items.store(loss.given)
        expect.same_item(await items.retrieve(loss.given.id), MemoryItem.model_validate(loss.kept.model_dump()))
