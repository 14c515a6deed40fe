"""Records as they were: copying and importing (R-22)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from memcore import MemoryConflict, MemoryRecord, MemoryWrite, UnsupportedMemoryItem

from memcore_conformance import expect
from memcore_conformance.cases.records_end import KINDS
from memcore_conformance.cases.records_model import FULL
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from uuid import UUID

    from memcore_conformance.trial import Trial

_BORN: Final = datetime(2021, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
_DAY: Final = timedelta(days=1)


@case("R-22a", claims=("records", "transfer"))
async def every_field_is_restored(trial: Trial) -> None:
    """A restored record has every field that it had: times, links, reasons, hits, whatever a write cannot give."""
    records = await trial.records()
    ended = _record(
        trial,
        **FULL,
        updated_at=_BORN + 3 * _DAY,
        invalid_at=_BORN + 2 * _DAY,
        invalid_reason="wrong",
        invalidated_by="bob",
        hits=7,
        last_hit_at=_BORN + _DAY,
        refreshed_at=_BORN + 4 * _DAY,
    )
    ancient = _record(trial, created_at=datetime(1, 1, 1, tzinfo=UTC), updated_at=datetime(9999, 12, 31, tzinfo=UTC))
    given = [ended, _record(trial), ancient]
    expect.equal(await records.restore(*given), [record.id for record in given], what="the ids that restore() returns")
    await trial.show_index()
    for record in given:
        expect.same_record(await records.get(record.id), record)
    expect.ids(await records.find("green", include_invalidated=True, kinds=KINDS), [ended])
    expect.ids(await records.find(as_of=_BORN), [*sorted(given[:2], key=_id, reverse=True), ancient])


@case("R-22b", claims=("records", "transfer"))
async def restoring_again_changes_nothing(trial: Trial) -> None:
    """Restoring the same records again changes nothing; of one id twice in a call the last counts."""
    records = await trial.records()
    given = [_record(trial, content=f"tea {number}") for number in range(3)]
    first = given[0].model_copy(update={"content": "milk"})
    for _ in range(2):
        expect.equal(await records.restore(first, *given), [record.id for record in (first, *given)])
        await trial.show_index()
        expect.ids(await records.find(), given, ordered=False)
        for record in given:
            expect.same_record(await records.get(record.id), record)
        expect.ids(await records.find("milk"), [])


@case("R-22c", claims=("records", "transfer"))
async def what_is_restored_replaces(trial: Trial) -> None:
    """A restored record takes the place of what has its id, in every index too."""
    records = await trial.records()
    (old,) = await records.keep(trial.write("tea", tags=["old"], scope={"user": "bob"}, kind="episode"))
    new = _record(trial, id=old.id, content="milk", tags=("new",), scope={"user": "ada"}, kind="fact")
    await records.restore(new)
    await trial.show_index()
    expect.same_record(await records.get(old.id), new)
    gone: tuple[dict[str, Any], ...] = ({"tags": ["old"]}, {"scope": {"user": "bob"}}, {"kinds": ["episode"]})
    for axes in (*gone, {"text": "tea"}):
        expect.ids(await records.find(**axes), [])
    there: tuple[dict[str, Any], ...] = ({"tags": ["new"]}, {"scope": {"user": "ada"}}, {"as_of": _BORN})
    for axes in (*there, {"text": "milk"}):
        expect.ids(await records.find(**axes), [new])


@case("R-22d", claims=("records", "transfer"))
async def links_may_lead_to_what_is_yet_to_come(trial: Trial) -> None:
    """A link to a record that is not there is kept as it is, and joins the history when that one comes."""
    records = await trial.records()
    new = _record(trial, created_at=_BORN + _DAY, updated_at=_BORN + _DAY)
    old = _record(trial, updated_at=_BORN + _DAY, invalid_at=_BORN + _DAY, superseded_by=new.id)
    await records.restore(old)
    expect.same_record(await records.get(old.id), old)
    await records.restore(new)
    expect.same_record(await records.get(old.id), old)
    with expect.raises(MemoryConflict, where=lambda error: error.current == new, what="with the head"):
        await records.write(trial.write(supersedes=[old.id]))
    if "history" in trial.claims.names:
        expect.ids(await records.history(new.id), [old, new])


@case("R-22e", claims=("records", "transfer", "history"))
async def a_copy_answers_as_the_original(trial: Trial) -> None:
    """What was copied to another namespace, in any order, has the same records, histories, moments and order."""
    one, two = await trial.records(), await trial.records(namespace="copy")
    chain = await one.chain("first tea", "second tea", "third tea")
    parts = await one.keep(trial.write("milk", tier="short"), trial.write("rain"))
    (merged,) = await one.keep(trial.write("milk and rain", supersedes=[chain[-1].id, parts[0].id]))
    await one.invalidate(parts[1].id, "wrong")
    copied = await one.scan_all()
    for record in reversed(copied):
        await two.restore(record)
    await trial.show_index()
    expect.equal(await two.scan_all(), copied, what="what was copied")
    expect.equal(await two.history(merged.id), await one.history(merged.id), what="the history")
    for axes in ({}, {"text": "tea milk"}, {"as_of": chain[1].created_at}, {"include_invalidated": True}):
        expect.ids(await two.find(**cast("dict[str, Any]", axes)), await one.find(**cast("dict[str, Any]", axes)))


@case("R-22f", claims=("records", "transfer"))
async def what_cannot_be_restored_restores_nothing(trial: Trial) -> None:
    """If one record cannot be kept exactly, or is none, it is refused with its place, and none is restored."""
    records = await trial.records()
    first = _record(trial)
    for bad in (_record(trial).model_copy(update={"payload": {1, 2}}), trial.write(), "tea"):
        refused = expect.raises(
            UnsupportedMemoryItem, where=lambda error: "records[1]" in error.path, what="of its place"
        )
        with refused:
            await records.restore(first, cast("Any", bad))
        expect.none(await records.get(first.id))
    expect.equal(await records.restore(), [], what="what restoring nothing returns")


@case("R-22g", claims=("records", "transfer"))
async def a_restored_record_lives_on(trial: Trial) -> None:
    """A restored record can be superseded and ended as any other; the write that once made it finds it again."""
    records = await trial.records()
    first, second = _record(trial), _record(trial, content="milk")
    await records.restore(first, second)
    write = MemoryWrite.model_validate(
        {name: getattr(first, name) for name in MemoryWrite.model_fields if name in FULL}
    )
    same = write.model_copy(update={"id": first.id, "supersedes": (trial.id(),)})
    expect.same_record((await records.write(same))[0], first)
    with expect.raises(MemoryConflict):
        await records.write(same.model_copy(update={"content": "other"}))
    (new,) = await records.keep(trial.write("new", supersedes=[first.id]))
    await records.invalidate(second.id)
    expect.equal((await records.known(first.id)).superseded_by, new.id, what="the successor")
    expect.ids(await records.find(), [new])


def _id(record: MemoryRecord) -> UUID:
    return record.id


def _record(trial: Trial, **fields: Any) -> MemoryRecord:  # noqa: ANN401 - whatever a record may hold
    usual = {"id": trial.id(), "scope": {"user": "ada"}, "content": "tea", "created_at": _BORN, "updated_at": _BORN}
    return MemoryRecord.model_validate(usual | fields)
