"""Writing records: one transaction, in order, at times that rise (R-10); and writing them again (R-11)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from memcore import (
    Invalidation,
    MemoryConflict,
    MemoryNotFound,
    MemoryWrite,
    Provenance,
    RecordQuery,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)

from memcore_conformance import expect
from memcore_conformance.cases.records_model import FULL
from memcore_conformance.cases.refusal import LIMITS
from memcore_conformance.cases.values import inexact
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from memcore import MemoryRecord

    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial


@case("R-10a", claims=("records",))
async def the_answer_is_in_input_order(trial: Trial) -> None:
    """A call returns the records that it names in the order of its changes, each as it is after the call."""
    records = await trial.records()
    old, other = await records.keep(trial.write("old"), trial.write("other"))
    new = trial.write("new", supersedes=[old.id])
    answer = await records.write(Invalidation(id=other.id, reason="wrong"), new, Invalidation(id=new.id))
    expect.ids(answer, [other, new, new])
    for record in answer:
        expect.same_record(await records.get(record.id), record)
    expect.equal([record.invalid_at is None for record in answer], [False] * 3, what="which are valid")


@case("R-10b", claims=("records",))
async def no_changes_are_no_change(trial: Trial) -> None:
    """A call without changes returns an empty list."""
    records = await trial.records()
    (kept,) = await records.keep(trial.write())
    expect.equal(await records.write(), [])
    expect.ids(await records.find(), [kept])


@case("R-10c", claims=("records",))
async def a_call_is_carried_out_wholly_or_not_at_all(trial: Trial) -> None:
    """If one change cannot be carried out, none is: nothing is written, superseded or invalidated."""
    records = await trial.records()
    old, valid, known = await records.keep(trial.write("old"), trial.write("valid"), trial.write("known"))
    ended = await records.invalidate(old.id)
    bad = (
        trial.write("new", supersedes=[trial.id()]),
        trial.write("new", supersedes=[ended.id]),
        trial.write("new", id=known.id),
        Invalidation(id=trial.id()),
    )
    for change in bad:
        first = trial.write("first", supersedes=[valid.id])
        with expect.raises(MemoryNotFound, MemoryConflict):
            await records.write(first, Invalidation(id=known.id), change, trial.write("last"))
        expect.none(await records.get(first.id))
        for record in (ended, valid, known):
            expect.same_record(await records.get(record.id), record)
        await trial.show_index()
        expect.ids(await records.find(), [known, valid])
        expect.ids(await records.find("first last new"), [])


@case("R-10d", claims=("records",))
async def times_rise_within_a_call(trial: Trial) -> None:
    """Within a call times strictly rise, in input order; at birth `created_at` and `updated_at` are the same."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("old"))
    writes = [trial.write(f"tea {number}") for number in range(20)]
    answer = await records.write(*writes[:10], Invalidation(id=old.id), *writes[10:])
    times = [record.invalid_at if record.id == old.id else record.created_at for record in answer]
    rising = [before for before, after in pairwise(times) if before is None or after is None or before >= after]
    expect.equal(rising, [], what="times that are not before the next")
    apart = [record for record in answer if record.id != old.id and record.created_at != record.updated_at]
    expect.equal(apart, [], what="new records whose updated_at is another")


@case("R-10e", claims=("records",))
async def an_end_moves_updated_at(trial: Trial) -> None:
    """Superseding and invalidating move `updated_at` to the moment of the end; nothing else of a record changes."""
    records = await trial.records()
    first, second = await records.keep(trial.write(**FULL), trial.write(**FULL))
    (new,) = await records.write(trial.write("new", supersedes=[first.id]))
    superseded, invalidated = await records.known(first.id), await records.invalidate(second.id)
    for before, after in ((first, superseded), (second, invalidated)):
        expect.same_record(after, before, but=("updated_at", "invalid_at", "superseded_by"))
        expect.equal(after.updated_at, after.invalid_at, what="updated_at")
        expect.that(after.updated_at > before.updated_at, expected="a later time", got=after.updated_at)
    expect.equal(superseded.invalid_at, new.created_at, what="invalid_at")


@case("R-10f", claims=("records",))
async def a_batch_appears_at_once(trial: Trial) -> None:
    """While batches are written and ended at once, every search finds the whole of one or nothing of it."""
    records = await trial.records()
    batches = [[trial.write(f"tea {n}", tags=[str(n)]) for _ in range(5)] for n in range(6)]
    trial.step("six batches of five, written and invalidated at once, while somebody searches")
    work = asyncio.gather(*(_write_and_end(records, batch) for batch in batches))
    seen: list[dict[str, int]] = []
    while not work.done():
        tags = [tag for hit in await records.raw.search(RecordQuery(limit=100)) for tag in hit.record.tags]
        seen.append({tag: tags.count(tag) for tag in tags})
        await asyncio.sleep(0)
    await work
    parts = [sizes for sizes in seen if set(sizes.values()) - {5}]
    expect.equal(parts, [], what="searches that found a part of a batch")


