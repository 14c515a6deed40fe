"""`MemoryQuery` as a model (I-02, I-03)."""

from __future__ import annotations

import pytest
from memcore import MemoryQuery
from pydantic import ValidationError


def test_a_query_asks_for_the_first_twenty_of_everything_by_default() -> None:
    query = MemoryQuery()

    assert (query.text, query.tags, query.filters, query.limit) == (None, None, None, 20)


@pytest.mark.parametrize("limit", [0, -1, 10**30])
def test_any_integer_is_a_limit(limit: int) -> None:
    assert MemoryQuery(limit=limit).limit == limit


def test_empty_axes_are_valid_and_stay_as_they_are() -> None:
    query = MemoryQuery(text="", tags=[], filters={})

    assert (query.text, query.tags, query.filters) == ("", [], {})


@pytest.mark.parametrize("text", ["\0", "\ud83d", "'; DROP TABLE items; --", "a" * 1_000_000])
def test_any_text_is_valid(text: str) -> None:
    assert MemoryQuery(text=text).text == text


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": 5},
        {"tags": "tea"},
        {"tags": [1]},
        {"filters": ["a"]},
        {"filters": {1: 2}},
        {"limit": None},
        {"limit": "many"},
        {"limit": 1.5},
    ],
)
def test_an_axis_of_a_wrong_type_is_a_validation_error(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        MemoryQuery.model_validate(wrong)


def test_an_unknown_axis_is_refused_instead_of_ignored() -> None:
    with pytest.raises(ValidationError, match="tag"):
        MemoryQuery.model_validate({"text": "tea", "tag": ["ada"]})
