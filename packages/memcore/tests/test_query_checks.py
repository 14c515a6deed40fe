"""Checks of queries, ids, filters and cursors before any transport (I-50, I-62, I-63, I-81, I-82)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import MemoryQuery, UnsupportedMemoryItem, UnsupportedMemoryQuery
from memcore.kit.query import (
    LARGEST_LIMIT,
    MOST_FILTERS,
    CheckedQuery,
    check_erasure,
    check_id,
    check_ids,
    check_page_limit,
    check_query,
    decode_cursor,
    encode_cursor,
)


@dataclass
class HostQuery:
    text: Any = None
    tags: Any = None
    filters: Any = None
    limit: Any = 20


def any_filter(_key: str) -> bool:
    return True


def no_filter(_key: str) -> bool:
    return False


def rejected(query: Any, supports_filter: Any = any_filter) -> tuple[str, ...]:
    with pytest.raises(UnsupportedMemoryQuery) as caught:
        check_query(query, supports_filter)
    return caught.value.rejected_keys


@pytest.mark.parametrize("empty", [MemoryQuery(), MemoryQuery(text="", tags=[], filters={}), HostQuery()])
def test_none_and_empty_are_no_predicate_on_every_axis(empty: Any) -> None:
    assert check_query(empty, no_filter) == CheckedQuery(text="", tags=(), filters={}, limit=20)


def test_a_query_comes_back_in_one_form() -> None:
    checked = check_query(HostQuery("tea", {"x"}, MappingProxyType({"k": 1}), 5), any_filter)

    assert checked == CheckedQuery(text="tea", tags=("x",), filters={"k": 1}, limit=5)


def test_repeated_tags_are_one() -> None:
    assert check_query(MemoryQuery(tags=["b", "a", "b"]), any_filter).tags == ("b", "a")


@pytest.mark.parametrize(("limit", "kept"), [(0, 0), (1, 1), (LARGEST_LIMIT, LARGEST_LIMIT), (10**30, LARGEST_LIMIT)])
def test_a_limit_of_zero_and_a_huge_one_are_fine(limit: int, kept: int) -> None:
    assert check_query(MemoryQuery(limit=limit), any_filter).limit == kept


def test_the_largest_limit_is_one_that_every_database_takes() -> None:
    assert LARGEST_LIMIT == 2**31 - 1


@pytest.mark.parametrize("limit", [-1, -(10**30), True, False, None, "5", 5.0])
def test_a_limit_that_is_no_natural_number_is_refused(limit: Any) -> None:
    assert rejected(HostQuery(limit=limit)) == ("limit",)


@pytest.mark.parametrize("text", [5, 0, b"tea", ["tea"], False])
def test_a_text_that_is_no_string_is_refused(text: Any) -> None:
    assert rejected(HostQuery(text=text)) == ("text",)


@pytest.mark.parametrize("tags", ["tea", "", 0, 5, False, [1], ["x", None], {"x": 1}, iter(["x"])])
def test_tags_that_are_no_collection_of_strings_are_refused_and_never_dropped(tags: Any) -> None:
    assert rejected(HostQuery(tags=tags)) == ("tags",)


@pytest.mark.parametrize("filters", ["k", 0, False, ["k"], [("k", 1)], {1: 2}, {"k": 1, None: 2}])
def test_filters_that_are_no_map_of_strings_are_refused_and_never_dropped(filters: Any) -> None:
    assert rejected(HostQuery(filters=filters)) == ("filters",)


def test_all_unsupported_filters_are_named_sorted_with_every_other_fault() -> None:
    filters = {"z": 1, "year": 2, "a.b": 3}
    query = HostQuery(text=1, tags="x", filters=filters, limit=-1)

    assert rejected(query, lambda key: key == "year") == ("a.b", "limit", "tags", "text", "z")


@pytest.mark.parametrize("wrong", ["tea", None, {"text": "tea"}, 5])
def test_what_is_no_query_is_refused_with_what_it_is(wrong: Any) -> None:
    with pytest.raises(UnsupportedMemoryQuery, match=rf"a MemoryQuery is needed: {type(wrong).__name__} has no"):
        check_query(wrong, any_filter)


@pytest.mark.parametrize(
    ("filters", "keys", "reason"),
    [
        ({"k": math.nan}, ("k",), "filters.k: NaN and infinities are not JSON"),
        ({"k": [1, (2,)]}, ("k",), "filters.k[1]: tuple is not JSON; convert it to a list"),
        (
            {"b": 1j, "a": (), "c": 1},
            ("a", "b"),
            "filters.b: complex is not JSON; filters.a: tuple is not JSON; convert it to a list",
        ),
        (
            {"\ud83d\ude80": 1},
            ("\ud83d\ude80",),
            "filters: a high surrogate directly followed by a low one would become one character",
        ),
    ],
    ids=["nan", "tuple", "several", "surrogates"],
)
def test_a_filter_that_no_json_entry_can_equal_is_refused_with_its_reason(
    filters: dict[str, Any], keys: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(UnsupportedMemoryQuery) as caught:
        check_query(MemoryQuery(filters=filters), any_filter)

    assert (caught.value.rejected_keys, caught.value.reason) == (keys, reason)


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "", "\0", "\ud83d", [], {"a": {"b": [None]}}], ids=ascii)
def test_every_json_value_is_a_filter(value: object) -> None:
    assert check_query(MemoryQuery(filters={"k": value}), any_filter).filters == {"k": value}


@pytest.mark.parametrize("value", [1, None])
def test_only_so_many_filters_are_one_query(value: object) -> None:
    filters = {str(number): value for number in range(MOST_FILTERS)}
    assert check_query(MemoryQuery(filters=filters), any_filter).filters == filters

    with pytest.raises(UnsupportedMemoryQuery, match="over the limit of 500 filters in one query") as caught:
        check_query(MemoryQuery(filters={**filters, "k": value}), any_filter)

    assert caught.value.rejected_keys == ("filters",)


@pytest.mark.parametrize("empty", [{}, None, []])
def test_an_empty_condition_erases_nothing(empty: Any) -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="an empty filter would erase everything"):
        check_erasure(empty, any_filter)


@pytest.mark.parametrize(
    ("filters", "keys"),
    [("k", ("filters",)), (["k"], ("filters",)), ({1: 2}, ("filters",)), ({"k": {1}}, ("k",))],
)
def test_a_condition_that_is_no_map_of_json_values_erases_nothing(filters: Any, keys: tuple[str, ...]) -> None:
    with pytest.raises(UnsupportedMemoryQuery) as caught:
        check_erasure(filters, any_filter)

    assert caught.value.rejected_keys == keys


def test_an_unsupported_condition_erases_nothing() -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="unsupported memory query keys: a, b"):
        check_erasure({"b": 1, "a": 2}, no_filter)


def test_a_supported_condition_comes_back_as_a_dict() -> None:
    assert check_erasure(MappingProxyType({"k": None}), any_filter) == {"k": None}


@pytest.mark.parametrize("wrong", [str(uuid4()), "", 5, None, b"x" * 16])
def test_an_id_that_is_no_uuid_is_refused_and_never_a_miss(wrong: object) -> None:
    with pytest.raises(UnsupportedMemoryQuery, match=f"a UUID is needed, not {type(wrong).__name__}"):
        check_id(wrong)


def test_ids_come_back_once_each_in_order() -> None:
    first, second = uuid4(), uuid4()

    assert check_ids([second, first, second], most=3) == [second, first]
    assert check_ids([], most=3) == []


def test_one_wrong_id_among_many_is_refused() -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="a UUID is needed, not str"):
        check_ids([uuid4(), "nope"], most=3)


def test_too_many_ids_are_refused() -> None:
    with pytest.raises(UnsupportedMemoryItem, match="ids: over the limit of 3 ids in one call"):
        check_ids([uuid4()] * 4, most=3)


@pytest.mark.parametrize("limit", [0, -1, True, None, "5", 1.0])
def test_a_page_needs_a_positive_limit(limit: object) -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="limit"):
        check_page_limit(limit)


def test_a_page_may_have_any_positive_limit() -> None:
    assert [check_page_limit(limit) for limit in (1, 10**30)] == [1, LARGEST_LIMIT]


@given(namespace=st.text(st.characters(exclude_categories=())), last=st.uuids())
def test_a_cursor_leads_back_to_its_id(namespace: str, last: UUID) -> None:
    assert decode_cursor(namespace, encode_cursor(namespace, last)) == last


def test_a_cursor_is_opaque_and_safe_in_a_url() -> None:
    last = uuid4()
    cursor = encode_cursor("default", last)

    assert str(last) not in cursor
    assert cursor.replace("-", "").replace("_", "").isalnum()


def test_a_cursor_of_another_namespace_is_refused() -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="not a cursor of this store"):
        decode_cursor("other", encode_cursor("default", uuid4()))


@pytest.mark.parametrize(
    "wrong", ["", "a", "nope", str(uuid4()), "é" * 27, "A" * 27, "\0", "===", 5, b"AAAA", object()]
)
def test_what_is_no_cursor_is_refused(wrong: object) -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="not a cursor of this store") as caught:
        decode_cursor("default", wrong)

    assert caught.value.rejected_keys == ("after",)


@given(last=st.uuids(), position=st.integers(0, 25), character=st.sampled_from("ABab01-_"))
def test_a_cursor_that_was_changed_is_refused(last: UUID, position: int, character: str) -> None:
    cursor = encode_cursor("default", last)
    changed = cursor[:position] + character + cursor[position + 1 :]

    if changed == cursor:
        assert decode_cursor("default", changed) == last
    else:
        with pytest.raises(UnsupportedMemoryQuery):
            decode_cursor("default", changed)


@given(st.text())
def test_any_text_is_a_cursor_or_a_typed_error(text: str) -> None:
    with pytest.raises(UnsupportedMemoryQuery):
        decode_cursor("default", text)
