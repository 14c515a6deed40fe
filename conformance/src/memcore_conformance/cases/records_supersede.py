"""Superseding: old and new are linked, one of many writers wins, the others learn what holds now (R-12, R-13)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from memcore import Invalidation, MemoryConflict, MemoryNotFound

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.history import History
from memcore_conformance.verdicts import Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from datetime import datetime

    from memcore import MemoryRecord

    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial

_CLIENTS: Final = 4
_TURNS: Final = 8


@case("R-12a", claims=("records",))
async def old_and_new_are_linked(trial: Trial) -> None:
    """What is superseded ends at the very moment at which its successor begins, and leads to it; it is not erased."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("old"))
    (new,) = await records.keep(trial.write("new", supersedes=[old.id]))
    ended = await records.known(old.id)
    expect.equal((ended.invalid_at, ended.superseded_by), (new.created_at, new.id), what="invalid_at, superseded_by")
    expect.equal((ended.invalid_reason, ended.invalidated_by), (None, None), what="reason and actor")
    expect.equal(ended.status_at(new.created_at), "superseded", what="the status of the old one")
    expect.ids(await records.find("old new"), [new])


@case("R-12b", claims=("records",))
async def a_merge_supersedes_several(trial: Trial) -> None:
    """One record may supersede several: all end at once, and lead to it."""
    records = await trial.records()
    old = await records.keep(*(trial.write(f"old {number}") for number in range(3)))
    (new,) = await records.keep(trial.write("new", supersedes=[record.id for record in old]))
    for record in old:
        ended = await records.known(record.id)
        expect.equal((ended.invalid_at, ended.superseded_by), (new.created_at, new.id))
    expect.ids(await records.find(), [new])


@case("R-12c", claims=("records",))
async def superseding_the_unknown_is_an_error(trial: Trial) -> None:
    """Superseding a record that is unknown or was deleted is a `MemoryNotFound`, and nothing is written."""
    records = await trial.records()
    valid, gone = await records.keep(trial.write("valid"), trial.write("gone"))
    await records.delete(gone.id)
    for missing in (trial.id(), gone.id):
        write = trial.write("new", supersedes=[valid.id, missing])
        with expect.raises(MemoryNotFound):
            await records.write(write)
        expect.none(await records.get(write.id))
    expect.same_record(await records.get(valid.id), valid)


@case("R-12d", claims=("records",), needs=("clock",))
async def superseding_the_expired_is_an_error(trial: Trial) -> None:
    """From its time of expiry on, a record cannot be superseded or invalidated: it is a `MemoryNotFound`."""
    records = await trial.records()
    (now,) = await records.keep(trial.write())
    (old,) = await records.keep(trial.write("old", expires_at=_later(now, 10)))
    trial.advance(10.0)
    for change in (trial.write("new", supersedes=[old.id]), Invalidation(id=old.id)):
        with expect.raises(MemoryNotFound):
            await records.write(change)
    expect.ids(await records.find(include_invalidated=True), [now])


@case("R-12e", claims=("records",))
async def the_loser_learns_the_valid_head(trial: Trial) -> None:
    """Superseding what has been superseded is a conflict with the valid head, however long the chain has grown."""
    records = await trial.records()
    chain = await records.chain(*"abcde")
    for old in chain[:-1]:
        with expect.raises(MemoryConflict, where=_current_is(chain[-1]), what="with the head of the chain"):
            await records.write(trial.write("late", supersedes=[old.id]))
    expect.ids(await records.find(), chain[-1:])


@case("R-12f", claims=("records",))
async def without_a_valid_head_there_is_none_to_learn(trial: Trial) -> None:
    """Superseding what was invalidated, or a chain whose head was, is a conflict without a current record."""
    records = await trial.records()
    chain = await records.chain(*"abc")
    await records.invalidate(chain[-1].id)
    for old in chain:
        with expect.raises(MemoryConflict, where=_current_is(None), what="without a current record"):
            await records.write(trial.write("late", supersedes=[old.id]))
    expect.ids(await records.find(), [])


