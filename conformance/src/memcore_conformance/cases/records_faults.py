"""When the service fails, or a call is cancelled, amid work on records (I-70, I-71)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memcore import Invalidation, MalformedMemoryPayload, MemoryAdapterError, MemoryAdapterUnavailable

from memcore_conformance import expect
from memcore_conformance.cases.cancellation import each_await
from memcore_conformance.cases.faults import TRANSIENT, fail_next, has_cause, is_just, known_faults
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from memcore import MemoryRecord, MemoryWrite

    from memcore_conformance.harness import Fault
    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial

    Call = Callable[[], Coroutine[Any, Any, object]]


@case("I-70ra", claims=("records", "transport"))
async def an_outage_is_told_by_every_call_on_records(trial: Trial) -> None:
    """While the transport is down every call raises `MemoryAdapterUnavailable`, with its cause; afterwards all work."""
    records = await trial.records()
    record, spare = await records.keep(trial.write(), trial.write())
    async with trial.outage():
        for name, call in _calls(trial, records, record, spare).items():
            with expect.raises(MemoryAdapterUnavailable, where=has_cause, what=f"by {name}(), with a cause"):
                await call()
    expect.same_record(await records.get(record.id), record, but=("refreshed_at",))
    for call in _calls(trial, records, record, spare).values():
        await call()


@case("I-70rb", claims=("records", "transport"), needs=("faults",))
async def every_call_on_records_tells_the_kind_of_a_fault(trial: Trial) -> None:
    """At every call a malformed answer and refused credentials are told as what they are, not as an outage."""
    records = await trial.records()
    record, spare = await records.keep(trial.write(), trial.write())
    kinds: dict[Fault, type[MemoryAdapterError]] = {"malformed": MalformedMemoryPayload, "denied": MemoryAdapterError}
    for fault in known_faults(trial, *kinds):
        for name, call in _calls(trial, records, record, spare).items():
            fail_next(trial, fault)
            with expect.raises(kinds[fault], where=is_just(kinds[fault]), what=f"by {name}(), and no other"):
                await call()


@case("I-70rc", claims=("records", "transport"), needs=("faults",))
async def a_write_may_be_tried_again_after_a_fault(trial: Trial) -> None:
    """A write of unknown outcome is made good by making it again: one record, one end, nothing twice."""
    records = await trial.records()
    for fault in known_faults(trial, *TRANSIENT):
        (old,) = await records.keep(trial.write("old"))
        write = trial.write("new", supersedes=[old.id])
        fail_next(trial, fault)
        (record,) = await _tried_again(records, write)
        expect.equal((await records.known(old.id)).superseded_by, write.id, what="the successor")
        expect.same_record(await records.get(write.id), record)
        expect.same_record((await records.write(write))[0], record)
        expect.ids(await records.find("new old", include_invalidated=True), [write, old], ordered=False)
        await records.delete_where({"user": "ada"})


@case("I-70rd", claims=("records", "transport"), needs=("faults",))
async def a_failed_call_is_carried_out_wholly_or_not(trial: Trial) -> None:
    """After a call that failed, all of its changes are there or none, and the next call of this client comes after."""
    records = await trial.records()
    for fault in known_faults(trial, *TRANSIENT):
        old, other = await records.keep(trial.write("old"), trial.write("other"))
        new = trial.write("new", supersedes=[old.id])
        fail_next(trial, fault)
        try:
            await records.write(new, Invalidation(id=other.id))
        except MemoryAdapterUnavailable as error:
            expect.that(error.__cause__, expected="the cause of the failure", got=error)
        await records.keep(trial.write("next"))
        await _expect_all_or_nothing(records, new, [old, other])
        await records.delete_where({"user": "ada"})


@case("I-70re", claims=("records", "transport"), needs=("raw",))
async def a_damaged_record_is_told(trial: Trial) -> None:
    """A stored record that was cut short is a `MalformedMemoryPayload` to every read, never a miss."""
    records = await trial.records()
    damaged, sound = await records.keep(trial.write("damaged tea"), trial.write("sound milk"))
    await trial.harness_does("truncate(…)", trial.raw.truncate(damaged.id))
    reads: list[Call] = [lambda: records.get(damaged.id), records.find, lambda: records.find("tea")]
    if "history" in trial.claims.names:
        reads += [lambda: records.history(damaged.id), records.scan]
    for read in reads:
        with expect.raises(MalformedMemoryPayload):
            await read()
    expect.same_record(await records.get(sound.id), sound)


@case("I-71ra", claims=("records",))
async def a_write_of_records_may_be_cancelled_at_every_await(trial: Trial) -> None:
    """A call of `write` that is cancelled at any of its awaits is carried out wholly or not at all."""
    records = await trial.records()
    old: list[MemoryRecord] = []
    changes: list[MemoryWrite | Invalidation] = []

    async def begin() -> MemoryWrite:
        old[:] = await records.keep(trial.write("old"), trial.write("other"))
        new = trial.write("new", supersedes=[old[0].id])
        changes[:] = new, Invalidation(id=old[1].id)
        return new

    new = await begin()
    async for _ in each_await(trial, lambda: records.write(*changes)):
        await records.write(trial.write("next"))  # ordered after what was cancelled: from here on its outcome stands
        await _expect_all_or_nothing(records, new, old)
        await records.delete_where({"user": "ada"})
        new = await begin()


@case("I-71rb", claims=("records",))
async def a_read_of_records_may_be_cancelled_at_every_await(trial: Trial) -> None:
    """A reading call that is cancelled at any of its awaits leaves the store as usable as it was."""
    records = await trial.records()
    (record,) = await records.keep(trial.write())
    for read in (partial(records.get, record.id), partial(records.find, "tea"), records.find):
        async for _ in each_await(trial, read):
            expect.same_record(await records.get(record.id), record)
            expect.ids(await records.find("tea"), [record])
            await records.write(trial.write("other", kind="state"))


@case("I-71rc", claims=("records",))
async def a_deletion_of_records_may_be_cancelled_at_every_await(trial: Trial) -> None:
    """`delete_where` that is cancelled at any of its awaits has erased everything or nothing."""
    records = await trial.records()
    writes = [trial.write(f"tea {number}") for number in range(3)]
    await records.keep(*writes)
    async for _ in each_await(trial, lambda: records.delete_where({"user": "ada"})):
        await records.write(trial.write("next", scope={"user": "bob"}))
        there = [write.id for write in writes if await records.get(write.id)]
        expect.that(len(there) in {0, 3}, expected="all of the records, or none", got=f"{len(there)} of 3")
        expect.ids(await records.find(scope={"user": "ada"}), there, ordered=False)
        await records.write(*writes)


async def _tried_again(records: Records, write: MemoryWrite) -> list[MemoryRecord]:
    try:
        return await records.write(write)
    except MemoryAdapterUnavailable as error:
        expect.that(error.__cause__, expected="the cause of the failure", got=error)
        return await records.write(write)


async def _expect_all_or_nothing(records: Records, new: MemoryWrite, ended: list[MemoryRecord]) -> None:
    is_there = await records.get(new.id) is not None
    for record in ended:
        found = await records.known(record.id)
        expect.equal(found.invalid_at is not None, is_there, what="whether each old record has ended")
    found_now = await records.find("old other new")
    expect.ids(found_now, [new.id] if is_there else [record.id for record in ended], ordered=False)


def _calls(trial: Trial, records: Records, record: MemoryRecord, spare: MemoryRecord) -> dict[str, Call]:
    """Return one call of everything that the store can do; the spare record is ended, the other one stays."""
    calls: dict[str, Call] = {
        "write": lambda: records.write(trial.write("other", scope={"user": "bob"})),
        "get": lambda: records.get(record.id),
        "search": lambda: records.find("tea"),
        "a listing": records.find,
        "invalidate": lambda: records.invalidate(spare.id),
        "delete": lambda: records.delete(trial.id()),
        "delete_where": lambda: records.delete_where({"user": "nobody"}),
    }
    if "history" in trial.claims.names:
        calls |= {"history": lambda: records.history(record.id), "scan": records.scan, "count": records.count}
    if "lifecycle" in trial.claims.names:
        calls |= {"touch": lambda: records.touch(trial.id()), "sweep": records.sweep}
        calls["refresh"] = lambda: records.refresh(record.id)
    if "transfer" in trial.claims.names:
        calls["restore"] = lambda: records.restore(record)
    return calls
