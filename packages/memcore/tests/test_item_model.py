"""`MemoryItem` as a model (I-01, I-03)."""

from __future__ import annotations

import copy
import math
import pickle
from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from types import MappingProxyType
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import MemoryItem
from pydantic import BaseModel, ValidationError


class NoOffset(tzinfo):
    def utcoffset(self, _moment: datetime | None, /) -> timedelta | None:
        return None

    def dst(self, _moment: datetime | None, /) -> timedelta | None:
        return None

    def tzname(self, _moment: datetime | None, /) -> str:
        return "nowhere"


class Origin(BaseModel):
    source: str
    page: int | None = None


def test_an_item_needs_nothing_and_is_empty_then() -> None:
    before = datetime.now(UTC).timestamp()
    item = MemoryItem()

    assert (item.content, item.tags, item.metadata) == (None, [], {})
    assert item.id.version == 4
    assert before <= item.created_at <= datetime.now(UTC).timestamp()


def test_items_share_no_default() -> None:
    first, second = MemoryItem(), MemoryItem()
    first.tags.append("mine")
    first.metadata["mine"] = True

    assert first.id != second.id
    assert (second.tags, second.metadata) == ([], {})


def test_the_id_may_be_given_as_a_string_and_serializes_as_one() -> None:
    text = "6f1c0c3e-3a8b-4f42-9c3e-0d1f2a3b4c5d"
    item = MemoryItem.model_validate({"id": text})

    assert item.id == UUID(text)
    assert item.model_dump()["id"] == text
    assert item.model_dump(mode="json")["id"] == text


def test_a_dumped_item_validates_to_the_same_item() -> None:
    item = MemoryItem(content={"a": [1, None]}, tags=["x"], metadata={"k": 1.5}, created_at=12.25)
    again = MemoryItem.model_validate(item.model_dump())

    assert again.model_dump() == item.model_dump()


@pytest.mark.parametrize("wrong", ["", "nope", 7, None, b"x", "6f1c0c3e-3a8b-4f42-9c3e-0d1f2a3b4c5"])
def test_an_id_that_is_no_uuid_is_a_validation_error(wrong: object) -> None:
    with pytest.raises(ValidationError):
        MemoryItem.model_validate({"id": wrong})


@pytest.mark.parametrize(
    ("given_time", "seconds"),
    [
        (0, 0.0),
        (12, 12.0),
        (1.25, 1.25),
        (-5.5, -5.5),
        (2**53, float(2**53)),
        (datetime(2026, 1, 1, tzinfo=UTC), 1767225600.0),
        (datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=30))), 1782887400.0),
        ("2026-01-01T00:00:00Z", 1767225600.0),
        ("2026-07-01T12:00:00+05:30", 1782887400.0),
        ("2026-01-01", 1767225600.0),
        (" 2026-01-01 00:00:00.000001 ", 1767225600.000001),
        ("12", 12.0),
        ("-1e3", -1000.0),
    ],
)
def test_created_at_becomes_utc_epoch_seconds(given_time: object, seconds: float) -> None:
    created_at = MemoryItem.model_validate({"created_at": given_time}).created_at

    assert (type(created_at), created_at) == (float, seconds)


@pytest.mark.parametrize("zone", [None, NoOffset()])
def test_a_datetime_without_an_offset_means_utc(
    zone: tzinfo | None, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    import time  # noqa: PLC0415 - tzset exists on POSIX alone

    monkeypatch.setenv("TZ", "Pacific/Auckland")
    if hasattr(time, "tzset"):
        time.tzset()
        request.addfinalizer(time.tzset)
        request.addfinalizer(monkeypatch.undo)

    assert MemoryItem.model_validate({"created_at": datetime(2026, 1, 1, tzinfo=zone)}).created_at == 1767225600.0
    assert MemoryItem.model_validate({"created_at": "2026-01-01T00:00:00"}).created_at == 1767225600.0


@given(st.datetimes(timezones=st.timezones()))
def test_a_datetime_of_any_zone_is_kept_to_the_microsecond_a_float_can_hold(moment: datetime) -> None:
    assert MemoryItem.model_validate({"created_at": moment}).created_at == moment.timestamp()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_created_at_keeps_every_finite_float_and_its_zero_has_no_sign(seconds: float) -> None:
    created_at = MemoryItem(created_at=seconds).created_at

    assert created_at == seconds
    assert created_at != 0 or math.copysign(1, created_at) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        math.nan,
        math.inf,
        -math.inf,
        "nan",
        "Infinity",
        "1e400",
        10**400,
        True,
        None,
        "",
        "yesterday",
        "2026-13-01",
        [1.0],
        date(2026, 1, 1),
        b"1",
        1j,
    ],
)
def test_a_time_that_is_no_finite_number_is_a_validation_error(wrong: object) -> None:
    with pytest.raises(ValidationError, match="created_at"):
        MemoryItem.model_validate({"created_at": wrong})