@case("R-12g", claims=("records",))
async def what_has_ended_in_a_call_cannot_be_superseded_in_it(trial: Trial) -> None:
    """A record that the same call invalidates first cannot be superseded by it: a conflict, and it stays valid."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("old"))
    with expect.raises(MemoryConflict):
        await records.write(Invalidation(id=old.id), trial.write("new", supersedes=[old.id]))
    expect.same_record(await records.get(old.id), old)


@case("R-12h", claims=("records",), nature="stochastic")
async def of_tasks_exactly_one_wins(trial: Trial) -> None:
    """Of many tasks that supersede one record at once exactly one wins; the others get a conflict with the winner."""
    records = await trial.records()
    await _race(trial, [records] * 8)


@case("R-12i", claims=("records", "shared"), nature="stochastic")
async def of_backends_exactly_one_wins(trial: Trial) -> None:
    """Of several backends on the same data that supersede one record at once exactly one wins."""
    await _race(trial, [await trial.records() for _ in range(4)])


@case("R-12j", claims=("records",), nature="stochastic")
async def one_order_explains_what_superseding_tasks_see(trial: Trial) -> None:
    """Of tasks that supersede along the same chain, one order explains all that they did and saw: there is no fork."""
    await _work_at_once(trial, [await trial.records()] * _CLIENTS)


@case("R-12k", claims=("records", "shared"), nature="stochastic")
async def one_order_explains_what_superseding_backends_see(trial: Trial) -> None:
    """Of backends on the same data that supersede along the same chain, one order explains what they did and saw."""
    await _work_at_once(trial, [await trial.records() for _ in range(2)] * (_CLIENTS // 2))


@case("R-13a", claims=("records",))
async def an_invalidated_record_ends_without_a_successor(trial: Trial) -> None:
    """An invalidated record says when, why and by whom it ended; it has no successor, and is not erased."""
    records = await trial.records()
    first, second = await records.keep(trial.write("first"), trial.write("second"))
    ended = await records.invalidate(first.id, "wrong", "ada")
    (other,) = await records.write(Invalidation(id=second.id, reason="late", actor="bob"))
    told = [(record.invalid_reason, record.invalidated_by, record.superseded_by) for record in (ended, other)]
    expect.equal(told, [("wrong", "ada", None), ("late", "bob", None)], what="reason, actor and successor")
    for record in (ended, other):
        expect.same_record(await records.get(record.id), record)
        moment = record.invalid_at or record.created_at
        expect.equal(record.status_at(moment), "invalidated", what="its status")
    expect.ids(await records.find(), [])


@case("R-13b", claims=("records",))
async def the_first_end_stands(trial: Trial) -> None:
    """Invalidating what has ended, by whatever end, changes nothing and returns it as it is."""
    records = await trial.records()
    (single,) = await records.keep(trial.write())
    superseded = (await records.chain("old", "new"))[0]
    for ended in (await records.invalidate(single.id, "first", "ada"), superseded):
        expect.same_record(await records.invalidate(ended.id, "second", "bob"), ended)
        expect.same_record((await records.write(Invalidation(id=ended.id)))[0], ended)
        expect.same_record(await records.get(ended.id), ended)


@case("R-13c", claims=("records",))
async def invalidating_the_unknown_is_an_error(trial: Trial) -> None:
    """Invalidating a record that is unknown, or was deleted, is a `MemoryNotFound`."""
    records = await trial.records()
    (gone,) = await records.keep(trial.write())
    await records.delete(gone.id)
    for missing in (trial.id(), gone.id):
        with expect.raises(MemoryNotFound):
            await records.invalidate(missing)


async def _race(trial: Trial, writers: Sequence[Records]) -> None:
    """Let every writer supersede the same records at once, and look at who has won."""
    records = writers[0]
    for _ in range(4):
        (old,) = await records.keep(trial.write("old"))
        writes = [trial.write(f"new {number}", supersedes=[old.id]) for number in range(len(writers))]
        trial.step(f"{len(writers)} writes that supersede {str(old.id)[:8]}, at once")
        calls = [writer.raw.write([write]) for writer, write in zip(writers, writes, strict=True)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        won = [end[0] for end in ended if not isinstance(end, BaseException)]
        expect.equal(len(won), 1, what="winners")
        for end in ended:
            if isinstance(end, BaseException):
                with expect.raises(MemoryConflict, where=_current_is(won[0]), what="with the winner"):
                    raise end
        expect.equal((await records.known(old.id)).superseded_by, won[0].id, what="the successor")
        there = [write.id for write in writes if await records.get(write.id)]
        expect.equal(there, [won[0].id], what="which new records are there")


async def _work_at_once(trial: Trial, clients: Sequence[Records]) -> None:
    """Let every client supersede what it holds for the head of a chain, and judge the history of each chain."""
    history = History()
    heads: dict[str, Hashable] = {}
    for name in ("a", "b"):
        first = trial.write(tags=[name])
        await history.write(name, first.id, clients[0].write(first))
        heads[name] = first.id
    await asyncio.gather(*(_supersede(trial, client, history, dict(heads)) for client in clients))
    for client in clients:
        for name in ("a", "b"):
            await history.read(client.find(tags=[name]), partial(_shown, name))
    for key in history.unexplained():
        seen = ", ".join(f"{one.kind} {expect.describe(one.value)}" for one in history.operations[key])
        raise Mismatch(expected="an order that explains what was seen of one chain", got=seen)


async def _supersede(trial: Trial, records: Records, history: History, heads: dict[str, Hashable]) -> None:
    chance = trial.random
    for _ in range(_TURNS):
        for _ in range(chance.randrange(3)):
            await asyncio.sleep(0)
        key = chance.choice(("a", "b"))
        if chance.random() < 1 / 4:
            await history.read(records.find(tags=[key]), partial(_shown, key))
        else:
            write = trial.write(tags=[key], supersedes=[heads[key]])
            heads[key] = await history.swap(key, heads[key], write.id, records.write(write))


def _shown(key: str, found: list[MemoryRecord]) -> dict[Hashable, Hashable]:
    """Return the valid record of a chain; two at once are none that any order explains."""
    return {key: found[0].id if len(found) == 1 else tuple(found)}


def _current_is(record: MemoryRecord | None) -> Callable[[MemoryConflict], bool]:
    return lambda error: error.current == record


def _later(record: MemoryRecord, seconds: float) -> datetime:
    return record.created_at + timedelta(seconds=seconds)
