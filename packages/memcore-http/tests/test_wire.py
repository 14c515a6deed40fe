"""The protocol keeps what it carries, and every error means the same on both ends."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import memcore
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from memcore import MemoryItem, MemoryRecord
from memcore.kit.query import CheckedQuery
from memcore_http.wire import (
    ItemBody,
    SearchRequest,
    decode_filters,
    decode_query,
    encode_filters,
    encode_query,
)
from memcore_http.wire_errors import ErrorBody

PAIR = "\ud83d" + "\ude00"
"""Two code points that JSON would read back as one."""
ANY_TEXT = st.text(st.characters(exclude_categories=()))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = MemoryRecord(id=UUID(int=7), content="tea", created_at=NOW, updated_at=NOW)
FAULTS = [
    memcore.UnsupportedMemoryQuery(["b", "a\ud800"], reason="no such key"),
    memcore.UnsupportedMemoryItem(field="content", path="items[3].content.a", reason="NaN"),
    memcore.MemoryAdapterUnavailable("postgres at db.internal"),
    memcore.MemoryConflict("taken", current=RECORD),
    memcore.MemoryConflict("taken"),
    memcore.MemoryNotFound("gone"),
    memcore.MalformedMemoryPayload("row 7"),
    memcore.MemoryConfigurationError("/etc/memory.conf"),
    memcore.MemoryAdapterError("role bob"),
]


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e16)
@example(5e-324)
@example(1.7976931348623157e308)
def test_created_at_travels_bit_for_bit(seconds: float) -> None:
    body = ItemBody.of(MemoryItem(created_at=seconds))
    read = ItemBody.model_validate_json(body.model_dump_json())
    assert read.created_at.hex() == body.created_at.hex()
    assert ItemBody.model_validate(json.loads(body.model_dump_json())).created_at.hex() == body.created_at.hex()


def test_an_item_travels_exactly() -> None:
    nested: Any = "deep"
    for _ in range(98):
        nested = [nested]
    content = {"text": "\x00\ud83d caf\xe9 \U0001f600", "numbers": [1, 1.0, True, -0.0, 10**4000], "nested": nested}
    item = MemoryItem(content=content, metadata={"\udc00": None}, tags=["\x00", "\ud83d"])
    text = ItemBody.of(item).model_dump_json()
    assert text.isascii()
    read = ItemBody.model_validate_json(text).decode()
    assert (read.id, read.created_at) == (item.id, item.created_at)
    assert repr([read.content, read.metadata, read.tags]) == repr([item.content, item.metadata, item.tags])


@given(text=ANY_TEXT, tags=st.lists(ANY_TEXT, max_size=3))
@example(text=PAIR, tags=[PAIR, PAIR + PAIR, "\x00"])
@example(text="a\ud83d\ud83d\ude00\ude00b", tags=[])
def test_a_query_travels_exactly_whatever_characters_it_holds(text: str, tags: list[str]) -> None:
    query = CheckedQuery(text, tuple(tags), {"key": [1, 1.0, True]}, 7)
    request = SearchRequest(query=encode_query(query)).model_dump_json()
    read = decode_query(SearchRequest.model_validate_json(request).query)
    assert (read.text, read.tags, repr(read.filters), read.limit) == (text, tags, repr(query.filters), 7)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"text": 5, "tags": [], "filters": {}, "limit": 1}', '"x"', "{" * 5000]
)
def test_what_is_no_query_is_told(text: str) -> None:
    with pytest.raises(memcore.MalformedMemoryPayload):
        decode_query(text)


def test_filters_travel_exactly() -> None:
    filters = {"\ud800": {"a": [1, 1.0]}, "none": None}
    assert repr(decode_filters(encode_filters(filters))) == repr(filters)


def test_filters_that_are_no_object_are_told() -> None:
    with pytest.raises(memcore.MalformedMemoryPayload):
        decode_filters("[]")


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_an_error_comes_back_as_the_same_type_with_what_it_carries(error: memcore.MemcoreError) -> None:
    encoded = ErrorBody.of(error).encode()
    assert encoded.isascii()
    read = ErrorBody.model_validate(json.loads(encoded)).error()
    assert type(read) is type(error)
    assert vars(read) == vars(error)


@pytest.mark.parametrize(
    "error", [fault for fault in FAULTS if not vars(fault)], ids=lambda error: type(error).__name__
)
def test_what_failed_behind_the_service_is_not_told_to_its_clients(error: memcore.MemcoreError) -> None:
    hidden = {"postgres", "bob", "row", "/etc"}
    assert not any(word in ErrorBody.of(error).encode().decode() for word in hidden)


@pytest.mark.parametrize("current", [object(), MemoryRecord.model_construct(content=b"")])
def test_a_conflict_tells_only_what_is_a_record(current: Any) -> None:
    assert ErrorBody.of(memcore.MemoryConflict("taken", current=current)).data == {}


def test_what_a_write_may_have_done_is_known_from_every_code() -> None:
    unknown = {code for code in ErrorBody.model_fields["code"].annotation.__args__ if not _nothing_done(code)}  # type: ignore[union-attr]
    assert unknown == {"unavailable", "malformed", "failed"}


def _nothing_done(code: Any) -> bool:
    return ErrorBody.stating(code).applied_nothing