@case("R-10g", claims=("records",))
async def what_cannot_be_exact_is_refused(trial: Trial) -> None:
    """A payload or target that would not come back exactly is refused with its place, and nothing is written."""
    records = await trial.records()
    first = trial.write("first")
    for name, value in inexact():
        for field, given in (("payload", value), ("payload", [{"a": value}]), ("target", {"a": value})):
            write = trial.write("bad").model_copy(update={field: given})
            with _refused(f"changes[1].{field}", what=name):
                await records.raw.write([first, write])
    for stranger in ("tea", None, {"content": "tea"}, trial.item()):
        with _refused("changes[1]", what=type(stranger).__name__):
            await records.raw.write([first, cast("Any", stranger)])
    expect.none(await records.get(first.id))


@case("R-10h", claims=("records",))
async def what_cannot_succeed_in_one_call_is_refused(trial: Trial) -> None:
    """A call that supersedes a record of its own, or one record twice, is refused, and nothing is written."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("old"))
    first, second = trial.write("first"), trial.write("second", supersedes=[old.id])
    calls = (
        (first, trial.write(supersedes=[first.id])),
        (trial.write(supersedes=[first.id]), first),
        (first.model_copy(update={"supersedes": (first.id,)}),),
        (second, trial.write(supersedes=[old.id])),
        (trial.write(supersedes=[old.id, old.id]),),
    )
    for changes in calls:
        with expect.raises(UnsupportedMemoryItem):
            await records.write(*changes)
    expect.same_record(await records.get(old.id), old)
    expect.ids(await records.find(), [old])


@case("R-10i", claims=("records", "transport"), needs=("faults",))
async def a_refusal_asks_nobody(trial: Trial) -> None:
    """What is refused is refused before transport: changes, queries, scopes and ids alike."""
    records = await trial.records()
    (old,) = await records.keep(trial.write())
    new = trial.write("new")
    refused: tuple[Callable[[], Coroutine[Any, Any, object]], ...] = (
        lambda: records.write(trial.write().model_copy(update={"payload": {1, 2}})),
        lambda: records.write(new, trial.write(supersedes=[new.id])),
        lambda: records.write(trial.write(supersedes=[old.id]), trial.write(supersedes=[old.id])),
        lambda: records.find(limit=-1),
        lambda: records.find(after="no cursor"),
        lambda: records.delete_where({}),
        lambda: records.get(cast("Any", "no id")),
    )
    calls = trial.faults.calls()
    for call in refused:
        with expect.raises(UnsupportedMemoryItem, UnsupportedMemoryQuery):
            await call()
    expect.equal(await records.find(limit=0), [], what="the hits")
    expect.equal(trial.faults.calls(), calls, what="how often the transport was called")


@case("R-10j", claims=("records",))
async def sizes_are_limited(trial: Trial) -> None:
    """What is over a limit is refused with its place; what is just at the limit is kept."""
    records = await trial.records(limits=LIMITS)
    await records.keep(
        trial.write("t" * 18, tags=["ttttt", "t"], scope={"user": "ttttt"}, payload="t" * 18, supports=[Provenance()])
    )
    over: dict[str, dict[str, Any]] = {
        "content": {"content": "t" * 19},
        "context": {"context": "t" * 19},
        "payload": {"payload": "t" * 19},
        "target": {"target": {"a": "t" * 19}},
        "tags": {"tags": ["a", "b", "c"]},
        "tags[1]": {"tags": ["a", "tttttt"]},
        "scope": {"scope": {"user": "tttttt"}},
        "supports": {"supports": [Provenance()] * 3},
    }
    for path, fields in over.items():
        with _refused(f"changes[0].{path}"):
            await records.write(trial.write(**fields))
    with expect.raises(UnsupportedMemoryItem, where=lambda error: error.field == "changes", what="of changes"):
        await records.write(*[trial.write()] * 4)


@case("R-11a", claims=("records",))
async def the_same_write_again_is_the_same_record(trial: Trial) -> None:
    """A write that is made again returns the stored record: no second one, no other time."""
    records = await trial.records()
    given = trial.write(**FULL)
    (record,) = await records.keep(given)
    for again in (given, MemoryWrite.model_validate_json(given.model_dump_json())):
        (answer,) = await records.write(again)
        expect.same_record(answer, record)
    expect.ids(await records.find(include_invalidated=True, kinds=[given.kind]), [record])


@case("R-11b", claims=("records",))
async def it_is_the_same_whatever_became_of_it(trial: Trial) -> None:
    """A write that is made again after its record ended returns the record as it is now, and revives nothing."""
    records = await trial.records()
    first, second = trial.write("first"), trial.write("second")
    await records.keep(first, second)
    await records.write(trial.write("new", supersedes=[first.id]))
    ended = [await records.known(first.id), await records.invalidate(second.id, "wrong")]
    for answer, record in zip(await records.write(first, second), ended, strict=True):
        expect.same_record(answer, record)
        expect.same_record(await records.get(record.id), record)


@case("R-11c", claims=("records",))
async def a_retry_does_not_conflict_with_itself(trial: Trial) -> None:
    """A write that supersedes, made again, conflicts neither with what it has superseded nor with its own successor."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("old"))
    write = trial.write("new", supersedes=[old.id])
    (new,) = await records.write(write)
    expect.same_record((await records.write(write))[0], new)
    (last,) = await records.write(trial.write("last", supersedes=[new.id]))
    (answer,) = await records.write(write)
    expect.equal(answer.superseded_by, last.id, what="superseded_by")
    expect.ids(await records.find(), [last])


