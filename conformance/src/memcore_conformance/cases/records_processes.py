"""Records of several processes, and of one that is killed amid its work (I-44, R-12, R-15)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memcore import Invalidation, MemoryConflict

from memcore_conformance import expect
from memcore_conformance.cases.durability import kill_amid
from memcore_conformance.catalogue import case
from memcore_conformance.child import ChildFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore import MemoryRecord, MemoryWrite

    from memcore_conformance.child import Child
    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial


@case("R-15p", claims=("records", "shared"), needs=("processes",), seconds=120)
async def what_another_process_writes_is_seen_at_once(trial: Trial) -> None:
    """What one process has written, superseded or invalidated is what another gets and finds, from then on."""
    records = await trial.records()
    child = await trial.process()
    ours, other = await records.keep(trial.write("our tea"), trial.write("other tea"))
    expect.same_record(await child.get(ours.id), ours)
    write = trial.write("their tea", supersedes=[ours.id])
    done = await trial.does("write() in the other process", child.write(write, Invalidation(id=other.id)))
    for record in done:
        expect.same_record(await records.get(record.id), record)
    expect.ids(await records.find("tea"), [write])
    await records.delete(write.id)
    expect.none(await child.get(write.id))


@case("R-12p", claims=("records", "shared"), needs=("processes",), nature="stochastic", seconds=120)
async def of_processes_exactly_one_wins(trial: Trial) -> None:
    """Of two processes that supersede the same records at once, exactly one wins each: there is no fork."""
    records = await trial.records()
    child = await trial.process()
    old = await records.keep(*(trial.write(f"tea {number}") for number in range(20)))
    ours, theirs = ([trial.write("new", supersedes=[record.id]) for record in old] for _ in range(2))
    trial.step("20 records superseded here and in the other process, each one after the other")
    won, lost = await asyncio.gather(_supersede(records, ours), _supersede(child, theirs))
    for record, mine, other in zip(old, won, lost, strict=True):
        winners = [write for write in (mine, other) if write is not None]
        expect.equal(len(winners), 1, what="winners")
        expect.equal((await records.known(record.id)).superseded_by, winners[0].id, what="the successor")
    expect.equal(len(await records.find(limit=100)), len(old), what="how many are valid")


@case("I-44ra", claims=("records", "durable"), needs=("processes",), nature="stochastic", seconds=120)
async def a_kill_amid_batches_of_records_leaves_none_half_done(trial: Trial) -> None:
    """After a kill amid batches of records each is there as a whole or not at all, and those acknowledged are there."""
    child = await trial.process()
    batches = [[trial.write(f"tea {number} {n}") for n in range(6)] for number in range(40)]
    acknowledged = await kill_amid(trial, child, [child.write(*batch) for batch in batches], enough=3)
    records = await trial.records()
    await trial.show_index()
    found = {record.id for record in await records.find("tea", limit=1_000)}
    for place, batch in enumerate(batches):
        there = [write.id for write in batch if await records.raw.get(write.id)]
        expect.that(len(there) in {0, 6}, expected="the whole of a batch, or nothing", got=f"{len(there)} of 6")
        expect.that(there or place not in acknowledged, expected="what was acknowledged", got="nothing of it")
        expect.equal(found.issuperset(there), True, what="whether all of them are found")


@case("I-44rb", claims=("records", "durable"), needs=("processes",), nature="stochastic", seconds=120)
async def a_kill_amid_superseding_leaves_no_fork(trial: Trial) -> None:
    """After a kill amid rivals that supersede the same records, each has one successor or none, linked both ways."""
    child = await trial.process()
    old = [trial.write(f"tea {number}") for number in range(40)]
    await child.write(*old)
    rivals = [[trial.write("new", supersedes=[write.id]) for _ in range(2)] for write in old]
    calls = [child.write(rival) for pair in rivals for rival in pair]
    acknowledged = await kill_amid(trial, child, calls)
    records = await trial.records()
    for place, (write, pair) in enumerate(zip(old, rivals, strict=True)):
        there = [rival.id for rival in pair if await records.raw.get(rival.id)]
        told = {pair[number].id for number in range(2) if 2 * place + number in acknowledged}
        successor = (await records.known(write.id)).superseded_by
        expect.equal(there, [] if successor is None else [successor], what=f"the successors of record {place}")
        expect.that(told <= set(there), expected="what was acknowledged", got="another one, or none")


@case("I-44rc", claims=("records", "durable"))
async def all_records_are_there_after_closing(trial: Trial) -> None:
    """A backend that is opened after another was closed has every record as it was, and finds it as before."""
    records = await trial.records()
    chain = await records.chain("old tea", "new tea", tags=["t"], tier="short")
    ended = await records.invalidate((await records.keep(trial.write("other tea")))[0].id, "wrong", "ada")
    await trial.close()
    again = await trial.records()
    for record in (*chain, ended):
        expect.same_record(await again.get(record.id), record)
    expect.ids(await again.find("tea"), [chain[1]])
    expect.ids(await again.find(tags=["t"], as_of=chain[0].created_at), [chain[0]])
    with expect.raises(MemoryConflict, where=lambda error: error.current == chain[1], what="with the head"):
        await again.write(trial.write(supersedes=[chain[0].id]))


async def _supersede(writer: Records | Child, writes: Sequence[MemoryWrite]) -> list[MemoryRecord | None]:
    """Make the writes one after the other; `None` where another one has won."""
    done: list[MemoryRecord | None] = []
    for write in writes:
        try:
            done += await writer.write(write)
        except MemoryConflict:
            done.append(None)
        except ChildFailed as error:
            expect.equal(error.kind, "MemoryConflict", what="the error in the other process")
            done.append(None)
    return done