@pytest.mark.parametrize("empty", [None, {}, [], (), "", MappingProxyType({})])
def test_empty_metadata_of_any_kind_is_an_empty_dict(empty: object) -> None:
    assert MemoryItem.model_validate({"metadata": empty}).metadata == {}


@pytest.mark.parametrize("mapping", [OrderedDict(a=1), MappingProxyType({"a": 1}), {"a": 1}])
def test_a_mapping_becomes_a_plain_dict(mapping: object) -> None:
    metadata = MemoryItem.model_validate({"metadata": mapping}).metadata

    assert (type(metadata), metadata) == (dict, {"a": 1})


def test_a_model_as_metadata_becomes_its_fields() -> None:
    assert MemoryItem.model_validate({"metadata": Origin(source="mail")}).metadata == {"source": "mail", "page": None}


@pytest.mark.parametrize("wrong", ["text", 5, True, ["a"], [("a", 1)], {"a"}, object()])
def test_metadata_that_are_no_map_are_a_validation_error(wrong: object) -> None:
    with pytest.raises(ValidationError, match="metadata"):
        MemoryItem.model_validate({"metadata": wrong})


@pytest.mark.parametrize("wrong", ["tea", [1], [None], 5, {"a": 1}])
def test_tags_that_are_no_list_of_strings_are_a_validation_error(wrong: object) -> None:
    with pytest.raises(ValidationError, match="tags"):
        MemoryItem.model_validate({"tags": wrong})


def test_tags_may_repeat_be_empty_and_hold_any_character() -> None:
    tags = ["", "a", "a", "\0", "\ud83d", "秘密"]

    assert MemoryItem(tags=tags).tags == tags


def test_content_is_anything_and_stays_the_same_object() -> None:
    content = object()

    assert MemoryItem(content=content).content is content


def test_an_unknown_field_is_a_validation_error() -> None:
    with pytest.raises(ValidationError, match="score"):
        MemoryItem.model_validate({"content": "tea", "score": 1})


@pytest.mark.parametrize(("field", "value"), [("id", uuid4()), ("created_at", 1.0)])
def test_id_and_time_are_frozen(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(MemoryItem(), field, value)


def test_equality_and_hash_go_by_id_alone() -> None:
    item = MemoryItem(content="old")
    other = MemoryItem(id=item.id, content="new", created_at=0)

    assert item == other
    assert hash(item) == hash(other)
    assert item != MemoryItem(content="old", created_at=item.created_at)
    assert item != item.id


def test_a_subclass_equals_an_item_of_the_same_id() -> None:
    class Note(MemoryItem):
        pass

    item = MemoryItem()

    assert Note(id=item.id) == item


def test_an_item_is_true_whatever_it_holds() -> None:
    assert MemoryItem(content=None)


def test_an_item_can_be_pickled_and_copied() -> None:
    item = MemoryItem(content={"a": [1]}, tags=["x"], metadata={"k": None})

    for again in (pickle.loads(pickle.dumps(item)), copy.deepcopy(item)):  # noqa: S301 - our own bytes
        assert again.model_dump() == item.model_dump()


def test_the_schema_names_the_five_fields_in_both_directions() -> None:
    for mode in ("validation", "serialization"):
        schema = MemoryItem.model_json_schema(mode=mode)
        assert set(schema["properties"]) == {"id", "created_at", "metadata", "content", "tags"}
