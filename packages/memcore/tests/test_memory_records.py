"""The records of `memory://`: what its own door, index and clock do; the conformance suite judges the rest."""

from __future__ import annotations

import math
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import memcore
import pytest
from memcore import (
    Invalidation,
    MemoryConfigurationError,
    MemoryRecord,
    MemoryWrite,
    Provenance,
    RecordQuery,
    Scope,
    SizeLimits,
    SweepPolicy,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore.records.cursor import decode_place, encode_place
from memcore.records.rows import decode_record, encode_record
from pydantic import ValidationError

if TYPE_CHECKING:
    from memcore.records.in_memory import InMemoryRecords

SECRET = "saffron"
MOMENT = datetime(2024, 5, 8, 13, 56, 0, 123456, tzinfo=UTC)


class OddId(UUID):
    """A host's own kind of id."""


def record(**fields: Any) -> MemoryRecord:
    return MemoryRecord(**({"id": uuid4(), "content": "tea", "created_at": MOMENT, "updated_at": MOMENT} | fields))


FULL = record(
    scope={"user": "ada"},
    tags=["a", "b"],
    provenance=Provenance(author="ada"),
    supports=[Provenance(run_id="r")],
    expires_at=MOMENT,
    target={"kind": "card", "n": 1},
    payload=[1, 1.5, None, True, {"ä": "ö"}],
    context="before",
    tier="short",
    invalid_at=MOMENT,
    superseded_by=uuid4(),
    hits=3,
    last_hit_at=MOMENT,
)


def test_a_record_comes_back_from_its_row() -> None:
    assert decode_record(encode_record(FULL, SizeLimits())) == FULL


def test_a_record_comes_back_from_json_and_from_a_pickle() -> None:
    assert MemoryRecord.model_validate_json(FULL.model_dump_json()) == FULL
    assert pickle.loads(pickle.dumps(FULL)) == FULL  # noqa: S301 - our own


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""},
        {"content": "\0"},
        {"content": "\ud800"},
        {"created_at": datetime(2024, 1, 1)},  # noqa: DTZ001 - that is what is wrong
        {"expires_at": datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-14)))},
        {"superseded_by": uuid4()},
        {"invalid_at": MOMENT - timedelta(seconds=1)},
        {"hits": 1 << 31},
    ],
    ids=str,
)
def test_what_is_no_record_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        record(**wrong)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "x"),
        ("kind", SECRET),
        ("content", ""),
        ("scope", {"user": 5}),
        ("tags", SECRET),
        ("provenance", Provenance.model_construct(author=5)),
        ("expires_at", datetime(2024, 1, 1)),  # noqa: DTZ001 - that is what is wrong
        ("payload", math.nan),
        ("tier", SECRET),
        ("supersedes", 5),
    ],
)
async def test_a_write_that_passed_no_validation_is_judged_at_the_door(
    records: InMemoryRecords, field: str, value: Any
) -> None:
    unjudged = MemoryWrite(content=SECRET).model_copy(update={field: value})

    with pytest.raises(UnsupportedMemoryItem) as caught:
        await records.write([MemoryWrite(content="tea"), unjudged])
    assert (caught.value.field, caught.value.path.startswith(f"changes[1].{field}")) == (field, True)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None or SECRET not in str(caught.value.__cause__)
    assert await records.count() == 0


@pytest.mark.parametrize("wrong", [None, 5, "x", MemoryWrite(content="tea"), iter([]), {MemoryWrite(content="tea")}])
async def test_changes_and_records_come_in_a_sequence(records: InMemoryRecords, wrong: Any) -> None:
    for use in (records.write, records.restore):
        with pytest.raises(UnsupportedMemoryItem):
            await use(wrong)


@pytest.mark.parametrize("field", ["text", "scope", "kinds", "tags", "tiers", "as_of", "mode", "limit", "after"])
async def test_a_query_that_passed_no_validation_is_judged_at_the_door(records: InMemoryRecords, field: str) -> None:
    with pytest.raises(UnsupportedMemoryQuery) as caught:
        await records.search(RecordQuery().model_copy(update={field: object()}))
    assert caught.value.rejected_keys == (field,)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (RecordQuery(text="tea", after="x"), "after: only for a search without a text"),
        (RecordQuery(limit=-1, mode="semantic"), "limit: below 0; mode: semantic is not offered"),
        (RecordQuery(tags=[str(number) for number in range(501)]), "tags: over the limit of 500"),
        (RecordQuery(scope={str(number): "x" for number in range(501)}), "scope: over the limit of 500 pairs"),
    ],
    ids=["after", "several", "tags", "scope"],
)
async def test_a_query_that_cannot_be_answered_is_refused_with_its_reason(
    records: InMemoryRecords, query: RecordQuery, reason: str
) -> None:
    with pytest.raises(UnsupportedMemoryQuery) as caught:
        await records.search(query)
    assert caught.value.reason == reason


