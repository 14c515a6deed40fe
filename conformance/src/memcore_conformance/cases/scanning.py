"""Going through everything, page by page, while others write (I-82)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from memcore import UnsupportedMemoryQuery

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore_conformance.items import Items
    from memcore_conformance.trial import Trial

EDGES: Final = (0, 1, 255, 256, 2**63 - 1, 2**63, 2**64, 2**127 - 1, 2**127, 2**128 - 2, 2**128 - 1)
"""Ids at the edges of signs, bytes and words."""


@case("I-82c", claims=("items", "managed"))
async def a_scan_amid_writes_misses_and_repeats_nothing(trial: Trial) -> None:
    """While others store, replace and erase, a scan gives each item that stays exactly once, in order of id."""
    items = await trial.items()
    given = [trial.item("tea", id=UUID(int=100 * number), created_at=50.0) for number in range(1, 21)]
    await items.keep(*given)
    found: list[UUID] = []
    after: str | None = None
    for turn in range(100):
        page = await items.scan(after=after, limit=3)
        found += [item.id for item in page.items]
        after = page.next
        if after is None:
            break
        at = found[-1].int
        await items.store(trial.item("new", id=UUID(int=at - 1)))
        await items.store(trial.item("new", id=UUID(int=at + 50 + turn)))
        if turn < 9:  # noqa: PLR2004 - the tenth is to go
            await items.store(trial.item("again", id=given[turn].id, created_at=float(turn * 100)))
        await items.delete(UUID(int=at - 100))
        if turn == 1:
            await items.delete_many([given[9].id, given[14].id])
    expect.equal(found, sorted(set(found)), what="the ids in the order of the pages")
    stayed = [item.id for item in given if item not in (given[9], given[14])]
    expect.equal([item_id for item_id in found if item_id.int % 100 == 0], stayed, what="the ids of what stayed")


@case("I-82d", claims=("items", "managed"))
async def the_order_of_ids_has_no_sign(trial: Trial) -> None:
    """Ids are ordered as the numbers that they are, from the lowest to the greatest."""
    items = await trial.items()
    given = [trial.item("tea", id=UUID(int=number)) for number in EDGES]
    await items.keep(*reversed(given))
    for limit in (1, 2, len(given)):
        expect.ids(await items.scan_all(limit=limit), given)


@case("I-82e", claims=("items", "managed"))
async def a_cursor_outlives_its_item(trial: Trial) -> None:
    """A cursor leads on although the item that it came with was erased, and as often as it is used."""
    items = await trial.items()
    given = sorted((trial.item("tea") for _ in range(6)), key=lambda item: item.id)
    await items.keep(*given)
    page = await items.scan(limit=2)
    await items.delete_many([item.id for item in given[:2]])
    for _ in range(2):
        expect.ids((await items.scan(after=page.next)).items, given[2:])
    await items.delete_many([item.id for item in given[2:]])
    rest = await items.scan(after=page.next)
    expect.ids(rest.items, [])
    expect.none(rest.next, what="the cursor at the end")


@case("I-82f", claims=("items", "managed"))
async def every_other_cursor_is_refused(trial: Trial) -> None:
    """A cursor that was cut, changed or made up is an error that names `after`, and so is a limit below 1."""
    items = await trial.items()
    await items.keep(*(trial.item("tea") for _ in range(3)))
    cursor = (await items.scan(limit=1)).next or ""
    expect.that(cursor, expected="a cursor", got=cursor)
    changed = ("A" if cursor[0] != "A" else "B") + cursor[1:]
    for other in (
        "",
        " ",
        cursor[:-2],
        cursor + cursor,
        changed,
        str(trial.id()),
        "' OR 1=1 --",
        "\x00",
        "\ud800",
        "é",
    ):
        with expect.raises(UnsupportedMemoryQuery, where=_names("after"), what="naming after"):
            await items.scan(after=other)
    for limit in (0, -1, -(2**70)):
        with expect.raises(UnsupportedMemoryQuery, where=_names("limit"), what="naming limit"):
            await items.scan(after=cursor, limit=limit)


@case("I-82g", claims=("items", "managed", "backend"))
async def a_cursor_belongs_to_its_namespace(trial: Trial) -> None:
    """A cursor of another namespace is refused: it would begin in the middle."""
    one, two = await trial.items(namespace="one"), await trial.items(namespace="two")
    for items in (one, two):
        await items.keep(*(trial.item("tea") for _ in range(3)))
    cursor = (await one.scan(limit=1)).next
    with expect.raises(UnsupportedMemoryQuery, where=_names("after"), what="naming after"):
        await two.scan(after=cursor)


@case("I-82h", claims=("items", "managed"))
async def pages_hold_what_was_stored(trial: Trial) -> None:
    """A page holds at most its limit of fresh items, as `retrieve` gives them; any greater limit works."""
    items = await trial.items()
    metadata = {"k": [1, 1.0]} if "metadata" in trial.claims.names else {}
    given = [trial.item({"tea": number}, tags=["t"], metadata=metadata, created_at=number / 3) for number in range(5)]
    await items.keep(*given)
    wanted = sorted(given, key=lambda item: item.id)
    for limit in (1, 2, 4, 5, 6, 2**63):
        page = await items.scan(limit=limit)
        expect.ids(page.items, wanted[:limit])
        if limit > len(given):
            expect.none(page.next, what="the cursor at the end")
        for got, item in zip(page.items, wanted, strict=False):
            expect.same_item(got, item, fields=trial.claims.exact_fields)


@case("I-82i", claims=("items", "managed"))
async def the_count_follows_every_write(trial: Trial) -> None:
    """`count` is the number of different items, whatever was stored, replaced or erased, or was not there."""
    items = await trial.items()
    await _expect_count(items, 0)
    first, second, third = (trial.item("tea") for _ in range(3))
    await items.keep(first)
    await _expect_count(items, 1)
    await items.store(first)
    await _expect_count(items, 1)
    await items.store_many([first, second, second, third])
    await _expect_count(items, 3)
    await items.delete(trial.id())
    await items.delete(first.id)
    await items.delete(first.id)
    await _expect_count(items, 2)
    await items.delete_many([first.id, second.id, third.id])
    await _expect_count(items, 0)
    page = await items.scan()
    expect.ids(page.items, [])
    expect.none(page.next, what="the cursor of an empty store")


async def _expect_count(items: Items, wanted: int) -> None:
    expect.equal(await items.count(), wanted, what="how many items there are")


def _names(key: str) -> Callable[[UnsupportedMemoryQuery], bool]:
    return lambda error: error.rejected_keys == (key,)
