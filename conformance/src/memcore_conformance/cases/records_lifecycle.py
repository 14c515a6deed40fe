"""Use and decay: tiers rise with use, and a sweep archives what lies idle (R-21)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from memcore import MemoryConflict, MemoryNotFound, SweepPolicy, UnsupportedMemoryQuery
from memcore.records.model import TIERS

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from memcore import MemoryRecord
    from memcore.records.model import Tier

    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial

DAY: Final = 86_400.0
_TICK: Final = 0.000001
_SHORT: Final[Tier] = "short"
_LONG: Final[Tier] = "long"
_ALL_TIERS: Final[tuple[Tier | None, ...]] = (*TIERS, None)
_UPKEEP: Final = ("hits", "last_hit_at", "refreshed_at", "tier")
"""What use changes of a record; nothing else of it does."""


@case("R-21a", claims=("records", "lifecycle"))
async def a_tier_rises_at_its_threshold(trial: Trial) -> None:
    """At the second use a short record becomes long, at the fifth a long one permanent; nothing rises otherwise."""
    records = await trial.records()
    kept = dict(zip(_ALL_TIERS, await _of_tiers(trial, records, *_ALL_TIERS), strict=True))
    wanted: dict[Tier | None, tuple[Tier | None, ...]] = {
        "short": ("short", "long", "long", "long", "permanent", "permanent"),
        "long": ("long", "long", "long", "long", "permanent", "permanent"),
        "permanent": ("permanent",) * 6,
        None: (None,) * 6,
    }
    for turn in range(6):
        for tier, record in kept.items():
            expect.equal(await records.touch(record.id), 1, what="how many were touched")
            touched = await records.known(record.id)
            expect.equal((touched.hits, touched.tier), (turn + 1, wanted[tier][turn]), what="hits and tier")
            expect.same_record(touched, record, but=_UPKEEP)


@case("R-21b", claims=("records", "lifecycle"))
async def an_id_counts_once_in_a_call(trial: Trial) -> None:
    """A call counts one use of each record, however often it is named; the unknown is passed over."""
    records = await trial.records()
    first, second, other = await records.keep(*(trial.write(tier="short") for _ in range(3)))
    ended = await records.invalidate(second.id)
    answer = await records.touch(first.id, ended.id, trial.id(), first.id)
    expect.equal(answer, 2, what="how many were touched")
    expect.equal([(await records.known(one.id)).hits for one in (first, ended, other)], [1, 1, 0], what="hits")
    expect.same_record(await records.get(ended.id), ended, but=_UPKEEP)
    expect.equal(await records.touch(), 0, what="how many were touched")


@case("R-21c", claims=("records", "lifecycle"), needs=("clock",))
async def a_use_is_timed_and_never_goes_back(trial: Trial) -> None:
    """`last_hit_at` is the time of the last use, and does not go back where the clock does; no search is a use."""
    records = await trial.records()
    (record,) = await records.keep(trial.write(tier="short"))
    await records.find("tea")
    expect.none((await records.known(record.id)).last_hit_at, what="last_hit_at after a search")
    trial.advance(60.0)
    for back in (0.0, -30.0):
        trial.advance(back)
        await records.touch(record.id)
        found = await records.known(record.id)
        expect.equal(found.last_hit_at, record.created_at + timedelta(seconds=60), what="last_hit_at")
        expect.equal(found.updated_at, record.updated_at, what="updated_at")


@case("R-21d", claims=("records", "lifecycle"))
async def a_refresh_only_raises(trial: Trial) -> None:
    """`refresh` raises a tier and never lowers it, gives none to a record without, and counts nothing."""
    records = await trial.records()
    for tier in _ALL_TIERS:
        for asked in _ALL_TIERS:
            (record,) = await records.keep(trial.write(tier=tier))
            refreshed = await records.refresh(record.id, asked)
            wanted = None if tier is None else max(tier, asked or tier, key=TIERS.index)
            expect.equal(refreshed.tier, wanted, what=f"the tier of a {tier} record that is refreshed to {asked}")
            expect.same_record(refreshed, record, but=("tier", "refreshed_at"))
            expect.that(refreshed.refreshed_at, expected="a time of the refresh", got=refreshed.refreshed_at)
            expect.same_record(await records.get(record.id), refreshed)


@case("R-21e", claims=("records", "lifecycle"))
async def only_what_is_valid_can_be_refreshed(trial: Trial) -> None:
    """Refreshing the unknown is a `MemoryNotFound`, what has ended a conflict with the valid head."""
    records = await trial.records()
    old, new = await records.chain("old", "new", tier="short")
    with expect.raises(MemoryNotFound):
        await records.refresh(trial.id(), "long")
    with expect.raises(MemoryConflict, where=lambda error: error.current == new, what="with the valid head"):
        await records.refresh(old.id, "long")
    with expect.raises(UnsupportedMemoryQuery):
        await records.refresh(new.id, cast("Any", "eternal"))
    expect.same_record(await records.get(old.id), old)
    await records.invalidate(new.id)
    with expect.raises(MemoryConflict, where=lambda error: error.current is None, what="without a head"):
        await records.refresh(new.id)


@case("R-21f", claims=("records", "lifecycle"), needs=("clock",))
async def the_expired_is_neither_used_nor_refreshed(trial: Trial) -> None:
    """What has expired counts as unknown to `touch` and `refresh`."""
    records = await trial.records()
    (valid,) = await records.keep(trial.write())
    (record,) = await records.keep(trial.write(tier="short", expires_at=valid.created_at + timedelta(seconds=10)))
    trial.advance(10.0)
    expect.equal(await records.touch(record.id, valid.id), 1, what="how many were touched")
    with expect.raises(MemoryNotFound):
        await records.refresh(record.id)


@case("R-21g", claims=("records", "lifecycle"), needs=("clock",))
async def a_sweep_archives_at_the_very_moment(trial: Trial) -> None:
    """A short record is archived when it has lain idle for 7 days, a long one for 30; not a microsecond before."""
    records = await trial.records()
    short, long = await _of_tiers(trial, records, "short", "long")
    for record, days in ((short, 7), (long, 23)):
        trial.advance(days * DAY - _TICK)
        await _expect_sweep(records, erased=0, archived=0)
        trial.advance(_TICK)
        await _expect_sweep(records, erased=0, archived=1)
        ended = await records.known(record.id)
        expect.same_record(ended, record, but=("invalid_at", "invalid_reason", "updated_at"))
        expect.equal((ended.invalid_reason, ended.invalidated_by), ("idle", None), what="reason and actor")
        expect.equal(ended.invalid_at, ended.updated_at, what="invalid_at")
        expect.lacks(await records.find(), record)
        await _expect_sweep(records, erased=0, archived=0)


@case("R-21h", claims=("records", "lifecycle"), needs=("clock",))
async def what_does_not_decay_is_never_touched(trial: Trial) -> None:
    """Permanent records, those without a tier, and what has ended already stay as they are, however long they lie."""
    records = await trial.records()
    permanent, plain, old, other = await _of_tiers(trial, records, "permanent", None, "short", "long")
    (new,) = await records.keep(trial.write("new", supersedes=[old.id]))
    await records.invalidate(other.id, "wrong", "ada")
    before = [await records.known(record.id) for record in (permanent, plain, old, other, new)]
    trial.advance(3_650 * DAY)
    await _expect_sweep(records, erased=0, archived=0)
    for record in before:
        expect.same_record(await records.get(record.id), record)


@case("R-21i", claims=("records", "lifecycle"), needs=("clock",))
async def use_and_refresh_reset_the_idle_clock(trial: Trial) -> None:
    """Idle time runs from the latest of birth, last use and last refresh, and is not reset by a search."""
    records = await trial.records()
    used, refreshed, found = await _of_tiers(trial, records, "short", "short", "short")
    trial.advance(6 * DAY)
    await records.touch(used.id)
    await records.refresh(refreshed.id)
    await records.find("tea")
    await records.get(found.id)
    trial.advance(DAY)
    await _expect_sweep(records, erased=0, archived=1)
    expect.ids(await records.find(), [used, refreshed], ordered=False)
    trial.advance(6 * DAY - _TICK)
    await _expect_sweep(records, erased=0, archived=0)
    trial.advance(_TICK)
    await _expect_sweep(records, erased=0, archived=2)


@case("R-21j", claims=("records", "lifecycle"), needs=("clock",))
async def a_policy_says_how_long_and_how_many(trial: Trial) -> None:
    """A policy sets the idle times; however small its batches are, one sweep takes all."""
    records = await trial.records()
    await _of_tiers(trial, records, *[_SHORT] * 7, *[_LONG] * 5)
    trial.advance(60.0)
    hour = timedelta(hours=1)
    await _expect_sweep(records, SweepPolicy(short_idle=hour, long_idle=hour), erased=0, archived=0)
    minute = timedelta(minutes=1)
    await _expect_sweep(records, SweepPolicy(short_idle=minute, long_idle=hour, batch=2), erased=0, archived=7)
    await _expect_sweep(records, SweepPolicy(short_idle=minute, long_idle=minute, batch=3), erased=0, archived=5)
    expect.ids(await records.find(), [])


@case("R-21k", claims=("records", "lifecycle"), needs=("clock",))
async def a_sweep_changes_no_answer(trial: Trial) -> None:
    """A sweep that erases what has expired changes the answer of no read: all of it was found by nothing before."""
    records = await trial.records()
    (first,) = await records.keep(trial.write("tea 0", tags=["t"]))
    expires_at = first.created_at + timedelta(seconds=10)
    ids = [first.id]
    for number, expiry in enumerate((None, expires_at, expires_at, None, expires_at), start=1):
        fields: dict[str, Any] = {"tags": ["t"], "expires_at": expiry, "supersedes": ids[-1:]}
        ids.append((await records.keep(trial.write(f"tea {number}", **fields)))[0].id)
    single = trial.write("tea", expires_at=expires_at)
    await records.keep(single, trial.write("tea", expires_at=expires_at + timedelta(microseconds=1)))
    trial.advance(10.0)
    moments = [first.created_at + timedelta(seconds=seconds) for seconds in (0, 5, 20)]
    before = await _all_answers(trial, records, [*ids, single.id], moments)
    await _expect_sweep(records, SweepPolicy(batch=2), erased=4, archived=0)
    after = await _all_answers(trial, records, [*ids, single.id], moments)
    for (read, was), (_, now) in zip(before, after, strict=True):
        expect.equal(now, was, what=read)


@case("R-21l", claims=("records", "lifecycle"), needs=("clock",))
async def sweeps_at_once_share_the_work(trial: Trial) -> None:
    """Sweeps that run at once take each record once, and nothing is lost to either."""
    records = await trial.records()
    kept = await _of_tiers(trial, records, *[_SHORT] * 9)
    expires_at = kept[0].created_at + timedelta(days=1)
    await records.keep(*(trial.write("tea", expires_at=expires_at) for _ in range(5)), trial.write("new"))
    trial.advance(7 * DAY)
    reports = await asyncio.gather(*(records.sweep(SweepPolicy(batch=2)) for _ in range(3)))
    taken = sum(report.archived for report in reports), sum(report.erased for report in reports)
    expect.equal(taken, (9, 5), what="how many were archived and erased in all")
    expect.equal(len(await records.find()), 1, what="how many are valid")


async def _of_tiers(trial: Trial, records: Records, *tiers: Tier | None) -> list[MemoryRecord]:
    return [(await records.keep(trial.write("tea", tier=tier)))[0] for tier in tiers]


async def _expect_sweep(records: Records, policy: SweepPolicy | None = None, *, erased: int, archived: int) -> None:
    report = await records.sweep(policy)
    expect.equal((report.erased, report.archived), (erased, archived), what="how many were erased, and archived")


async def _all_answers(
    trial: Trial, records: Records, ids: list[UUID], moments: list[datetime]
) -> list[tuple[str, object]]:
    """Return what every read answers, each with its name."""
    answers: list[tuple[str, object]] = [(f"get({record_id})", await records.get(record_id)) for record_id in ids]
    for text in (None, "tea"):
        for include_invalidated in (False, True):
            for moment in (None, *moments):
                found = await records.find(text, include_invalidated=include_invalidated, as_of=moment, tags=["t"])
                answers.append((f"search({text}, as_of={moment}, include_invalidated={include_invalidated})", found))
    if "history" in trial.claims.names:
        answers += [(f"history({record_id})", await records.history(record_id)) for record_id in ids]
        answers += [("scan()", await records.scan_all()), ("count()", await records.count())]
    return answers
