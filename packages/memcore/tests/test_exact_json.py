"""Exact JSON: what goes in comes back equal and of equal type, or is refused (I-40, I-41)."""

from __future__ import annotations

import json
import math
import sys
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from memcore.errors import MalformedMemoryPayload, UnsupportedMemoryItem
from memcore.kit import exact_json
from pydantic import BaseModel

Point = namedtuple("Point", "x y")  # noqa: PYI024 - the untyped kind is what callers have


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Text(str):
    __slots__ = ()


class Model(BaseModel):
    a: int = 1


@dataclass
class Pair:
    a: int = 1


characters = st.characters(exclude_categories=()).filter(lambda char: not "\udc00" <= char <= "\udfff")
texts = st.one_of(st.text(characters), st.just("\udc00 alone"), st.text())
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=10
)


def encode(value: object, *, max_chars: int = 1_000_000) -> str:
    return exact_json.encode(value, field="content", max_chars=max_chars)


def refusal(value: object, *, max_chars: int = 1_000_000) -> UnsupportedMemoryItem:
    with pytest.raises(UnsupportedMemoryItem) as caught:
        encode(value, max_chars=max_chars)
    return caught.value


def exactly(value: Any) -> Any:
    """Return a form in which values are equal only if their types, their signs and the order of their keys are."""
    if isinstance(value, dict):
        return dict, [(key, exactly(part)) for key, part in value.items()]
    if isinstance(value, list):
        return list, [exactly(part) for part in value]
    return type(value), repr(value)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


@given(values)
def test_any_json_value_comes_back_with_its_types_and_key_order(value: object) -> None:
    assert exactly(exact_json.decode(encode(value))) == exactly(value)


@given(values)
def test_the_text_is_ascii_json(value: object) -> None:
    text = encode(value)

    assert text.isascii()
    assert json.loads(text) == value


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        1,
        1.0,
        -0.0,
        1e16,
        1e22,
        5e-324,
        sys.float_info.max,
        0.1 + 0.2,
        2**63,
        -(2**64),
        9007199254740993,
        pytest.param(10**4300 - 1, id="4300 digits"),
        pytest.param(-(10**4300 - 1), id="minus 4300 digits"),
        "",
        "a\0b",
        "hi \ud83d there",
        "\udc81",
        "\ude80\ud83d",
        "\U0001f680",
        "e\u0301",
        "\u2028\u2029\ufeff\u202e",
        "quote ' \" ` \\ / \x7f",
        "NaN",
        "null",
        [],
        {},
        {"": ""},
        {"b": 1, "a": 2},
        {"a": {"z": [1, {"k": False}]}, "\0": None, "\ud83d": [], "a.b": 1, "$": 2},
        [[], {}, [[]], [{}]],
        nested(100),
    ],
)
def test_a_hard_value_comes_back_exactly(value: object) -> None:
    assert exactly(exact_json.decode(encode(value))) == exactly(value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "NaN and infinities are not JSON"),
        (math.inf, "NaN and infinities are not JSON"),
        (-math.inf, "NaN and infinities are not JSON"),
        pytest.param(10**4300, "an integer of more than 4,300 digits", id="4301 digits"),
        pytest.param(-(10**4300), "an integer of more than 4,300 digits", id="minus 4301 digits"),
        ("\ud83d\ude80", "a high surrogate directly followed by a low one would become one character"),
        ({"\ud83d\ude80": 1}, "a high surrogate directly followed by a low one would become one character"),
        ({1: "a"}, "a key of type int; keys must be str"),
        ({None: "a"}, "a key of type NoneType; keys must be str"),
        ({Text("a"): 1}, "a key of type Text; keys must be str"),
        ((1, 2), "tuple is not JSON; convert it to a list"),
        (Point(1, 2), "Point is not JSON; convert it to a list"),
        ({1}, "set is not JSON; convert it to a sorted list"),
        (frozenset(), "frozenset is not JSON; convert it to a sorted list"),
        (b"a", "bytes is not JSON; decode it, or encode it as base64 text"),
        (bytearray(), "bytearray is not JSON; decode it, or encode it as base64 text"),
        (datetime(2026, 1, 1, tzinfo=UTC), "datetime is not JSON; convert it with .isoformat()"),
        (date(2026, 1, 1), "date is not JSON; convert it with .isoformat()"),
        (time(1), "time is not JSON; convert it with .isoformat()"),
        (uuid4(), "UUID is not JSON; convert it with str()"),
        (PurePosixPath("a"), "PurePosixPath is not JSON; convert it with str()"),
        (Decimal(1), "Decimal is not JSON; convert it to str or float"),
        (Color.RED, "Color is not JSON; take its .value"),
        (Model(), "Model is not JSON; convert it with .model_dump(mode='json')"),
        (Pair(), "Pair is not JSON; convert it with dataclasses.asdict()"),
        (1j, "complex is not JSON"),
        (object(), "object is not JSON"),
        (Text("a"), "Text is a subclass of str and would come back as one; convert it with str()"),
        (Level.LOW, "Level is a subclass of int and would come back as one; take its .value"),
        (OrderedDict(), "OrderedDict is a subclass of dict and would come back as one; convert it with dict()"),
    ],
)
def test_what_would_come_back_changed_is_refused_and_the_reason_says_what_to_do(value: object, reason: str) -> None:
    assert refusal(value).reason == reason


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (math.nan, "content"),
        ([1, 2, math.nan], "content[2]"),
        ({"scores": [0, 1, 2, {3}]}, "content.scores[3]"),
        ({"a": {"b c": [b""]}}, "content.a['b c'][0]"),
        ({"é": {"": {"a.b": math.inf}}}, "content['\\xe9']['']['a.b']"),
        ({"good": 1, "bad": {1: 2}}, "content.bad"),
        ([{"deep": [[{"a": ()}]]}], "content[0].deep[0][0].a"),
        ([[0, (1,)], (2,)], "content[0][1]"),
    ],
)
def test_a_refusal_names_the_place(value: object, path: str) -> None:
    error = refusal(value)

    assert (error.field, error.path) == ("content", path)


