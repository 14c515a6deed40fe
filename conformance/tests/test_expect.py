from __future__ import annotations

from typing import Any

import pytest
from memcore import MemoryItem
from memcore_conformance import expect
from memcore_conformance.verdicts import Mismatch


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ("1", 1),
        ([1, [2]], [1, [2.0]]),
        ([1], [1, 2]),
        ((1,), [1]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": {"b": None}}, {"a": {"b": False}}),
        (None, 0),
    ],
)
def test_values_that_only_look_alike_are_told_apart(got: object, wanted: object) -> None:
    with pytest.raises(Mismatch):
        expect.equal(got, wanted)


@pytest.mark.parametrize("value", [None, 1, 1.5, -0.0, "\ud800\x00", [1, {"a": [True]}], {"b": 1, "a": {}}])
def test_a_value_equals_itself(value: object) -> None:
    expect.equal(value, value)


def test_a_difference_names_its_place() -> None:
    with pytest.raises(Mismatch, match=r"content\['scores'\]\[1\] is int, not float"):
        expect.equal({"scores": [1.0, 2]}, {"scores": [1.0, 2.0]}, what="content")


@pytest.mark.parametrize("field", ["content", "tags", "metadata", "created_at"])
def test_items_of_one_id_are_compared_field_by_field(field: str) -> None:
    values: dict[str, Any] = {"content": "tea", "tags": ["t"], "metadata": {"k": 1}, "created_at": 1.0}
    item = MemoryItem(**values)
    other = MemoryItem(
        id=item.id, **values | {field: {"content": 1, "tags": [], "metadata": {}, "created_at": 2.0}[field]}
    )
    with pytest.raises(Mismatch, match=field):
        expect.same_item(other, item)
    expect.same_item(other, item, fields={"id"})


def test_the_very_object_that_was_stored_is_not_fresh() -> None:
    item = MemoryItem()
    with pytest.raises(Mismatch, match="the very object"):
        expect.same_item(item, item)


def test_a_subclass_is_no_plain_item() -> None:
    class Mine(MemoryItem):
        pass

    item = MemoryItem()
    with pytest.raises(Mismatch):
        expect.same_item(Mine(id=item.id, created_at=item.created_at), item)


def test_hits_are_compared_in_order_unless_it_is_free() -> None:
    first, second = MemoryItem(), MemoryItem()
    expect.ids([first, second], [second.id, first.id], ordered=False)
    with pytest.raises(Mismatch):
        expect.ids([first, second], [second, first])


def test_the_same_hit_twice_is_not_once() -> None:
    item = MemoryItem()
    with pytest.raises(Mismatch):
        expect.ids([item, item], [item], ordered=False)


def test_hits_come_as_a_list() -> None:
    item = MemoryItem()
    with pytest.raises(Mismatch, match="a list"):
        expect.ids((item,), [item])


def test_contains_and_lacks_are_opposites() -> None:
    item, other = MemoryItem(), MemoryItem()
    expect.contains([item], item)
    expect.lacks([item], other)
    with pytest.raises(Mismatch):
        expect.contains([item], other)
    with pytest.raises(Mismatch):
        expect.lacks([item], item)


def test_an_expected_error_is_kept() -> None:
    with expect.raises(KeyError, ValueError) as caught:
        raise ValueError("x")
    assert str(caught.error) == "x"


def test_an_error_that_does_not_come_is_a_difference() -> None:
    with pytest.raises(Mismatch, match="got no error"), expect.raises(ValueError):
        pass


def test_another_error_is_a_difference_that_names_both() -> None:
    with pytest.raises(Mismatch, match="expected ValueError, got KeyError: 'k'"), expect.raises(ValueError):
        raise KeyError("k")


def test_an_error_must_meet_its_condition() -> None:
    naming_y = expect.raises(ValueError, where=lambda error: "y" in str(error), what="naming y")
    with pytest.raises(Mismatch, match="expected ValueError naming y"), naming_y:
        raise ValueError("x")


def test_a_difference_inside_is_not_the_expected_error() -> None:
    with pytest.raises(Mismatch, match="is None"), expect.raises(Exception):
        expect.none(1)


def test_descriptions_are_short_and_printable() -> None:
    text = expect.describe("\ud800\n" + "x" * 1000)
    assert text.isprintable()
    assert len(text) <= 200


def test_a_foreign_repr_that_raises_is_described_all_the_same() -> None:
    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError

    assert expect.describe(Rude()) == "a Rude whose repr raises RuntimeError"