@case("R-11d", claims=("records",))
async def another_write_of_the_id_is_a_conflict(trial: Trial) -> None:
    """A write whose id is stored with anything else in the caller's part is a conflict that holds what is stored."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("old"))
    given = MemoryWrite(**{"id": trial.id(), **FULL, "payload": 1})
    (record,) = await records.keep(given)
    changed: dict[str, Any] = {
        "scope": {"user": "ada"},
        "kind": "fact",
        "content": "Ada prefers green tea.",
        "tags": ["Drinks", "drinks"],
        "provenance": Provenance(conversation_id="c1", run_id="r1"),
        "expires_at": cast("Any", given.expires_at) + timedelta(microseconds=1),
        "target": None,
        "payload": 1.0,
        "supports": [],
        "context": None,
        "tier": "permanent",
        "supersedes": [old.id],
    }
    for field, value in changed.items():
        other = MemoryWrite(**{**dict(given), field: value})
        with expect.raises(MemoryConflict, where=_holds(record), what=f"over {field}, with the stored record"):
            await records.write(other)
    expect.same_record(await records.get(record.id), record)
    expect.same_record(await records.get(old.id), old)


@case("R-11e", claims=("records",))
async def one_write_twice_in_a_call_is_one(trial: Trial) -> None:
    """The same write twice in a call is one record, told twice; another one of its id is a conflict."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("old"))
    write = trial.write("new", supersedes=[old.id])
    first, second = await records.write(write, write)
    expect.same_record(second, first)
    expect.ids(await records.find(), [first])
    other = trial.write("one")
    with expect.raises(MemoryConflict):
        await records.write(other, other.model_copy(update={"content": "another"}))
    expect.none(await records.get(other.id))


@case("R-11f", claims=("records",))
async def one_write_many_times_at_once_is_one(trial: Trial) -> None:
    """The same write made many times at once is one record, which every call returns."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("old"))
    write = trial.write("new", supersedes=[old.id])
    first, *others = await asyncio.gather(*(records.write(write) for _ in range(8)))
    for other in others:
        expect.same_record(other[0], first[0])
    await trial.show_index()
    expect.ids(await records.find(include_invalidated=True), [write, old])


@case("R-11g", claims=("records",))
async def the_order_of_what_is_superseded_is_free(trial: Trial) -> None:
    """A merge that is written again with its predecessors in another order is the same write."""
    records = await trial.records()
    old = await records.keep(trial.write("one"), trial.write("two"))
    write = trial.write("both", supersedes=[record.id for record in old])
    (new,) = await records.write(write)
    (again,) = await records.write(write.model_copy(update={"supersedes": write.supersedes[::-1]}))
    expect.same_record(again, new)


async def _write_and_end(records: Records, batch: list[MemoryWrite]) -> None:
    await records.raw.write(batch)
    await asyncio.sleep(0)
    await records.raw.write([Invalidation(id=write.id) for write in batch])


def _refused(path: str, *, what: str = "") -> expect.Raised[UnsupportedMemoryItem]:
    """Expect a refusal of the place `path`, or of one inside it."""
    told = f"at {path}" + (f", for {what}" if what else "")
    return expect.raises(UnsupportedMemoryItem, where=lambda error: error.path.startswith(path), what=told)


def _holds(record: MemoryRecord) -> Callable[[MemoryConflict], bool]:
    return lambda error: error.current == record
