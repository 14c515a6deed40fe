"""What became of records: their history, and going through all of them (R-20)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from memcore import UnsupportedMemoryQuery

from memcore_conformance import expect
from memcore_conformance.cases.scanning import EDGES
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial


@case("R-20a", claims=("records", "history"))
async def a_chain_is_told_from_any_of_its_records(trial: Trial) -> None:
    """The history of any record of a chain is the whole chain, oldest first, each record as `get` gives it."""
    records = await trial.records()
    chain = await records.chain("a", "b", "c", "d")
    await records.keep(trial.write("other"))
    for record in chain:
        found = await records.history(record.id)
        expect.ids(found, chain)
        for got, wanted in zip(found, chain, strict=True):
            expect.same_record(got, wanted)


@case("R-20b", claims=("records", "history"))
async def a_merge_joins_histories(trial: Trial) -> None:
    """What a merge superseded, and what that had superseded, is one history, told from any of it."""
    records = await trial.records()
    one, two = await records.chain("a", "b"), await records.chain("c", "d")
    (other,) = await records.keep(trial.write("other"))
    (merged,) = await records.keep(trial.write("e", supersedes=[one[-1].id, two[-1].id, other.id]))
    (last,) = await records.keep(trial.write("f", supersedes=[merged.id]))
    wanted = sorted([*one, *two, other, merged, last], key=lambda record: (record.created_at, record.id))
    for record in wanted:
        expect.ids(await records.history(record.id), wanted)


@case("R-20c", claims=("records", "history"))
async def histories_are_apart(trial: Trial) -> None:
    """A record that nothing superseded, ended or not, has a history of itself; the unknown has none."""
    records = await trial.records()
    first, second = await records.keep(trial.write("tea"), trial.write("tea"))
    ended = await records.invalidate(second.id, "wrong")
    for record in (first, ended):
        (found,) = await records.history(record.id)
        expect.same_record(found, record)
    expect.equal(await records.history(trial.id()), [], what="the history of an unknown record")


@case("R-20d", claims=("records", "history"))
async def a_history_closes_over_what_was_deleted(trial: Trial) -> None:
    """A deleted record is in no history, and what stood around it is still linked; a deleted head leaves the rest."""
    records = await trial.records()
    first, second, third, last = await records.chain("a", "b", "c", "d")
    await records.delete(second.id)
    for record in (first, third, last):
        expect.ids(await records.history(record.id), [first, third, last])
    expect.equal(await records.history(second.id), [], what="the history of a deleted record")
    await records.delete(last.id)
    expect.ids(await records.history(first.id), [first, third])
    await records.delete(third.id)
    expect.ids(await records.history(first.id), [first])


@case("R-20e", claims=("records", "history"), needs=("clock",))
async def what_has_expired_is_in_no_history(trial: Trial) -> None:
    """What has expired is in no history, no scan and no count; what stood around it is linked."""
    records = await trial.records()
    (first,) = await records.keep(trial.write("a"))
    expires_at = first.created_at + timedelta(seconds=10)
    (second,) = await records.keep(trial.write("b", supersedes=[first.id], expires_at=expires_at))
    (third,) = await records.keep(trial.write("c", supersedes=[second.id]))
    expect.equal(await records.count(), 3, what="how many records there are")
    trial.advance(10.0)
    for record in (first, third):
        expect.ids(await records.history(record.id), [first, third])
    expect.equal(await records.history(second.id), [], what="the history of an expired record")
    expect.ids(await records.scan_all(limit=1), [first, third], ordered=False)
    expect.equal(await records.count(), 2, what="how many records there are")


@case("R-20f", claims=("records", "history"))
async def a_scan_gives_every_record_once(trial: Trial) -> None:
    """A scan gives each record once, whatever its kind, scope or status, in order of id, as `get` gives it."""
    records = await trial.records()
    kept = await records.chain("a", "b")
    kept += await records.keep(trial.write("tea", kind="state"), trial.write("tea", scope={"user": "bob"}))
    kept.append(await records.invalidate((await records.keep(trial.write("tea")))[0].id))
    wanted = sorted(kept, key=lambda record: record.id)
    for limit in (1, 2, 4, 5, 6, 2**63):
        found = await records.scan_all(limit=limit)
        expect.ids(found, wanted)
        for got, record in zip(found, wanted, strict=True):
            expect.same_record(got, record)
    expect.equal(await records.count(), len(wanted), what="how many records there are")


@case("R-20g", claims=("records", "history"))
async def the_order_of_a_scan_has_no_sign(trial: Trial) -> None:
    """Ids are ordered as the numbers that they are, from the lowest to the greatest."""
    records = await trial.records()
    given = [trial.write("tea", id=UUID(int=number)) for number in EDGES]
    await records.keep(*reversed(given))
    for limit in (1, 2, len(given)):
        expect.ids(await records.scan_all(limit=limit), given)


@case("R-20h", claims=("records", "history"))
async def a_scan_amid_writes_misses_and_repeats_nothing(trial: Trial) -> None:
    """While others write, end and delete, a scan gives each record that stays exactly once, in order of id."""
    records = await trial.records()
    given = [trial.write("tea", id=UUID(int=100 * number)) for number in range(1, 13)]
    await records.keep(*given)
    found: list[UUID] = []
    after: str | None = None
    for turn in range(50):
        page = await records.scan(after=after, limit=2)
        found += [record.id for record in page.records]
        after = page.next
        if after is None:
            break
        at = found[-1].int
        await records.write(trial.write("new", id=UUID(int=at - 1)), trial.write("new", id=UUID(int=at + 50 + turn)))
        await records.delete(UUID(int=at - 100))
        if turn == 1:
            await records.invalidate(given[6].id)
            await records.delete(given[8].id)
    expect.equal(found, sorted(set(found)), what="the ids in the order of the pages")
    stayed = [write.id for write in given if write is not given[8]]
    expect.equal([record_id for record_id in found if record_id.int % 100 == 0], stayed, what="the ids of what stayed")


@case("R-20i", claims=("records", "history"))
async def cursors_and_limits_of_a_scan_are_checked(trial: Trial) -> None:
    """A cursor that was cut, changed, made up, or of another namespace is refused, and so is a limit below 1."""
    records = await trial.records()
    await records.keep(*(trial.write() for _ in range(3)))
    cursor = (await records.scan(limit=1)).next or ""
    expect.that(cursor, expected="a cursor", got=cursor)
    changed = ("A" if cursor[0] != "A" else "B") + cursor[1:]
    for after in ("", " ", changed, cursor[:-2], cursor + cursor, str(trial.id()), "é", "' OR 1=1 --"):
        with _refused("after"):
            await records.scan(after=after)
    for limit in (0, -1, -(2**70)):
        with _refused("limit"):
            await records.scan(after=cursor, limit=limit)
    other = await trial.records(namespace="other")
    with _refused("after"):
        await other.scan(after=cursor)


@case("R-20j", claims=("records", "history"))
async def the_count_follows_every_change(trial: Trial) -> None:
    """`count` is the number of records, valid or not: a new one counts, an end or a retry does not, a deletion does."""
    records = await trial.records()
    await _expect_count(records, 0)
    write = trial.write()
    (first,) = await records.keep(write)
    await records.write(write)
    await _expect_count(records, 1)
    (second, _) = await records.keep(trial.write(supersedes=[first.id]), trial.write())
    await records.invalidate(second.id)
    await _expect_count(records, 3)
    await records.delete(first.id)
    await records.delete(first.id)
    await _expect_count(records, 2)
    await records.delete_where({"user": "ada"})
    await _expect_count(records, 0)
    page = await records.scan()
    expect.equal(page.records, [], what="the records of an empty store")
    expect.none(page.next, what="the cursor of an empty store")


async def _expect_count(records: Records, wanted: int) -> None:
    expect.equal(await records.count(), wanted, what="how many records there are")


def _refused(key: str) -> expect.Raised[UnsupportedMemoryQuery]:
    return expect.raises(UnsupportedMemoryQuery, where=_rejects(key), what=f"of {key}")


def _rejects(key: str) -> Callable[[UnsupportedMemoryQuery], bool]:
    return lambda error: error.rejected_keys == (key,)
