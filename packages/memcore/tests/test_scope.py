"""`Scope`: a flat, canonical map of strings (R-01)."""

from __future__ import annotations

import copy
import pickle
from collections import UserDict
from enum import Enum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import Scope
from pydantic import BaseModel, ValidationError

pairs = st.dictionaries(st.text(min_size=1, max_size=3), st.text(max_size=3), max_size=4)


class User(str, Enum):  # noqa: UP042 - the kind whose str() is not its value
    ADA = "ada"


class Described(BaseModel):
    scope: Scope


def test_the_order_of_the_pairs_does_not_count() -> None:
    first, second = Scope({"user": "ada", "thread": "t1"}), Scope({"thread": "t1", "user": "ada"})

    assert first == second
    assert hash(first) == hash(second)
    assert list(first) == ["thread", "user"]
    assert repr(first) == repr(second) == "Scope({'thread': 't1', 'user': 'ada'})"


@given(first=pairs, second=pairs)
def test_scopes_are_equal_and_hash_alike_exactly_when_their_pairs_are(
    first: dict[str, str], second: dict[str, str]
) -> None:
    assert (Scope(first) == Scope(second)) == (first == second)
    assert (Scope(first) == second) == (first == second)
    if first == second:
        assert hash(Scope(first)) == hash(Scope(second))


@given(scope=pairs, condition=pairs)
def test_a_scope_contains_a_condition_when_all_its_pairs_are_there(
    scope: dict[str, str], condition: dict[str, str]
) -> None:
    assert Scope(scope).contains(condition) == (scope | condition == scope)
    assert Scope(scope).contains(Scope(condition)) == (scope | condition == scope)
    assert Scope(scope | condition).contains(condition)


@pytest.mark.parametrize(
    "condition",
    [{"user": "user_1"}, {"user": "user_"}, {"user": "USER_10"}, {"user": "*"}, {"User": "user_10"}, {"thread": ""}],
)
def test_containing_is_exact_without_prefix_wildcard_or_case_folding(condition: dict[str, str]) -> None:
    assert not Scope({"user": "user_10"}).contains(condition)


@pytest.mark.parametrize("condition", [{}, Scope(), Scope({"user": "ada"})])
def test_an_empty_condition_and_the_scope_itself_are_contained(condition: Any) -> None:
    assert Scope({"user": "ada"}).contains(condition)


@pytest.mark.parametrize("condition", [{"user": None}, {"thread": None}, {"user": 5}, "user", ["user"]])
def test_a_condition_that_is_no_scope_is_an_error_and_never_everyone(condition: Any) -> None:
    with pytest.raises(TypeError, match="scope"):
        Scope({"user": "ada"}).contains(condition)


def test_it_reads_like_a_map_and_cannot_be_changed() -> None:
    scope = Scope({"user": "ada"})

    assert (scope["user"], len(scope), "user" in scope, dict(scope)) == ("ada", 1, True, {"user": "ada"})
    with pytest.raises(TypeError):
        scope["user"] = "grace"  # type: ignore[index]


def test_a_change_of_the_given_map_changes_nothing() -> None:
    given_pairs = {"user": "ada"}
    scope = Scope(given_pairs)
    given_pairs["user"] = "grace"

    assert scope["user"] == "ada"


@pytest.mark.parametrize("empty", [None, {}, Scope()])
def test_a_scope_may_be_empty(empty: Any) -> None:
    assert Scope(empty) == {}


def test_an_empty_key_is_refused_and_an_empty_value_is_not() -> None:
    with pytest.raises(ValueError, match="a scope key must not be empty"):
        Scope({"": "ada"})
    assert Scope({"user": ""})["user"] == ""


@pytest.mark.parametrize(
    "wrong",
    [{"user": 1}, {"user": None}, {1: "ada"}, {"user": {"id": "ada"}}, {"user": b"ada"}, "", "ab", 0, [], False],
)
def test_what_is_no_map_of_strings_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a scope"):
        Scope(wrong)


def test_the_value_of_a_string_enum_counts_not_its_name() -> None:
    scope = Scope({"user": User.ADA})

    assert type(scope["user"]) is str
    assert repr(scope) == "Scope({'user': 'ada'})"


@pytest.mark.parametrize("mapping", [MappingProxyType({"user": "ada"}), UserDict(user="ada"), Scope({"user": "ada"})])
def test_any_map_makes_a_scope_and_equals_it(mapping: Any) -> None:
    assert Scope(mapping) == mapping
    assert Described(scope=mapping).scope == mapping


def test_it_equals_nothing_that_is_no_map() -> None:
    assert Scope() != []
    assert Scope({"user": "ada"}) != "ada"


def test_it_can_be_pickled_and_copied() -> None:
    scope = Scope({"user": "ada"})

    assert pickle.loads(pickle.dumps(scope)) == copy.deepcopy(scope) == scope  # noqa: S301 - our own bytes


def test_a_model_holds_a_scope_and_dumps_a_plain_map() -> None:
    described = Described.model_validate_json('{"scope": {"user": "ada", "thread": "t1"}}')

    assert type(described.scope) is Scope
    assert type(described.model_dump()["scope"]) is dict
    assert described.model_dump_json() == '{"scope":{"thread":"t1","user":"ada"}}'


def test_a_model_keeps_any_characters_of_keys_and_values() -> None:
    assert Described.model_validate({"scope": {"\ud83d\x00": "\ud83d\x00"}}).scope["\ud83d\x00"] == "\ud83d\x00"


@pytest.mark.parametrize("wrong", [None, "ada", ["ada"], {"": "x"}, {"user": 1}, {"user": None}, {"user": b"ada"}])
def test_what_is_no_scope_is_a_validation_error_of_its_model(wrong: object) -> None:
    with pytest.raises(ValidationError):
        Described.model_validate({"scope": wrong})


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_its_schema_is_a_map_of_strings(mode: Any) -> None:
    schema = Described.model_json_schema(mode=mode)["properties"]["scope"]

    assert (schema["type"], schema["additionalProperties"]) == ("object", {"type": "string"})
