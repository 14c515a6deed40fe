"""Upkeep of what is derived from items: check, reindex and purge (B-02, I-81)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.items import Items

if TYPE_CHECKING:
    from memcore import Maintenance, MemoryItem

    from memcore_conformance.trial import Trial


@case("B-02u", claims=("backend", "items", "maintenance"))
async def a_check_of_sound_data_finds_nothing(trial: Trial) -> None:
    """A check of sound data goes through every item and finds no fault."""
    upkeep, items = await _open(trial)
    await items.keep(*(trial.item(f"tea {number}", tags=["t"]) for number in range(5)))
    for repair in (False, True):
        report = await trial.does(f"check(repair={repair})", upkeep.check(repair=repair))
        expect.that(report.checked >= 5, expected="at least 5 items checked", got=report.checked)  # noqa: PLR2004
        expect.equal(report.faults, (), what="the faults")


@case("B-02v", claims=("backend", "items", "maintenance"), needs=("damage",))
async def a_check_tells_without_changing(trial: Trial) -> None:
    """What an index has lost is found by a check that is not to repair, which changes nothing and shows no content."""
    upkeep, items = await _open(trial)
    lost = await _damage_one_of_two(trial, items)
    first = await trial.does("check(repair=False)", upkeep.check(repair=False))
    expect.that(first.faults and not first.repaired, expected="faults that are not repaired", got=first)
    expect.that("oolong" not in " ".join(first.faults), expected="faults that show no content", got=first.faults)
    expect.lacks(await items.find("oolong"), lost)
    again = await trial.does("check(repair=False)", upkeep.check(repair=False))
    expect.equal(again.faults, first.faults, what="the faults found again")


@case("B-02w", claims=("backend", "items", "maintenance"), needs=("damage",))
async def a_check_repairs(trial: Trial) -> None:
    """A check repairs what an index has lost, says so, and leaves the item as it was."""
    upkeep, items = await _open(trial)
    lost = await _damage_one_of_two(trial, items)
    report = await trial.does("check()", upkeep.check())
    expect.that(report.faults and report.repaired, expected="faults that are repaired", got=report)
    await _expect_found(trial, items, lost)
    expect.equal((await trial.does("check()", upkeep.check())).faults, (), what="the faults afterwards")


@case("B-02x", claims=("backend", "items", "maintenance"), needs=("damage",))
async def a_reindex_repairs(trial: Trial) -> None:
    """`reindex` puts back what an index has lost, and tells how far it is and how many items it went through."""
    upkeep, items = await _open(trial)
    lost = await _damage_one_of_two(trial, items)
    told: list[int] = []
    count = await trial.does("reindex()", upkeep.reindex(progress=lambda done, _total: told.append(done)))
    expect.that(count >= 2, expected="at least 2 items gone through", got=count)  # noqa: PLR2004
    expect.that(told == sorted(told) and told[-1:] == [count], expected=f"progress up to {count}", got=told)
    await _expect_found(trial, items, lost)


@case("B-02y", claims=("backend", "items", "maintenance"))
async def upkeep_loses_no_write(trial: Trial) -> None:
    """What is stored while an index is rebuilt or checked is there, and found, afterwards."""
    upkeep, items = await _open(trial)
    await items.keep(*(trial.item(f"tea {number}") for number in range(5)))
    for work in (upkeep.reindex, upkeep.check):
        given = [trial.item(f"oolong {number}") for number in range(10)]
        trial.step(f"{work.__name__}() and 10 stores at once")
        await asyncio.gather(work(), *map(items.raw.store, given))
        await trial.show_index()
        found = await items.find("oolong", limit=100)
        for item in given:
            expect.contains(found, item)
            expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-81m", claims=("backend", "items", "managed", "maintenance"), needs=("raw",))
async def a_purge_removes_the_bytes(trial: Trial) -> None:
    """After `purge` nothing of what was erased stands in the stored bytes, and everything else is there."""
    upkeep, items = await _open(trial)
    words = ("xqzgone", "xqzreplaced", "xqztag", "xqzkey", "xqzvalue")
    gone = trial.item(f"the {words[0]} tea", tags=[words[2]], metadata={words[3]: words[4]})
    replaced = trial.item(f"the {words[1]} tea")
    kept = trial.item("the xqzkept tea", id=replaced.id)
    await items.keep(gone, replaced)
    expect.equal(await _held(trial, *words, "xqzkept"), list(words), what="words in the stored bytes before")
    await items.store(kept)
    expect.equal(await items.delete(gone.id), True)
    await trial.does("purge()", upkeep.purge())
    expect.equal(await _held(trial, *words, "xqzkept"), ["xqzkept"], what="words in the stored bytes after the purge")
    expect.same_item(await items.retrieve(kept.id), kept, fields=trial.claims.exact_fields)
    await trial.show_index()
    expect.ids(await items.find("tea"), [kept])


async def _open(trial: Trial) -> tuple[Maintenance, Items]:
    backend = await trial.backend()
    return cast("Maintenance", backend), Items(backend.items, trial)


async def _damage_one_of_two(trial: Trial, items: Items) -> MemoryItem:
    lost, other = trial.item("oolong tea", tags=["lost"]), trial.item("oolong tea", tags=["other"])
    await items.keep(lost, other)
    await _expect_found(trial, items, lost)
    await trial.harness_does("damage_index(…)", trial.damage.damage_index(lost.id))
    expect.ids(await items.find("oolong"), [other])
    return lost


async def _expect_found(trial: Trial, items: Items, item: MemoryItem) -> None:
    await trial.show_index()
    expect.contains(await items.find("oolong"), item)
    expect.ids(await items.find(tags=item.tags), [item])
    expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


async def _held(trial: Trial, *words: str) -> list[str]:
    return [word for word in words if await trial.harness_does(f"holds({word!r})", trial.raw.holds(word))]
