"""What outlives the death of the process that wrote it (I-44)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.child import ChildFailed

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from memcore import Maintenance

    from memcore_conformance.child import Child
    from memcore_conformance.trial import Trial

ENOUGH = 15
"""Acknowledgements after which the process is killed."""


@case("I-44b", claims=("items", "durable"), needs=("processes",), nature="stochastic", seconds=120)
async def a_kill_amid_writes_loses_nothing_acknowledged(trial: Trial) -> None:
    """Of many writes at once, those acknowledged before a kill are there, and each other one is whole or absent."""
    child = await trial.process()
    given = [trial.item(f"tea {number}", tags=[f"t{number}"]) for number in range(150)]
    acknowledged = await kill_amid(trial, child, [child.store(item) for item in given])
    items = await trial.items()
    for place, item in enumerate(given):
        got = await items.raw.retrieve(item.id)
        if got is not None or place in acknowledged:
            expect.same_item(got, item, fields=trial.claims.exact_fields)


@case("I-44c", claims=("items", "durable"), needs=("processes",), nature="stochastic", seconds=120)
async def a_kill_amid_replacing_leaves_a_whole_version(trial: Trial) -> None:
    """An item that is replaced again and again is whole after a kill, and no older than what was acknowledged."""
    child = await trial.process()
    first = trial.item("version 0", tags=["0"])
    versions = [first, *(trial.item(f"version {n}", id=first.id, tags=[str(n)]) for n in range(1, 60))]
    for version in versions[:ENOUGH]:
        await child.store(version)
    trial.step(f"{ENOUGH} versions stored in the other process, one after the other; then the rest at once")
    await kill_amid(trial, child, [child.store(version) for version in versions[ENOUGH:]], enough=1)
    items = await trial.items()
    got = await items.retrieve(first.id)
    later = {version.content: version for version in versions[ENOUGH - 1 :]}
    expect.that(got and got.content in later, expected=f"version {ENOUGH - 1} or a later one", got=got)
    expect.same_item(got, later[got.content if got else None], fields=trial.claims.exact_fields)


@case("I-44d", claims=("items", "managed", "durable"), needs=("processes",), nature="stochastic", seconds=120)
async def a_kill_amid_batches_leaves_none_half_done(trial: Trial) -> None:
    """After a kill amid batches each one is there as a whole or not at all, and those acknowledged are there."""
    child = await trial.process()
    batches = [[trial.item(f"tea {number} {n}") for n in range(10)] for number in range(30)]
    acknowledged = await kill_amid(trial, child, [child.store_many(batch) for batch in batches], enough=2)
    items = await trial.items()
    for place, batch in enumerate(batches):
        found = [item.id for item in batch if await items.raw.retrieve(item.id)]
        if found or place in acknowledged:
            expect.equal(found, [item.id for item in batch], what=f"what is there of batch {place}")


@case("I-44e", claims=("items", "managed", "durable"), needs=("processes",), nature="stochastic", seconds=120)
async def a_kill_revives_nothing(trial: Trial) -> None:
    """What was acknowledged as deleted stays so after a kill, for `retrieve` and for every search."""
    child = await trial.process()
    given = [trial.item(f"tea {number}") for number in range(60)]
    await child.store_many(given)
    acknowledged = await kill_amid(trial, child, [child.delete(item.id) for item in given])
    items = await trial.items()
    await trial.show_index()
    hits = await items.find("tea", limit=100)
    for place in sorted(acknowledged):
        expect.none(await items.raw.retrieve(given[place].id), what="an item that was deleted")
        expect.lacks(hits, given[place])


@case("I-44f", claims=("items", "backend", "durable"))
async def everything_is_there_after_closing(trial: Trial) -> None:
    """A backend that is opened after another was closed has everything that the other one had."""
    items = await trial.items()
    given = [trial.item(f"tea {number}", tags=["t", str(number)]) for number in range(5)]
    await items.keep(*given)
    before = await items.find("tea")
    await trial.close()
    again = await trial.items()
    for item in given:
        expect.same_item(await again.retrieve(item.id), item, fields=trial.claims.exact_fields)
    expect.ids(await again.find("tea"), before)
    expect.ids(await again.find(tags=["3"]), [given[3]])


@case("I-44g", claims=("items", "durable"), needs=("processes",), nature="stochastic", seconds=120)
async def what_was_acknowledged_is_found_after_a_kill(trial: Trial) -> None:
    """After a kill what was acknowledged is found by its words and its tags, and every hit is whole."""
    child = await trial.process()
    given = {item.id: item for item in (trial.item(f"tea {number}", tags=["t"]) for number in range(100))}
    acknowledged = await kill_amid(trial, child, [child.store(item) for item in given.values()])
    backend = await trial.backend()
    items = await trial.items()
    await trial.show_index()
    for hits in (await items.find("tea", limit=1000), await items.find(tags=["t"], limit=1000)):
        for place in sorted(acknowledged):
            expect.contains(hits, list(given.values())[place])
        for hit in hits:
            expect.same_item(hit, given[hit.id], fields=trial.claims.hit_fields)
    if "maintenance" in trial.claims.names:
        report = await trial.does("check(repair=False)", cast("Maintenance", backend).check(repair=False))
        expect.equal(report.faults, (), what="the faults")


async def kill_amid(
    trial: Trial, child: Child, calls: Sequence[Coroutine[object, object, object]], *, enough: int = ENOUGH
) -> set[int]:
    """Start all calls, kill the process when enough of them are acknowledged, and return which ones were."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    while sum(task.done() for task in tasks) < enough:
        await asyncio.wait([task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED)
    await child.kill()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    strange = [end for end in ended if isinstance(end, BaseException) and not isinstance(end, ChildFailed)]
    expect.equal(strange, [], what="calls that ended otherwise than by an acknowledgement or with the process")
    acknowledged = {place for place, end in enumerate(ended) if not isinstance(end, BaseException)}
    expect.that(acknowledged, expected="some calls acknowledged before the kill", got=ended[0])
    trial.step(f"{len(tasks)} calls in the other process, killed after {len(acknowledged)} acknowledgements")
    return acknowledged