async def test_other_arguments_of_a_wrong_kind_are_refused_by_name(records: InMemoryRecords) -> None:
    uses: dict[str, Any] = {
        "policy": lambda: records.sweep(5),  # type: ignore[arg-type]
        "tier": lambda: records.refresh(uuid4(), "high"),  # type: ignore[arg-type]
        "kinds": lambda: records.delete_where({"user": "ada"}, kinds=iter(["fact"])),  # type: ignore[arg-type]
        "scope": lambda: records.delete_where({}),
        "ids": lambda: records.touch(5),  # type: ignore[arg-type]
    }
    for name, use in uses.items():
        with pytest.raises(UnsupportedMemoryQuery, match=name):
            await use()
    with pytest.raises(UnsupportedMemoryItem, match="reason: text is needed"):
        await records.invalidate(uuid4(), 5)  # type: ignore[arg-type]


async def test_an_id_of_a_subclass_is_kept_as_a_plain_one(records: InMemoryRecords) -> None:
    (written,) = await records.write([MemoryWrite(id=OddId(int=5), content="tea")])

    assert type(written.id) is UUID
    assert await records.get(OddId(int=5)) == written


async def test_of_deleted_records_nothing_is_kept(records: InMemoryRecords) -> None:
    (old,) = await records.write([MemoryWrite(content="tea", scope={"user": "ada"}, tags=["x"])])
    (new,) = await records.write([MemoryWrite(content="milk", scope={"user": "ada"}, supersedes=[old.id])])
    await records.delete(new.id)
    assert (await records.history(old.id))[0].superseded_by is None
    await records.delete(old.id)

    assert not records._predecessors
    assert not any(vars(records._index)[name] for name in ("entries", "_order", "_by_term", "_postings"))


async def test_deleting_in_the_middle_of_a_merge_links_what_it_superseded(records: InMemoryRecords) -> None:
    one, two = await records.write([MemoryWrite(content="one"), MemoryWrite(content="two")])
    (merged,) = await records.write([MemoryWrite(content="both", supersedes=[one.id, two.id])])
    (head,) = await records.write([MemoryWrite(content="head", supersedes=[merged.id])])
    await records.delete(merged.id)

    assert [each.id for each in await records.history(two.id)] == [one.id, two.id, head.id]


async def test_as_of_is_half_open() -> None:
    times = iter([MOMENT, *[MOMENT + timedelta(seconds=1)] * 9])
    async with memcore.connect("memory://", clock=lambda: next(times)) as backend:
        (old,) = await backend.records.write([MemoryWrite(content="old")])
        (new,) = await backend.records.write([MemoryWrite(content="new", supersedes=[old.id])])
        found = {}
        for micros in (-1, 0, 999_999, 1_000_000):
            query = RecordQuery(as_of=MOMENT + timedelta(microseconds=micros))
            found[micros] = [hit.record.id for hit in await backend.records.search(query)]

    assert found == {-1: [], 0: [old.id], 999_999: [old.id], 1_000_000: [new.id]}


async def test_a_clock_without_a_zone_is_refused() -> None:
    naive = MOMENT.replace(tzinfo=None)
    async with memcore.connect("memory://", clock=lambda: naive) as backend:
        with pytest.raises(MemoryConfigurationError, match="zone"):
            await backend.records.write([MemoryWrite(content="tea")])


async def test_pages_follow_the_cursor_of_the_last_hit(records: InMemoryRecords) -> None:
    written = await records.write([MemoryWrite(content=f"tea {number}") for number in range(5)])
    found: list[UUID] = []
    after = None
    while page := await records.search(RecordQuery(limit=2, after=after)):
        found += [hit.record.id for hit in page]
        after = page[-1].cursor

    assert found == [each.id for each in reversed(written)]


@pytest.mark.parametrize("micros", [0, -1, 1 << 55])
def test_a_cursor_tells_its_place(micros: int) -> None:
    place = (micros, uuid4())

    assert decode_place(encode_place(*place)) == place


@pytest.mark.parametrize("cursor", ["", "x", "é", encode_place(0, UUID(int=1))[:-4] + "AAAA"])
def test_a_cursor_that_nobody_made_is_refused(cursor: str) -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="after"):
        decode_place(cursor)


async def test_restoring_and_sweeping_keep_what_a_policy_spares(records: InMemoryRecords) -> None:
    kept = [record(tier=tier) for tier in (None, "permanent")]
    idle = record(tier="short", scope=Scope({"user": "ada"}))
    await records.restore([*kept, idle])

    assert (await records.sweep(SweepPolicy())).archived == 1
    assert await records.get(kept[0].id) == kept[0]
    archived = await records.get(idle.id)
    assert archived is not None
    assert (archived.invalid_reason, archived.invalidated_by) == ("idle", None)


async def test_an_invalidation_of_the_same_call_names_the_record_as_it_was_left(records: InMemoryRecords) -> None:
    write = MemoryWrite(content="tea")
    first, second = await records.write([write, Invalidation(id=write.id, reason="wrong")])

    assert first == second
    assert first.invalid_at == first.created_at + timedelta(microseconds=1)
