"""Time: what was valid when, what has expired, and a clock that never runs back within a chain (R-15, R-16, R-18)."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memcore import MemoryRecord

    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial

TICK: Final = timedelta(microseconds=1)
_HOUR: Final = 3600.0


@case("R-16a", claims=("records",))
async def validity_is_half_open(trial: Trial) -> None:
    """At the moment of a change the new record is valid and the old one is not; a microsecond before it is so."""
    records = await trial.records()
    chain = await records.chain("first tea", "second tea", "third tea")
    first = chain[0]
    for text in (None, "tea"):
        expect.ids(await records.find(text, as_of=first.created_at - TICK), [])
        for record in chain:
            expect.ids(await records.find(text, as_of=record.created_at), [record])
            if record.invalid_at is not None:
                expect.ids(await records.find(text, as_of=record.invalid_at - TICK), [record])
        expect.ids(await records.find(text, as_of=chain[-1].created_at + timedelta(days=36_500)), [chain[-1]])


@case("R-16b", claims=("records",))
async def an_invalidated_record_was_valid_until_then(trial: Trial) -> None:
    """What was invalidated is found as of each moment until its end, and from that moment on no more."""
    records = await trial.records()
    (record,) = await records.keep(trial.write())
    end = (await records.invalidate(record.id)).invalid_at or record.created_at
    for moment, wanted in ((record.created_at, [record]), (end - TICK, [record]), (end, []), (end + TICK, [])):
        expect.ids(await records.find(as_of=moment), wanted)
        expect.ids(await records.find("tea", as_of=moment), wanted)


@case("R-16c", claims=("records",))
async def as_of_with_invalidated_is_what_was_known(trial: Trial) -> None:
    """With `include_invalidated`, `as_of` leaves out only what was not written yet; without both, what is valid now."""
    records = await trial.records()
    first, second, third = await records.chain("a", "b", "c")
    for record, wanted in ((first, [first]), (second, [second, first]), (third, [third, second, first])):
        expect.ids(await records.find(as_of=record.created_at, include_invalidated=True), wanted)
    expect.ids(await records.find(as_of=first.created_at - TICK, include_invalidated=True), [])
    expect.ids(await records.find(include_invalidated=True), [third, second, first])


@case("R-16d", claims=("records",), needs=("clock",))
async def the_very_moment_of_expiry_is_expired(trial: Trial) -> None:
    """A microsecond before its time a record is found by everything, at that moment by nothing, ended or not."""
    records = await trial.records()
    start = await _now(trial, records)
    expires_at = start + timedelta(seconds=10)
    valid, ended = await records.keep(*(trial.write("tea", expires_at=expires_at) for _ in range(2)))
    await records.invalidate(ended.id)
    trial.advance(9.999999)
    await _expect_found(records, start, [ended, valid])
    trial.advance(0.000001)
    await _expect_found(records, start, [])
    for record in (valid, ended):
        expect.none(await records.get(record.id))


@case("R-16e", claims=("records",), needs=("clock",))
async def a_moment_after_expiry_finds_nothing(trial: Trial) -> None:
    """As of a moment to come, what expires until then is not found; `status_at` says the same."""
    records = await trial.records()
    start = await _now(trial, records)
    (record,) = await records.keep(trial.write(expires_at=start + timedelta(seconds=10)))
    for moment, wanted in ((start + timedelta(seconds=10) - TICK, [record]), (start + timedelta(seconds=10), [])):
        expect.ids(await records.find("tea", as_of=moment), wanted)
        expect.ids(await records.find(as_of=moment, include_invalidated=True), wanted)
        expect.equal(record.status_at(moment), "valid" if wanted else "expired", what="its status")


@case("R-16f", claims=("records",), needs=("clock",))
async def an_expired_successor_is_passed_over(trial: Trial) -> None:
    """A link to what has expired leads on to the successor of that, or nowhere, as if it had been swept away."""
    records = await trial.records()
    expires_at = await _now(trial, records) + timedelta(seconds=10)
    ids = [trial.id() for _ in range(5)]
    await records.write(trial.write("a", id=ids[0]), trial.write("d", id=ids[3]))
    await records.write(trial.write("b", id=ids[1], supersedes=[ids[0]], expires_at=expires_at))
    await records.write(trial.write("c", id=ids[2], supersedes=[ids[1]]))
    await records.write(trial.write("e", id=ids[4], supersedes=[ids[3]], expires_at=expires_at))
    before = {record_id: await records.known(record_id) for record_id in (ids[0], ids[3])}
    trial.advance(10.0)
    for old, successor in ((ids[0], ids[2]), (ids[3], None)):
        expect.equal(before[old].superseded_by is not None, True, what="linked before")
        for found in (await records.known(old), *await records.find(before[old].content, include_invalidated=True)):
            expect.same_record(found, before[old].model_copy(update={"superseded_by": successor}))


@case("R-15a", claims=("records",))
async def get_gives_what_has_ended_too(trial: Trial) -> None:
    """`get` gives a record whether it is valid, superseded or invalidated; what is unknown is `None`."""
    records = await trial.records()
    old, new = await records.chain("old", "new")
    ended = await records.invalidate(new.id)
    for record in (old, ended):
        expect.same_record(await records.get(record.id), record)
    expect.none(await records.get(trial.id()))


@case("R-18a", claims=("records",), needs=("clock",))
async def a_chain_never_runs_back(trial: Trial) -> None:
    """Where a clock runs behind the one before, times still rise along a chain, and at each moment one is valid."""
    records = await trial.records()
    old: list[MemoryRecord] = []
    for number, seconds in enumerate((0.0, -_HOUR, _HOUR, -2 * _HOUR, 0.0)):
        trial.advance(seconds)
        old += await records.keep(trial.write(f"tea {number}", supersedes=[old[-1].id] if old else []))
    chain = [await records.known(record.id) for record in old]
    for before, after in pairwise(chain):
        expect.that(before.created_at < after.created_at, expected="a later time", got=after.created_at)
        expect.equal(before.invalid_at, after.created_at, what="invalid_at")
        expect.ids(await records.find(as_of=after.created_at - TICK), [before])
    for record in chain:
        expect.ids(await records.find(as_of=record.created_at), [record])
    expect.ids(await records.find(), chain[-1:])


@case("R-18b", claims=("records",), needs=("clock",))
async def an_end_is_never_before_the_beginning(trial: Trial) -> None:
    """Where the clock has run back, a record still ends after it began, and a merge begins after all that it ends."""
    records = await trial.records()
    first = (await records.keep(trial.write("first")))[0]
    trial.advance(_HOUR)
    second, third = await records.keep(trial.write("second"), trial.write("third"))
    trial.advance(-3 * _HOUR)
    ended = await records.invalidate(third.id)
    expect.that(ended.updated_at > third.created_at, expected="an end after the beginning", got=ended.updated_at)
    expect.equal(ended.invalid_at, ended.updated_at, what="invalid_at")
    (merged,) = await records.keep(trial.write("merged", supersedes=[first.id, second.id]))
    expect.that(merged.created_at > second.created_at, expected="after what it ends", got=merged.created_at)
    expect.ids(await records.find(), [merged])


@case("R-18c", claims=("records",), needs=("clock",))
async def time_follows_the_clock(trial: Trial) -> None:
    """What is written is timed by the clock of the store, and newest first is in its order."""
    records = await trial.records()
    (first,) = await records.keep(trial.write("first"))
    trial.advance(_HOUR)
    (second,) = await records.keep(trial.write("second"))
    expect.equal(second.created_at - first.created_at, timedelta(hours=1), what="the time between two writes")
    trial.advance(_HOUR)
    ended = await records.invalidate(first.id)
    expect.equal(ended.updated_at - first.created_at, timedelta(hours=2), what="the time until its end")


@case("R-18d", claims=("records",))
async def the_time_zone_changes_nothing(trial: Trial) -> None:
    """Under any time zone of the process the same records are found as of the same moments, with the same times."""
    records = await trial.records()
    with _time_zone("Asia/Kathmandu"):
        old, new = await records.chain("old tea", "new tea")
    for zone in ("UTC", "America/St_Johns", "Asia/Kathmandu"):
        with _time_zone(zone):
            expect.same_record(await records.get(old.id), old)
            expect.ids(await records.find("tea", as_of=new.created_at), [new])
            expect.ids(await records.find("tea", as_of=new.created_at - TICK), [old])
            (other,) = await records.keep(trial.write("other"))
            expect.that(abs(other.created_at - old.created_at) < timedelta(minutes=10), expected="now", got=other)


async def _now(trial: Trial, records: Records) -> datetime:
    """Return what the clock of the store tells, which stands still."""
    (record,) = await records.keep(trial.write("now", scope={"user": "clock"}))
    await records.delete(record.id)
    return record.created_at


async def _expect_found(records: Records, start: datetime, wanted: list[MemoryRecord]) -> None:
    """Expect these, by every search that could find them; the last of them is the one that is valid."""
    later = start + timedelta(seconds=5)
    for text in (None, "tea"):
        expect.ids(await records.find(text), wanted[-1:])
        for as_of in (None, later):
            found = await records.find(text, include_invalidated=True, as_of=as_of)
            expect.ids(found, wanted, ordered=text is None)
        expect.ids(await records.find(text, as_of=later), wanted[-1:])


@contextmanager
def _time_zone(name: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    try:
        _set_time_zone(name)
        yield
    finally:
        _set_time_zone(before)


def _set_time_zone(name: str | None) -> None:
    if name is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = name
    time.tzset()
