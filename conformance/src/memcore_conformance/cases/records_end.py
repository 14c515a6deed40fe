"""How records end: four ends that are four different things, and erasing, which leaves nothing (R-14, R-19)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from memcore import MemoryNotFound, UnsupportedMemoryQuery

from memcore_conformance import expect
from memcore_conformance.cases.isolation import ALIKE
from memcore_conformance.catalogue import case
from memcore_conformance.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore import Maintenance, MemoryRecord
    from memcore.records.model import Kind

    from memcore_conformance.trial import Trial

KINDS: Final[tuple[Kind, ...]] = ("fact", "preference", "episode", "profile", "observation", "state")
_WORD: Final = "zyxwvut"
"""A word that no analysis changes, and that stands nowhere by chance."""


@case("R-02g", claims=("records",), needs=("clock",))
async def four_ends_are_four_things(trial: Trial) -> None:
    """Superseded, invalidated, expired and deleted are told apart, by the record's status and by every read."""
    records = await trial.records()
    superseded, invalidated, deleted = await records.keep(*map(trial.write, ("one", "two", "three")))
    start = superseded.created_at
    (expiring,) = await records.keep(trial.write("four", expires_at=start + timedelta(seconds=10)))
    (new,) = await records.keep(trial.write("five", supersedes=[superseded.id]))
    await records.invalidate(invalidated.id)
    expect.equal(await records.delete(deleted.id), True)
    trial.advance(10.0)
    now = start + timedelta(seconds=10)
    statuses = [(await records.known(record.id)).status_at(now) for record in (superseded, invalidated, new)]
    expect.equal(statuses, ["superseded", "invalidated", "valid"], what="the statuses")
    expect.equal(expiring.status_at(now), "expired", what="the status of what has expired")
    for gone in (expiring, deleted):
        expect.none(await records.get(gone.id))
    expect.ids(await records.find(), [new])
    expect.ids(await records.find(include_invalidated=True), [new, invalidated, superseded], ordered=False)


@case("R-14a", claims=("records",))
async def a_deleted_record_is_found_by_nothing(trial: Trial) -> None:
    """A record that was deleted, valid or ended, is found by no search, no moment and no condition."""
    records = await trial.records()
    old, new = await records.chain("old tea", "new tea", tags=["t"])
    (other,) = await records.keep(trial.write("other tea"))
    for record in (new, old):
        expect.equal(await records.delete(record.id), True)
        expect.none(await records.get(record.id))
        await trial.show_index()
        for axes in ({}, {"include_invalidated": True}, {"as_of": new.created_at}, {"as_of": old.created_at}):
            for text in (None, "tea"):
                expect.lacks(await records.find(text, **cast("dict[str, Any]", axes)), record)
    expect.ids(await records.find(tags=["t"], include_invalidated=True), [])
    expect.ids(await records.find("old new", include_invalidated=True), [])
    expect.ids(await records.find("tea"), [other])


@case("R-14b", claims=("records",))
async def deleting_what_is_not_there_is_no_error(trial: Trial) -> None:
    """`delete` tells whether the record was there; of what is unknown or deleted it was not, and that is no error."""
    records = await trial.records()
    (record,) = await records.keep(trial.write())
    answers = [await records.delete(record_id) for record_id in (trial.id(), record.id, record.id)]
    expect.equal(answers, [False, True, False], what="whether they were there")


@case("R-14c", claims=("records",), needs=("clock",))
async def deleting_the_expired_was_not_there(trial: Trial) -> None:
    """What has expired is not there to be deleted, and does not count in `delete_where`."""
    records = await trial.records()
    (valid,) = await records.keep(trial.write())
    expires_at = valid.created_at + timedelta(seconds=10)
    (first, _) = await records.keep(*(trial.write(expires_at=expires_at) for _ in range(2)))
    trial.advance(10.0)
    expect.equal(await records.delete(first.id), False, what="whether the expired one was there")
    expect.equal(await records.delete_where({"user": "ada"}), 1, what="how many were there")


@case("R-14d", claims=("records",))
async def links_lead_past_what_was_deleted(trial: Trial) -> None:
    """What a deleted record had superseded leads to its successor; nothing else of it changes, and nothing revives."""
    records = await trial.records()
    first, second, third, last = await records.chain("a", "b", "c", "d")
    await records.delete(second.id)
    expect.same_record(await records.get(first.id), first.model_copy(update={"superseded_by": third.id}))
    await records.delete(third.id)
    expect.same_record(await records.get(first.id), first.model_copy(update={"superseded_by": last.id}))
    await records.delete(last.id)
    expect.same_record(await records.get(first.id), first.model_copy(update={"superseded_by": None}))
    expect.ids(await records.find(), [])
    expect.ids(await records.find(include_invalidated=True), [first])


@case("R-14e", claims=("records",))
async def deleting_a_merge_revives_none_of_its_parts(trial: Trial) -> None:
    """When a merge is deleted, what it had superseded stays ended, each without a successor."""
    records = await trial.records()
    parts = await records.keep(*map(trial.write, ("one", "two")))
    (merged,) = await records.keep(trial.write("both", supersedes=[part.id for part in parts]))
    ended = [await records.known(part.id) for part in parts]
    await records.delete(merged.id)
    for before in ended:
        expect.same_record(await records.get(before.id), before.model_copy(update={"superseded_by": None}))
    expect.ids(await records.find(), [])


