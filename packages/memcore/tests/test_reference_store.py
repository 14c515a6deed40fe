"""`InMemoryStore`, the reference that hosts get by default (I-10, I-20, I-21)."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import InMemoryStore, MemoryItem, MemoryQuery, MemoryStore


class Note(MemoryItem):
    author: str = "ada"


async def filled(*items: MemoryItem) -> InMemoryStore:
    store = InMemoryStore()
    for item in items:
        await store.store(item)
    return store


async def contents(store: MemoryStore, **query: Any) -> list[Any]:
    return [item.content for item in await store.search(MemoryQuery(**query))]


async def test_it_offers_the_three_methods_and_no_manifest() -> None:
    store = InMemoryStore()

    assert isinstance(store, MemoryStore)
    assert [name for name in dir(store) if not name.startswith("_")] == ["retrieve", "search", "store"]


async def test_it_gives_back_the_live_object_at_once() -> None:
    item = MemoryItem(content=object(), metadata={"any": object()})
    store = InMemoryStore()

    assert await store.store(item) == item.id
    assert await store.retrieve(item.id) is item
    assert (await store.search(MemoryQuery()))[0] is item


async def test_subclasses_are_kept_as_they_are() -> None:
    note = Note(author="grace")
    store = await filled(note)

    assert await store.retrieve(note.id) is note


@pytest.mark.parametrize("wrong", [None, "tea", {"id": uuid4()}])
async def test_what_is_no_item_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match="MemoryItem"):
        await InMemoryStore().store(wrong)


async def test_an_unknown_id_is_a_miss() -> None:
    store = await filled(MemoryItem())

    assert await store.retrieve(uuid4()) is None


async def test_a_known_id_is_replaced_in_place() -> None:
    first, second = MemoryItem(content="first"), MemoryItem(content="second")
    store = await filled(first, second, MemoryItem(id=first.id, content="changed"))

    assert await contents(store) == ["changed", "second"]


async def test_two_stores_share_nothing() -> None:
    store = await filled(MemoryItem())

    assert await store.search(MemoryQuery())
    assert await InMemoryStore().search(MemoryQuery()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("TEA", ["Ada prefers tea"]),
        ("prefers te", ["Ada prefers tea"]),
        ("'k': [1", [{"k": [1, 2]}]),
        ("one", [None]),
        ("  ", []),
        ("", ["Ada prefers tea", {"k": [1, 2]}, None]),
        (None, ["Ada prefers tea", {"k": [1, 2]}, None]),
    ],
)
async def test_text_is_a_substring_of_the_content_as_a_string_in_any_case(text: str | None, found: list[Any]) -> None:
    store = await filled(MemoryItem(content="Ada prefers tea"), MemoryItem(content={"k": [1, 2]}), MemoryItem())

    assert await contents(store, text=text) == found


@pytest.mark.parametrize(
    ("tags", "found"),
    [(["a"], [1]), (["a", "b", "a"], [1, 2]), (["A"], []), ([], [1, 2, 3]), (None, [1, 2, 3])],
)
async def test_any_tag_is_enough_and_its_case_counts(tags: list[str] | None, found: list[int]) -> None:
    store = await filled(
        MemoryItem(content=1, tags=["a", "x"]), MemoryItem(content=2, tags=["b"]), MemoryItem(content=3)
    )

    assert await contents(store, tags=tags) == found


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"k": 1}, [1]),
        ({"k": None}, [2, 3]),
        ({"k": 1, "other": "x"}, [1]),
        ({"k": 1, "other": "y"}, []),
        ({"k.deep": 1}, []),
        ({}, [1, 2, 3]),
        (None, [1, 2, 3]),
    ],
)
async def test_all_filters_must_equal_and_none_matches_a_missing_key(
    filters: dict[str, Any] | None, found: list[int]
) -> None:
    described = MemoryItem(content=1, metadata={"k": 1, "other": "x"}), MemoryItem(content=2, metadata={"k": None})
    store = await filled(*described, MemoryItem(content=3))

    assert await contents(store, filters=filters) == found


async def test_filters_compare_as_python_does() -> None:
    marker = object()
    store = await filled(MemoryItem(content=1, metadata={"a": True, "b": marker}))

    assert await contents(store, filters={"a": 1, "b": marker}) == [1]


async def test_the_axes_are_anded() -> None:
    store = await filled(
        MemoryItem(content="tea one", tags=["x"], metadata={"k": 1}),
        MemoryItem(content="tea two", tags=["x"], metadata={"k": 2}),
        MemoryItem(content="tea three", tags=["y"], metadata={"k": 1}),
        MemoryItem(content="coffee", tags=["x"], metadata={"k": 1}),
    )

    assert await contents(store, text="tea", tags=["x"], filters={"k": 1}) == ["tea one"]


@given(count=st.integers(0, 6), limit=st.integers(-8, 8))
async def test_the_limit_is_a_slice_negative_ones_included(count: int, limit: int) -> None:
    store = await filled(*(MemoryItem(content=number) for number in range(count)))

    assert await contents(store, limit=limit) == list(range(count))[:limit]


async def test_the_default_limit_is_twenty() -> None:
    store = await filled(*(MemoryItem(content=number) for number in range(30)))

    assert await contents(store) == list(range(20))


async def test_a_result_is_a_snapshot() -> None:
    store = await filled(MemoryItem(content=1))
    found = await store.search(MemoryQuery())
    await store.store(MemoryItem(content=2))

    assert [item.content for item in found] == [1]


async def test_the_id_decides_not_the_object() -> None:
    item = MemoryItem()
    store = await filled(item)

    assert await store.retrieve(UUID(str(item.id))) is item
