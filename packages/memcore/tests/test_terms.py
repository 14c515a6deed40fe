"""Exact conditions as digests (I-67, I-81, B-04)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from memcore.kit.query import matches_filters
from memcore.kit.terms import TERM_BYTES, entry_term, index_terms, namespace_term, tag_term

values: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([True, False, 0, 1, -1, 1.0, -0.0, 0.5, "", "0", "1", "true", "a", 2**53 + 1, 2.0**53])
    | st.integers()
    | st.text(max_size=3),
    lambda inner: st.lists(inner | st.none(), max_size=2) | st.dictionaries(st.text(max_size=1), inner, max_size=2),
    max_leaves=4,
)


@given(stored=values, wanted=values)
@example(stored=1, wanted=1.0)
@example(stored=1, wanted=True)
@example(stored="1", wanted=1)
@example(stored={"a": 1, "b": [True]}, wanted={"b": [True], "a": 1.0})
@example(stored=[1, None], wanted=[1.0, None])
def test_two_entries_have_one_term_exactly_when_they_match_as_json(stored: object, wanted: object) -> None:
    same = entry_term("n", "k", stored) == entry_term("n", "k", wanted)

    assert same == matches_filters({"k": stored}, {"k": wanted})


@pytest.mark.parametrize(
    ("stored", "wanted", "matches"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (10**22, 1e22, True),
        (2**53 + 1, 2.0**53, False),
        (True, 1, False),
        (False, 0, False),
        (True, True, True),
        ("1", 1, False),
        ("a", "A", False),
        ("e\u0301", "\xe9", False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": [1, {"b": False}]}, {"a": [1.0, {"b": False}]}, True),
        ({"a": [1, {"b": False}]}, {"a": [1.0, {"b": 0}]}, False),
        ([1, 2], [2, 1], False),
        ([], {}, False),
        (None, None, True),
        (None, 0, False),
        (None, False, False),
        (None, "", False),
        ([None], [None], True),
        ("\0", "\0", True),
        ("\ud83d", "\ud83d", True),
        ("\ud83d", "\ufffd", False),
    ],
)
def test_filters_match_as_json_equality_does(stored: object, wanted: object, *, matches: bool) -> None:
    assert matches_filters({"k": stored}, {"k": wanted}) is matches


def test_none_matches_a_missing_key_and_null() -> None:
    assert matches_filters({}, {"k": None})
    assert matches_filters({"k": None}, {"k": None})
    assert not matches_filters({"k": False}, {"k": None})


def test_every_filter_must_match() -> None:
    assert matches_filters({"a": 1, "b": 2}, {"a": 1, "b": 2})
    assert not matches_filters({"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert matches_filters({"a": 1}, {})


parts = st.text(st.characters(exclude_categories=()), max_size=3)


@given(first=st.tuples(parts, parts, parts), second=st.tuples(parts, parts, parts))
@example(first=("a", "b", "c"), second=("ab", "", "c"))
@example(first=("a", "b", "c"), second=("a", "bc", ""))
@example(first=("a", "k" * 70, "v" * 70), second=("a", "k" * 69, "k" + "v" * 70))
def test_namespace_key_and_value_never_run_into_each_other(
    first: tuple[str, str, str], second: tuple[str, str, str]
) -> None:
    assert (entry_term(*first) == entry_term(*second)) == (first == second)


@pytest.mark.parametrize(
    ("key", "other"),
    [("trace.id", "trace"), ("$.temp", "temp"), ("tags[0]", "tags"), ("x') OR 1=1 --", "x"), ("a\0b", "a"), ("", " ")],
)
def test_a_key_is_one_literal_key_whatever_its_characters(key: str, other: str) -> None:
    assert entry_term("n", key, 1) == entry_term("n", key, 1)
    assert entry_term("n", key, 1) != entry_term("n", other, 1)


def test_a_tag_is_never_taken_for_a_metadata_entry() -> None:
    assert tag_term("n", "a") not in {entry_term("n", "", "a"), entry_term("n", "tag", "a"), entry_term("n", "a", "")}


def test_a_string_is_never_taken_for_the_json_it_spells() -> None:
    assert entry_term("n", "k", "[1]") != entry_term("n", "k", [1])
    assert entry_term("n", "k", '"a"') != entry_term("n", "k", "a")


def test_a_namespace_has_a_term_of_its_own() -> None:
    assert namespace_term("a") not in {namespace_term("b"), tag_term("a", ""), entry_term("a", "", "")}


def test_another_namespace_has_other_terms() -> None:
    assert tag_term("a", "x") != tag_term("b", "x")
    assert entry_term("a", "k", [1]) != entry_term("b", "k", [1])


def test_an_item_stands_under_each_tag_and_each_entry_that_is_not_null() -> None:
    terms = index_terms("n", tags=["x", "x", ""], metadata={"a": 1, "b": None, "c": [None]})

    assert terms == {tag_term("n", "x"), tag_term("n", ""), entry_term("n", "a", 1), entry_term("n", "c", [None])}
    assert {len(term) for term in terms} == {TERM_BYTES}


def test_terms_never_change_since_stores_keep_them() -> None:
    assert tag_term("default", "ada").hex() == "6fa55a701bbeb34adc3b9142"
    assert entry_term("default", "year", 2026).hex() == "5bdfc52171f9aaf4402af585"
    assert entry_term("default", "kind", "note").hex() == "30f776e3435e3327f4a6dfcc"
