"""The error tree: its shape, its data, and messages that are safe to show (I-70 and the tree of the contract)."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from memcore import MemoryRecord, errors
from memcore.errors import (
    MalformedMemoryPayload,
    MemcoreError,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    MemoryConflict,
    MemoryNotFound,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEAD = MemoryRecord(id=uuid4(), content="tea", created_at=NOW, updated_at=NOW)
EXAMPLES = [
    MemcoreError("m"),
    MemoryAdapterError("m"),
    UnsupportedMemoryQuery(["b", "a"], reason="why"),
    UnsupportedMemoryItem(field="content", path="content.a", reason="why"),
    MemoryAdapterUnavailable("m"),
    MemoryConflict("m", current=HEAD),
    MemoryNotFound("m"),
    MalformedMemoryPayload("m"),
    MemoryConfigurationError("m"),
]


def test_the_tree_at_the_top_of_the_module_draws_every_error() -> None:
    drawn = re.findall("── ([A-Za-z]+)", str(errors.__doc__))
    classes = [member for _, member in inspect.getmembers(errors, inspect.isclass)]

    assert sorted(drawn) == sorted(member.__name__ for member in classes if MemcoreError in member.__mro__[1:])


@pytest.mark.parametrize(
    ("error", "parents"),
    [
        (MemoryAdapterError, (MemcoreError, RuntimeError)),
        (UnsupportedMemoryQuery, (MemoryAdapterError,)),
        (UnsupportedMemoryItem, (MemoryAdapterError,)),
        (MemoryAdapterUnavailable, (MemoryAdapterError,)),
        (MemoryConflict, (MemoryAdapterError,)),
        (MemoryNotFound, (MemoryAdapterError,)),
        (MalformedMemoryPayload, (MemoryAdapterError,)),
        (MemoryConfigurationError, (MemcoreError, ValueError)),
    ],
)
def test_every_error_has_its_place_in_the_tree(error: type, parents: tuple[type, ...]) -> None:
    assert error.__bases__ == parents


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_data_when_pickled_and_copied(error: MemcoreError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own bytes
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_rejected_keys_are_sorted_and_unique() -> None:
    error = UnsupportedMemoryQuery(key for key in ["limit", "b", "a", "b"])

    assert error.rejected_keys == ("a", "b", "limit")
    assert str(error) == "unsupported memory query keys: a, b, limit"


def test_the_reason_of_an_unsupported_query_is_told() -> None:
    assert str(UnsupportedMemoryQuery(["limit"], reason="why")) == "unsupported memory query keys: limit (why)"


def test_an_unsupported_item_names_field_path_and_reason() -> None:
    error = UnsupportedMemoryItem(field="content", path="content.scores[3]", reason="why")

    assert (error.field, error.path, error.reason) == ("content", "content.scores[3]", "why")
    assert str(error) == "unsupported memory item: content.scores[3]: why"


def test_the_path_of_an_unsupported_item_is_its_field_by_default() -> None:
    assert UnsupportedMemoryItem(field="tags", reason="why").path == "tags"


def test_a_conflict_carries_the_current_state_where_it_is_known() -> None:
    assert MemoryConflict("lost").current is None
    assert MemoryConflict("lost", current=HEAD).current == HEAD


@pytest.mark.parametrize("key", ["a\0b", "\ud83d", "a\nb", "\x1b[31m", "\u202e"], ids=ascii)
def test_a_message_is_printable_everywhere(key: str) -> None:
    for error in (UnsupportedMemoryQuery([key]), UnsupportedMemoryItem(field="content", path=key, reason="why")):
        assert str(error).isprintable()
        assert str(error).encode("utf-8")
    assert UnsupportedMemoryQuery([key]).rejected_keys == (key,)