def test_a_refusal_shows_no_value() -> None:
    assert "s3cret" not in str(refusal({"a": [Text("s3cret")], "b": b"s3cret"}))


def test_101_containers_inside_each_other_are_too_deep() -> None:
    assert refusal(nested(101)).reason == "nested over 100 deep"
    assert refusal(nested(5_000)).reason == "nested over 100 deep"


def test_a_value_that_contains_itself_is_refused_as_such() -> None:
    in_list: list[Any] = [1]
    in_list.append([in_list])
    in_dict: dict[str, Any] = {"a": 1}
    in_dict["b"] = [in_dict]

    assert refusal(in_list).reason == "it contains itself"
    assert refusal(in_dict).reason == "it contains itself"


def test_a_part_that_is_shared_is_no_cycle() -> None:
    part = {"k": [1]}

    assert exact_json.decode(encode([part, part])) == [part, part]


@pytest.mark.parametrize("bomb", [lambda part: [part, part], lambda part: {"a": part, "b": part}])
def test_parts_shared_exponentially_often_are_refused_before_they_are_all_seen(bomb: Any) -> None:
    value: object = "x"
    for _ in range(90):
        value = bomb(value)

    assert refusal(value, max_chars=10_000).reason == "over the size limit of 10,000 characters of JSON"


@given(values)
def test_the_size_limit_is_the_length_of_the_text(value: object) -> None:
    size = len(encode(value))

    assert encode(value, max_chars=size)
    assert refusal(value, max_chars=size - 1).reason == f"over the size limit of {size - 1:,} characters of JSON"


def test_an_interpreter_that_writes_fewer_digits_refuses_the_integer() -> None:
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(700)
    try:
        assert refusal(10**1000).reason.startswith("this interpreter cannot write it")
    finally:
        sys.set_int_max_str_digits(digits)


@pytest.mark.parametrize("text", ["", "{", "[1,]", "nope", "NaN", '{"a":-Infinity}', "[" * 100_000, None, 5, b"{}"])
def test_a_stored_text_that_is_no_json_is_a_malformed_payload(text: Any) -> None:
    with pytest.raises(MalformedMemoryPayload):
        exact_json.decode(text)


def comparable(value: Any) -> Any:
    """Return a plain reference of JSON equality: Python's, but booleans are no numbers."""
    if isinstance(value, dict):
        return frozenset((key, comparable(part)) for key, part in value.items())
    if isinstance(value, list):
        return tuple(comparable(part) for part in value)
    return (isinstance(value, bool), value)


small = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 0.0, -0.0, 1.0, 0.5, "", "0", "1", "true", "null", 2**53, 2.0**53]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["", "{", "a", "b"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(first=small, second=small)
@example(first={"a": 1, "b": 2}, second={"b": 2.0, "a": 1.0})
@example(first=[["a", 1]], second={"a": 1})
@example(first={"{": [["a", 1]]}, second={"a": 1})
@example(first=2**53 + 1, second=2.0**53)
@example(first=10**22, second=1e22)
def test_values_have_one_canonical_text_exactly_when_they_are_equal_as_json(first: object, second: object) -> None:
    equal = exact_json.canonical(first) == exact_json.canonical(second)

    assert equal == (comparable(first) == comparable(second))


@given(values)
def test_a_copy_is_equal_and_shares_no_container(value: object) -> None:
    copied = exact_json.copy(value)

    assert exactly(copied) == exactly(value)
    assert containers(copied).isdisjoint(containers(value))


def containers(value: object) -> set[int]:
    if isinstance(value, dict):
        return {id(value)}.union(*map(containers, value.values()))
    if isinstance(value, list):
        return {id(value)}.union(*map(containers, value))
    return set()