@case("R-14f", claims=("records",))
async def a_deleted_id_is_new_again(trial: Trial) -> None:
    """A record of an id that was deleted is a new one, with nothing of the old; the old one can end nothing more."""
    records = await trial.records()
    old, other = await records.keep(trial.write("old tea", tags=["old"]), trial.write("other"))
    await records.invalidate(old.id, "wrong")
    await records.delete(old.id)
    with expect.raises(MemoryNotFound):
        await records.write(trial.write("late", supersedes=[old.id]))
    (new,) = await records.keep(trial.write("new milk", id=old.id))
    expect.none(new.invalid_at, what="invalid_at")
    expect.ids(await records.find("tea old", include_invalidated=True), [])
    expect.ids(await records.find(), [new, other], ordered=False)


@case("R-14g", claims=("records", "maintenance"), needs=("raw",))
async def nothing_of_a_deleted_record_stays(trial: Trial) -> None:
    """After a deletion and `purge` no text of the record is in what is stored: neither content nor index."""
    backend = await trial.backend()
    records = Records(backend.records, trial)
    fields: dict[str, Any] = {"tags": [_WORD], "context": _WORD, "payload": {_WORD: [_WORD]}, "target": {"a": _WORD}}
    kept, first, second, last = await records.keep(
        trial.write("milk tea"),
        trial.write(f"{_WORD} tea", **fields),
        trial.write(f"{_WORD} tea", scope={"user": _WORD}, **fields),
        trial.write(f"{_WORD} tea"),
    )
    await records.invalidate(second.id, _WORD, _WORD)
    await records.keep(trial.write("rain", supersedes=[last.id]))
    expect.equal(await _held(trial), [_WORD, "milk"], what="the words that are stored")
    for record in (first, last):
        await records.delete(record.id)
    await records.delete_where({"user": _WORD})
    await trial.does("purge()", cast("Maintenance", backend).purge())
    expect.equal(await _held(trial), ["milk"], what="the words that are stored")
    expect.same_record(await records.get(kept.id), kept)


@case("R-19a", claims=("records",))
async def delete_where_erases_a_scope_exactly(trial: Trial) -> None:
    """`delete_where` erases what has all pairs of the scope, exactly, and tells how many; what looks like it stays."""
    records = await trial.records()
    given = [trial.write(f"tea {place}", scope={"user": user}) for place, user in enumerate(ALIKE)]
    given += [trial.write("tea", scope={"User": "user_1"}), trial.write("tea", scope={})]
    mine = [trial.write("tea", scope={"user": "user_1", "thread": thread}) for thread in ("1", "2")]
    await records.keep(*given, *mine)
    expect.equal(await records.delete_where({"thread": "1", "user": "user_1"}), 1, what="how many were erased")
    expect.equal(await records.delete_where({"user": "user_1"}), 2, what="how many were erased")
    expect.equal(await records.delete_where({"user": "nobody"}), 0, what="how many were erased")
    left = [write for write in given if write.scope != {"user": "user_1"}]
    for text in (None, "tea"):
        expect.ids(await records.find(text, limit=100), left, ordered=False)


@case("R-19b", claims=("records",))
async def delete_where_takes_every_kind_unless_some_are_named(trial: Trial) -> None:
    """`delete_where` erases every kind, the internal ones and what has ended too, or just those that it names."""
    records = await trial.records()
    for kinds, erased in ((["state", "fact"], {"state", "fact"}), ([], set()), (None, set(KINDS))):
        given = [trial.write(f"tea {kind}", kind=kind) for kind in KINDS]
        await records.keep(*given)
        await records.invalidate(given[0].id)
        count = await records.delete_where({"user": "ada"}, kinds=cast("Any", kinds))
        expect.equal(count, len(erased), what="how many were erased")
        left = [write for write in given if write.kind not in erased]
        expect.ids(await _all(records), left, ordered=False)
        await records.delete_where({"user": "ada"})
        expect.ids(await _all(records), [])


@case("R-19c", claims=("records",))
async def an_empty_scope_is_refused(trial: Trial) -> None:
    """`delete_where` refuses an empty scope, what is none, and unknown kinds; nothing is erased."""
    records = await trial.records()
    (kept,) = await records.keep(trial.write())
    for scope in ({}, {"user": None}, {"": "ada"}, None, "user"):
        with expect.raises(UnsupportedMemoryQuery, where=_rejects("scope"), what="of the scope"):
            await records.delete_where(cast("Any", scope))
    for kinds in (["facts"], "fact"):
        with expect.raises(UnsupportedMemoryQuery, where=_rejects("kinds"), what="of the kinds"):
            await records.delete_where({"user": "ada"}, kinds=cast("Any", kinds))
    expect.same_record(await records.get(kept.id), kept)


@case("R-19d", claims=("records",))
async def erasing_a_scope_links_what_stays(trial: Trial) -> None:
    """When `delete_where` erases parts of a chain, what stays is linked past them."""
    records = await trial.records()
    old: tuple[Any, ...] = ()
    chain = []
    for user in ("ada", "bob", "bob", "ada"):
        (record,) = await records.keep(trial.write(scope={"user": user}, supersedes=old))
        old = (record.id,)
        chain.append(record)
    expect.equal(await records.delete_where({"user": "bob"}), 2, what="how many were erased")
    expect.equal((await records.known(chain[0].id)).superseded_by, chain[3].id, what="the successor")
    expect.ids(await records.find(include_invalidated=True), [chain[3], chain[0]])


async def _held(trial: Trial) -> list[str]:
    return [word for word in (_WORD, "milk") if await trial.harness_does(f"holds({word!r})", trial.raw.holds(word))]


async def _all(records: Records) -> list[MemoryRecord]:
    return await records.find(kinds=KINDS, include_invalidated=True)


def _rejects(key: str) -> Callable[[UnsupportedMemoryQuery], bool]:
    return lambda error: error.rejected_keys == (key,)
