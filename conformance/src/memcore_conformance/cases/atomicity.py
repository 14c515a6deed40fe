"""Replacing by id: whole, in the order of the calls, whoever reads or writes at the same time (I-42)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from memcore import MemoryItem
    from memcore.items.manifest import MemoryItemField

    from memcore_conformance.trial import Trial


@case("I-42b")
async def readers_never_see_a_mixture(trial: Trial) -> None:
    """Whoever reads while an item is replaced gets the old one or the new one, never some of both."""
    items = await trial.items()
    versions = _versions(trial, trial.id(), 10)
    await items.keep(versions[0])
    for number, version in enumerate(versions[1:], start=2):
        write = asyncio.ensure_future(items.store(version))
        while not write.done():
            await asyncio.sleep(0)
            _expect_whole([await items.retrieve(version.id)], versions[:number], trial.claims.exact_fields)
            _expect_whole(await items.find(), versions[:number], trial.claims.hit_fields)
        await write


@case("I-42c")
async def the_last_write_wins(trial: Trial) -> None:
    """The write that is called last wins, whatever its time says and however often it alternates."""
    items = await trial.items()
    old, new = _versions(trial, trial.id(), 2)
    for version in (new, old, new, old):
        await items.keep(version)
    expect.same_item(await items.retrieve(old.id), old, fields=trial.claims.exact_fields)


@case("I-42d")
async def of_writes_at_once_one_is_kept_whole(trial: Trial) -> None:
    """Of many writes of one id at the same time one is kept, whole; each of them returns the id."""
    items = await trial.items()
    versions = _versions(trial, trial.id(), 12)
    expect.equal(
        await asyncio.gather(*map(items.store, versions)), [versions[0].id] * 12, what="the ids that store() returns"
    )
    await trial.show_index()
    _expect_whole([await items.retrieve(versions[0].id)], versions, trial.claims.exact_fields)
    expect.ids(await items.find(), versions[:1])


@case("I-42e")
async def of_items_at_once_none_is_lost(trial: Trial) -> None:
    """Of many items that are stored at the same time none is lost."""
    items = await trial.items()
    given = [trial.item(f"tea {number}") for number in range(40)]
    await asyncio.gather(*map(items.store, given))
    await trial.show_index()
    for item in given:
        expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)
    expect.ids(await items.find(limit=100), given, ordered=False)


@case("I-42f")
async def what_was_replaced_is_listed_once(trial: Trial) -> None:
    """An item that was replaced is listed once, as it is now."""
    items = await trial.items()
    old, new = _versions(trial, trial.id(), 2)
    other = trial.item("coffee")
    await items.keep(old, other, new)
    found = await items.find()
    expect.ids(found, [new, other], ordered=False)
    expect.same_item(next(hit for hit in found if hit.id == new.id), new, fields=trial.claims.hit_fields)


@case("I-42g", claims=("items", "analysed", "open_filters"))
async def what_was_replaced_is_found_by_nothing(trial: Trial) -> None:
    """Neither the words nor the tags nor the metadata of a replaced item find the one in its place."""
    items = await trial.items()
    old = trial.item("green tea", tags=["warm"], metadata={"k": 1, "gone": True})
    new = trial.item("black coffee", id=old.id, tags=["hot"], metadata={"k": 2})
    await items.keep(old, new)
    expect.ids(await items.find("green tea warm"), [])
    expect.ids(await items.find(tags=["warm"]), [])
    expect.ids([*await items.find(filters={"k": 1}), *await items.find(filters={"gone": True})], [])
    expect.ids(await items.find("coffee", tags=["hot"], filters={"k": 2, "gone": None}), [new])


def _versions(trial: Trial, item_id: UUID, count: int) -> list[MemoryItem]:
    """Return versions of one item that differ in every field that the adapter keeps."""
    kept = "metadata" in trial.claims.names
    return [
        trial.item(
            {"version": number, "text": f"tea {number} " * 20},
            id=item_id,
            created_at=1000.5 + number,
            tags=[f"version{number}"],
            metadata={"version": number} if kept else {},
        )
        for number in range(count)
    ]


def _expect_whole(
    found: Sequence[MemoryItem | None], versions: Sequence[MemoryItem], fields: Iterable[MemoryItemField]
) -> None:
    """Expect every item to be one of the versions in all of these fields."""
    for item in found:
        expect.that(
            any(all(_same(item, version, field) for field in fields) for version in versions),
            expected=f"one of {len(versions)} versions, whole",
            got=item and [getattr(item, field) for field in sorted(fields)],
        )


def _same(item: MemoryItem | None, version: MemoryItem, field: MemoryItemField) -> bool:
    return expect.first_difference(getattr(item, field, None), getattr(version, field), at=field) is None
