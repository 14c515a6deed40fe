"""Several processes on the same data (I-42, I-43, I-81, B-05)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore import MemoryItem, MemoryStore

    from memcore_conformance.child import Child
    from memcore_conformance.trial import Trial


@case("I-43p", claims=("items", "shared"), needs=("processes",), seconds=120)
async def what_another_process_stores_is_seen_at_once(trial: Trial) -> None:
    """What one process has stored or replaced is what another retrieves, and finds, from then on."""
    items = await trial.items()
    child = await trial.process()
    ours = trial.item("green tea")
    theirs = trial.item("black coffee", id=ours.id)
    await items.keep(ours)
    expect.same_item(await child.retrieve(ours.id), ours, fields=trial.claims.exact_fields)
    expect.equal(await trial.does("store() in the other process", child.store(theirs)), theirs.id)
    expect.same_item(await items.retrieve(ours.id), theirs, fields=trial.claims.exact_fields)
    await trial.show_index()
    expect.ids(await items.find("coffee"), [theirs])
    expect.ids(await items.find("green"), [])


@case("I-81p", claims=("items", "managed", "shared"), needs=("processes",), seconds=120)
async def what_another_process_deletes_is_gone(trial: Trial) -> None:
    """What one process has deleted, another neither retrieves nor finds."""
    items = await trial.items()
    child = await trial.process()
    item = trial.item("tea")
    await items.keep(item)
    expect.ids(await items.find("tea"), [item])
    expect.equal(await trial.does("delete() in the other process", child.delete(item.id)), True)
    expect.none(await items.retrieve(item.id))
    await trial.show_index()
    expect.ids(await items.find("tea"), [])


@case("I-42p", claims=("items", "shared"), needs=("processes",), seconds=120)
async def processes_that_write_at_once_lose_nothing(trial: Trial) -> None:
    """Of items that two processes store at the same time, none is lost."""
    items = await trial.items()
    child = await trial.process()
    ours = [trial.item(f"our tea {number}") for number in range(30)]
    theirs = [trial.item(f"their tea {number}") for number in range(30)]
    trial.step("30 stores here and 30 in the other process, each one after the other")
    await asyncio.gather(_store_all(items.raw, ours), _store_all(child, theirs))
    for item in (*ours, *theirs):
        expect.same_item(await items.raw.retrieve(item.id), item, fields=trial.claims.exact_fields)
    await trial.show_index()
    expect.ids(await items.find("tea", limit=100), [*ours, *theirs], ordered=False)


@case("I-42q", claims=("items", "shared"), needs=("processes",), nature="stochastic", seconds=120)
async def one_item_of_two_processes_is_never_a_mixture(trial: Trial) -> None:
    """While two processes replace one item, everybody sees whole versions, and in the end the last one of either."""
    items, reader = await trial.items(), await trial.items()
    child = await trial.process()
    first = trial.item("start", tags=["start"])
    versions = {
        name: [trial.item(f"{name} {number}", id=first.id, tags=[f"{name} {number}"]) for number in range(20)]
        for name in ("here", "there")
    }
    whole = {item.content: item for item in [first, *versions["here"], *versions["there"]]}
    await items.keep(first)
    trial.step("20 versions here and 20 in the other process, each one after the other")
    writing = asyncio.gather(_store_all(items.raw, versions["here"]), _store_all(child, versions["there"]))
    seen = [await reader.raw.retrieve(first.id)]
    while not writing.done():
        seen.append(await reader.raw.retrieve(first.id))
        await asyncio.sleep(0)
    await writing
    for got in seen:
        expect.same_item(got, whole.get(got.content if got else None, first), fields=trial.claims.exact_fields)
    last = await reader.retrieve(first.id)
    wanted = [versions["here"][-1].content, versions["there"][-1].content]
    expect.that(last and last.content in wanted, expected=f"one of {wanted}", got=last)


@case("B-05b", claims=("backend", "items", "shared"), needs=("processes",), seconds=120)
async def many_processes_may_open_at_once(trial: Trial) -> None:
    """Processes that open at once where there is nothing yet all succeed, and share what each of them stores."""
    children = await asyncio.gather(*(trial.process() for _ in range(4)))
    given = [trial.item(f"tea {number}") for number in range(len(children))]
    await asyncio.gather(*(child.store(item) for child, item in zip(children, given, strict=True)))
    for child in children:
        for item in given:
            expect.same_item(await child.retrieve(item.id), item, fields=trial.claims.exact_fields)


async def _store_all(store: MemoryStore | Child, versions: Sequence[MemoryItem]) -> None:
    for version in versions:
        await store.store(version)
