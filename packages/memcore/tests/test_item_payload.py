"""Items at the adapter's door, and the one text that keeps them (I-11, I-40, I-45, I-51)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import MalformedMemoryPayload, MemoryItem, SizeLimits, UnsupportedMemoryItem
from memcore.items.payload import decode_item, encode_item, encode_items
from pydantic import ValidationError

LIMITS = SizeLimits()
ID = UUID("6f1c0c3e-3a8b-4f42-9c3e-0d1f2a3b4c5d")


class DriverUUID(UUID):
    """Some drivers have their own."""


@dataclass
class HostItem:
    id: Any = ID
    created_at: Any = 12.5
    metadata: Any = field(default_factory=lambda: {"k": 1})
    content: Any = "tea"
    tags: Any = field(default_factory=lambda: ["x"])


class SlottedItem:
    __slots__ = ("content", "created_at", "id", "metadata", "tags")

    def __init__(self) -> None:
        self.id, self.created_at, self.metadata, self.content, self.tags = ID, 12.5, {"k": 1}, "tea", ["x"]


class ComputedItem:
    id = ID
    created_at = 12.5

    @property
    def metadata(self) -> dict[str, int]:
        return {"k": 1}

    @property
    def content(self) -> str:
        return "tea"

    @property
    def tags(self) -> list[str]:
        return ["x"]


def refusal(item: Any, limits: SizeLimits = LIMITS) -> UnsupportedMemoryItem:
    with pytest.raises(UnsupportedMemoryItem) as caught:
        encode_item(item, limits)
    return caught.value


@pytest.mark.parametrize(
    "host",
    [HostItem(), SlottedItem(), ComputedItem(), SimpleNamespace(**vars(HostItem())), MemoryItem(**vars(HostItem()))],
    ids=lambda host: type(host).__name__,
)
def test_any_object_with_the_five_attributes_is_an_item_and_comes_back_as_ours(host: Any) -> None:
    encoded = encode_item(host, LIMITS)
    item = decode_item(encoded.id, encoded.created_at, encoded.payload)

    assert type(item) is MemoryItem
    assert item.model_dump() == MemoryItem(**vars(HostItem())).model_dump()


@pytest.mark.parametrize("missing", ["id", "created_at", "metadata", "content", "tags"])
def test_a_missing_attribute_is_named(missing: str) -> None:
    attributes = {name: value for name, value in vars(HostItem()).items() if name != missing}
    error = refusal(SimpleNamespace(**attributes))

    assert (error.field, error.reason) == ("item", f"SimpleNamespace has no attribute {missing!r}")


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        ({"id": str(ID)}, "id", "a UUID is needed, not str"),
        ({"id": None}, "id", "a UUID is needed, not NoneType"),
        ({"created_at": True}, "created_at", "UTC epoch seconds are needed, not bool"),
        ({"created_at": "12"}, "created_at", "UTC epoch seconds are needed, not str"),
        ({"created_at": None}, "created_at", "UTC epoch seconds are needed, not NoneType"),
        ({"created_at": math.nan}, "created_at", "a finite number of seconds that a float keeps exactly is needed"),
        ({"created_at": -math.inf}, "created_at", "a finite number of seconds that a float keeps exactly is needed"),
        ({"created_at": 10**400}, "created_at", "a finite number of seconds that a float keeps exactly is needed"),
        ({"created_at": 2**53 + 1}, "created_at", "a finite number of seconds that a float keeps exactly is needed"),
        ({"metadata": None}, "metadata", "a dict is needed, not NoneType"),
        ({"metadata": [("k", 1)]}, "metadata", "a dict is needed, not list"),
        ({"metadata": {1: 2}}, "metadata", "a key of type int; keys must be str"),
        ({"metadata": {"k": [math.nan]}}, "metadata.k[0]", "NaN and infinities are not JSON"),
        ({"content": {"scores": [0, 1, 2, (3,)]}}, "content.scores[3]", "tuple is not JSON; convert it to a list"),
        ({"tags": "x"}, "tags", "a list is needed, not str"),
        ({"tags": ("x",)}, "tags", "a list is needed, not tuple"),
        ({"tags": None}, "tags", "a list is needed, not NoneType"),
        ({"tags": ["x", 1]}, "tags[1]", "a str is needed, not int"),
        ({"tags": ["x", None]}, "tags[1]", "a str is needed, not NoneType"),
        (
            {"tags": ["x", "\ud83d\ude80"]},
            "tags[1]",
            "a high surrogate directly followed by a low one would become one character",
        ),
    ],
    ids=str,
)
def test_a_part_that_cannot_be_kept_exactly_is_refused(change: dict[str, Any], path: str, reason: str) -> None:
    error = refusal(HostItem(**change))

    assert (error.field, error.path, error.reason) == (path.partition("[")[0].partition(".")[0], path, reason)


def test_a_uuid_of_a_drivers_own_class_becomes_a_plain_one() -> None:
    encoded = encode_item(HostItem(id=DriverUUID(int=5)), LIMITS)

    assert (type(encoded.id), encoded.id) == (UUID, UUID(int=5))


@pytest.mark.parametrize(("created_at", "kept"), [(5, 5.0), (-0.0, 0.0), (2**53, 2.0**53)])
def test_a_time_is_kept_as_a_float_without_a_negative_zero(created_at: float, kept: float) -> None:
    seconds = encode_item(HostItem(created_at=created_at), LIMITS).created_at

    assert (type(seconds), seconds, math.copysign(1, seconds)) == (float, kept, 1)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_is_a_time_bit_for_bit(seconds: float) -> None:
    encoded = encode_item(HostItem(created_at=seconds), LIMITS)

    assert decode_item(encoded.id, encoded.created_at, encoded.payload).created_at.hex() == (seconds + 0.0).hex()


@pytest.mark.parametrize(
    ("limits", "fitting", "over", "path", "reason"),
    [
        (
            SizeLimits(content=4),
            {"content": "tt"},
            {"content": "ttt"},
            "content",
            "over the size limit of 4 characters of JSON",
        ),
        (
            SizeLimits(metadata=7),
            {"metadata": {"k": 1}},
            {"metadata": {"k": 10}},
            "metadata",
            "over the size limit of 7 characters of JSON",
        ),
        (SizeLimits(tags=2), {"tags": ["a", "b"]}, {"tags": ["a", "b", "c"]}, "tags", "over the limit of 2 tags"),
        (SizeLimits(tag=2), {"tags": ["ab"]}, {"tags": ["a", "abc"]}, "tags[1]", "over the limit of 2 characters"),
    ],
    ids=["content", "metadata", "tags", "tag"],
)
def test_what_is_over_a_limit_is_refused_and_what_just_fits_is_not(
    limits: SizeLimits, fitting: dict[str, Any], over: dict[str, Any], path: str, reason: str
) -> None:
    assert encode_item(HostItem(**fitting), limits)
    error = refusal(HostItem(**over), limits)
    assert (error.path, error.reason) == (path, reason)


@pytest.mark.parametrize("character", ["a", '"', "\0", "é", "\U0001f680", "\ud83d"], ids=ascii)
def test_tags_within_the_limits_fit_whatever_their_characters(character: str) -> None:
    limits = SizeLimits(tags=3, tag=5)

    assert encode_item(HostItem(tags=[character * 5] * 3), limits).tags == [character * 5] * 3


def test_the_default_limits_allow_megabytes_of_content() -> None:
    assert encode_item(HostItem(content="word " * 700_000), LIMITS)
    assert refusal(HostItem(content="word " * 900_000)).field == "content"


@pytest.mark.parametrize("wrong", [{"content": 0}, {"batch": -1}, {"chars": 5}, '{"tags": 0}', "5", "nope", "["])
def test_limits_are_positive_and_have_known_names(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        SizeLimits.model_validate(wrong)


@pytest.mark.parametrize("name", SizeLimits.model_fields)
def test_each_limit_may_be_one_and_not_zero(name: str) -> None:
    assert SizeLimits.model_validate({name: 1})
    with pytest.raises(ValidationError, match=name):
        SizeLimits.model_validate({name: 0})


def test_limits_can_be_written_as_json_text() -> None:
    assert SizeLimits.model_validate('{"content": 10, "batch": 2}') == SizeLimits(content=10, batch=2)


def test_a_batch_is_checked_as_a_whole_and_a_refusal_names_the_place() -> None:
    with pytest.raises(UnsupportedMemoryItem) as caught:
        encode_items([HostItem(), HostItem(content=[b""]), HostItem(id=None)], LIMITS)

    assert (caught.value.field, caught.value.path) == ("content", "items[1].content[0]")
    assert caught.value.reason == "bytes is not JSON; decode it, or encode it as base64 text"


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        (None, "items[1].item"),
        (HostItem(id=1), "items[1].id"),
        (HostItem(created_at=None), "items[1].created_at"),
        (HostItem(metadata=[]), "items[1].metadata"),
        (HostItem(tags=[1]), "items[1].tags[0]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "item",
)
def test_every_kind_of_refusal_in_a_batch_names_the_place(wrong: Any, path: str) -> None:
    with pytest.raises(UnsupportedMemoryItem) as caught:
        encode_items([HostItem(), wrong], LIMITS)

    assert caught.value.path == path


def test_a_batch_over_the_limit_is_refused() -> None:
    limits = SizeLimits(batch=2)

    assert len(encode_items([HostItem()] * 2, limits)) == 2
    with pytest.raises(UnsupportedMemoryItem, match="items: over the limit of 2 items in one call"):
        encode_items([HostItem()] * 3, limits)


def test_the_payload_is_one_ascii_text() -> None:
    payload = encode_item(HostItem(content="秘密\0", metadata={"é": "\ud83d"}, tags=["\U0001f680"]), LIMITS).payload

    assert payload.isascii()
    assert payload == ('{"content":"\\u79d8\\u5bc6\\u0000","metadata":{"\\u00e9":"\\ud83d"},"tags":["\\ud83d\\ude80"]}')


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "null",
        "5",
        "[]",
        '{"content":1,"metadata":{}}',
        '{"content":1,"metadata":[],"tags":[]}',
        '{"content":1,"metadata":{},"tags":{}}',
        '{"content":NaN,"metadata":{},"tags":[]}',
    ],
)
def test_a_row_that_cannot_be_decoded_is_a_malformed_payload(payload: str) -> None:
    with pytest.raises(MalformedMemoryPayload):
        decode_item(ID, 1.0, payload)


@pytest.mark.parametrize("created_at", [1, "1.0", None])
def test_a_row_with_a_time_of_another_type_is_a_malformed_payload(created_at: Any) -> None:
    with pytest.raises(MalformedMemoryPayload, match=str(ID)):
        decode_item(ID, created_at, '{"content":1,"metadata":{},"tags":[]}')


def test_a_malformed_payload_is_named_by_its_id_and_not_shown() -> None:
    with pytest.raises(MalformedMemoryPayload) as caught:
        decode_item(ID, 1.0, '{"content":"s3cret"}')

    assert str(ID) in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_decoded_item_behaves_like_a_validated_one() -> None:
    item = MemoryItem(id=uuid4(), content=[1], metadata={"k": 1}, tags=["x"])
    encoded = encode_item(item, LIMITS)
    decoded = decode_item(encoded.id, encoded.created_at, encoded.payload)

    assert decoded == item
    assert repr(decoded) == repr(item)
    assert decoded.model_dump_json() == item.model_dump_json()
    assert decoded.model_copy(update={"content": 2}).content == 2
    assert decoded.model_fields_set == {"id", "created_at", "metadata", "content", "tags"}
    with pytest.raises(ValidationError, match="frozen"):
        decoded.id = uuid4()  # type: ignore[misc]
