"""Copying, erasing and counting (I-80 to I-82)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import UnsupportedMemoryItem, UnsupportedMemoryQuery

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


@case("I-80a", claims=("items", "managed"))
async def a_batch_is_stored_in_input_order(trial: Trial) -> None:
    """`store_many` returns the ids in input order, and the last of duplicates wins."""
    items = await trial.items()
    first, second = trial.item("tea"), trial.item("coffee")
    again = trial.item("water", id=first.id)
    expect.equal(await items.store_many([first, second, again]), [first.id, second.id, first.id])
    expect.same_item(await items.retrieve(first.id), again, fields=trial.claims.exact_fields)
    expect.equal(await items.count(), 2, what="how many items there are")


@case("I-80b", claims=("items", "managed"))
async def a_batch_is_all_or_nothing(trial: Trial) -> None:
    """If one item of a batch is refused, none is stored, and the path starts with its place."""
    items = await trial.items()
    good = trial.item("tea")
    with expect.raises(UnsupportedMemoryItem) as caught:
        await items.store_many([good, trial.item({"a": float("inf")})])
    expect.equal(caught.error.path, "items[1].content.a", what="the path of the error")
    expect.none(await items.retrieve(good.id))


@case("I-81a", claims=("items", "managed"))
async def what_is_deleted_is_gone(trial: Trial) -> None:
    """`delete` tells whether the item was there, and it is gone from `retrieve` and from every search."""
    items = await trial.items()
    item, other = trial.item("tea", tags=["t"]), trial.item("tea", tags=["t"])
    await items.keep(item, other)
    expect.equal(await items.delete(item.id), True)
    expect.equal(await items.delete(item.id), False)
    await trial.show_index()
    expect.none(await items.retrieve(item.id))
    for found in (await items.find("tea"), await items.find(tags=["t"]), await items.find()):
        expect.ids(found, [other])


@case("I-81b", claims=("items", "managed", "filters", "metadata"))
async def erasing_by_filter_spares_the_rest(trial: Trial) -> None:
    """`delete_where` erases what matches and nothing else; an empty filter is refused."""
    manifest = trial.claims.manifest
    key = min(manifest.supported_filters, default="kind") if manifest else "kind"
    items = await trial.items()
    gone, kept = trial.item("tea", metadata={key: "x"}), trial.item("tea", metadata={key: "y"})
    await items.keep(gone, kept)
    with expect.raises(UnsupportedMemoryQuery):
        await items.delete_where({})
    expect.equal(await items.delete_where({key: "x"}), 1, what="how many were erased")
    expect.none(await items.retrieve(gone.id))
    expect.same_item(await items.retrieve(kept.id), kept, fields=trial.claims.exact_fields)


@case("I-82a", claims=("items", "managed"))
async def a_scan_gives_every_item_once(trial: Trial) -> None:
    """Pages of a scan hold every item exactly once, in order of id."""
    items = await trial.items()
    given = sorted((trial.item(f"tea {number}") for number in range(7)), key=lambda item: item.id)
    await items.keep(*reversed(given))
    expect.equal(await items.count(), 7, what="how many items there are")
    expect.ids(await items.scan_all(limit=3), given)


@case("I-82b", claims=("items", "managed"))
async def a_foreign_cursor_is_refused(trial: Trial) -> None:
    """A cursor that this store did not make is refused, as is a limit below 1."""
    items = await trial.items()
    await items.keep(trial.item())
    with expect.raises(
        UnsupportedMemoryQuery, where=lambda error: error.rejected_keys == ("after",), what="naming after"
    ):
        await items.scan(after="no-cursor")
    with expect.raises(
        UnsupportedMemoryQuery, where=lambda error: error.rejected_keys == ("limit",), what="naming limit"
    ):
        await items.scan(limit=0)
