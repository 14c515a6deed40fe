"""The items of `memory://`: writing, reading, erasing, scanning (I-40 to I-51, I-80 to I-82, I-71)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import memcore
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import (
    MemoryItem,
    MemoryQuery,
    SizeLimits,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore.kit.index import Index
from memcore.kit.query import LARGEST_LIMIT, encode_cursor
from memcore.kit.ranking import ITEM_WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from memcore import Backend
    from memcore.items.in_memory import InMemoryItems

REFUSED = MemoryItem(content="tea", metadata={"k": math.nan})


@dataclass
class HostItem:
    id: UUID = field(default_factory=uuid4)
    created_at: float = 1.5
    metadata: dict[str, Any] = field(default_factory=lambda: {"k": 1})
    content: Any = "tea"
    tags: list[str] = field(default_factory=lambda: ["x"])


def exactly(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, exactly(part)) for key, part in value.items()]
    if isinstance(value, list):
        return list, [exactly(part) for part in value]
    return type(value), repr(value)


def fields(item: MemoryItem | None) -> Any:
    assert type(item) is MemoryItem
    return item.id, exactly(item.created_at), exactly(item.metadata), exactly(item.content), exactly(item.tags)


async def everything(items: InMemoryItems) -> dict[UUID, Any]:
    found = await items.search(MemoryQuery(limit=LARGEST_LIMIT))
    return {item.id: item.content for item in found}


texts = st.text() | st.sampled_from(["\0", "\ud83d", "\udc81", "e\u0301", "1", "null"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
seconds = st.floats(allow_nan=False, allow_infinity=False)


@given(content=values, metadata=st.dictionaries(texts, values, max_size=3), tags=st.lists(texts), created_at=seconds)
async def test_every_field_comes_back_equal_and_of_equal_type(
    content: object, metadata: dict[str, Any], tags: list[str], created_at: float
) -> None:
    item = MemoryItem(content=content, metadata=metadata, tags=tags, created_at=created_at)
    async with memcore.connect("memory://") as backend:
        assert await backend.items.store(item) == item.id
        assert fields(await backend.items.retrieve(item.id)) == fields(item)
        (found,) = await backend.items.search(MemoryQuery())
        assert fields(found) == fields(item)


async def test_a_hosts_own_item_comes_back_as_ours(items: InMemoryItems) -> None:
    host: Any = HostItem()
    await items.store(host)

    assert fields(await items.retrieve(host.id)) == fields(MemoryItem(**vars(host)))


async def test_a_subclass_comes_back_as_an_item_without_undeclared_attributes(items: InMemoryItems) -> None:
    class Note(MemoryItem):
        author: str = "ada"

    note = Note(content="tea")
    await items.store(note)
    (found,) = await items.search(MemoryQuery())

    assert type(found) is MemoryItem
    assert not hasattr(found, "author")


async def test_what_the_caller_changes_later_changes_nothing_stored(items: InMemoryItems) -> None:
    item = MemoryItem(content={"a": [1]}, metadata={"k": [1]}, tags=["x"])
    await items.store(item)
    for changed in (item, await items.retrieve(item.id), (await items.search(MemoryQuery()))[0]):
        assert changed is not None
        changed.content["a"].append(2)
        changed.metadata["k"].append(2)
        changed.tags.append("y")

    kept = await items.retrieve(item.id)
    assert kept is not None
    assert (kept.content, kept.metadata, kept.tags) == ({"a": [1]}, {"k": [1]}, ["x"])


async def test_the_last_write_of_an_id_replaces_all_of_the_one_before(items: InMemoryItems) -> None:
    old = MemoryItem(content="tea", metadata={"old": 1}, tags=["old"], created_at=5)
    new = MemoryItem(id=old.id, content="coffee", created_at=3)
    await items.store(old)
    await items.store(new)

    assert fields(await items.retrieve(old.id)) == fields(new)
    assert await items.count() == 1
    for gone in (MemoryQuery(text="tea"), MemoryQuery(tags=["old"]), MemoryQuery(filters={"old": 1})):
        assert await items.search(gone) == []
    assert await items.search(MemoryQuery(text="coffee", filters={"old": None})) == [new]


async def test_a_refused_write_leaves_what_was_there(items: InMemoryItems) -> None:
    item = MemoryItem(content="tea")
    await items.store(item)

    with pytest.raises(UnsupportedMemoryItem, match="content: tuple is not JSON"):
        await items.store(MemoryItem(id=item.id, content=("coffee",)))
    assert await everything(items) == {item.id: "tea"}


@pytest.mark.parametrize("wrong", [None, "tea", {"id": uuid4()}, 5])
async def test_what_is_no_item_is_refused(items: InMemoryItems, wrong: Any) -> None:
    with pytest.raises(UnsupportedMemoryItem, match=f"{type(wrong).__name__} has no attribute 'id'"):
        await items.store(wrong)


async def test_limits_of_the_instance_are_kept() -> None:
    async with memcore.connect("memory://", limits=SizeLimits(content=10, batch=2)) as backend:
        items: Any = backend.items
        await items.store(MemoryItem(content="12345678"))
        with pytest.raises(UnsupportedMemoryItem, match="over the size limit of 10 characters"):
            await items.store(MemoryItem(content="123456789"))
        with pytest.raises(UnsupportedMemoryItem, match="over the limit of 2 items"):
            await items.store_many([MemoryItem()] * 3)
        with pytest.raises(UnsupportedMemoryItem, match="over the limit of 2 ids"):
            await items.delete_many([uuid4()] * 3)
        assert await items.count() == 1


async def test_what_is_beyond_the_indexing_bound_is_kept_and_found_by_its_first_part(items: InMemoryItems) -> None:
    item = MemoryItem(content="first " + "filler " * 200_000 + "last")
    await items.store(item)

    assert fields(await items.retrieve(item.id)) == fields(item)
    assert await items.search(MemoryQuery(text="first")) == [item]


async def test_an_unknown_id_is_a_miss(items: InMemoryItems) -> None:
    await items.store(MemoryItem())

    assert await items.retrieve(uuid4()) is None


@pytest.mark.parametrize("wrong", [str(uuid4()), None, 5, ""])
async def test_an_id_that_is_no_uuid_is_an_error_not_a_miss(items: InMemoryItems, wrong: Any) -> None:
    for use in (items.retrieve, items.delete, lambda item_id: items.delete_many([uuid4(), item_id])):
        with pytest.raises(UnsupportedMemoryQuery, match="a UUID is needed"):
            await use(wrong)


async def test_many_are_stored_with_their_ids_in_input_order(items: InMemoryItems) -> None:
    batch = [MemoryItem(content=number) for number in range(5)]

    assert await items.store_many(batch) == [item.id for item in batch]
    assert await everything(items) == {item.id: item.content for item in batch}


async def test_the_last_of_duplicates_wins(items: InMemoryItems) -> None:
    first, other = MemoryItem(content="first"), MemoryItem(content="other")
    last = MemoryItem(id=first.id, content="last")

    assert await items.store_many([first, other, last]) == [first.id, other.id, first.id]
    assert await everything(items) == {first.id: "last", other.id: "other"}
    assert await items.search(MemoryQuery(text="first")) == []


async def test_an_empty_batch_is_nothing(items: InMemoryItems) -> None:
    assert await items.store_many([]) == []
    assert await items.delete_many([]) == 0


async def test_one_refused_item_refuses_the_batch(items: InMemoryItems) -> None:
    with pytest.raises(UnsupportedMemoryItem) as caught:
        await items.store_many([MemoryItem(), MemoryItem(), REFUSED])

    assert caught.value.path == "items[2].metadata.k"
    assert await items.count() == 0


async def test_a_deleted_item_is_gone_from_everything(items: InMemoryItems) -> None:
    gone, kept = (MemoryItem(content="tea", tags=["x"], metadata={"k": 1}) for _ in range(2))
    await items.store_many([gone, kept])

    assert await items.delete(gone.id)
    assert not await items.delete(gone.id)
    assert await items.retrieve(gone.id) is None
    for query in ({}, {"text": "tea"}, {"tags": ["x"]}, {"filters": {"k": 1}}, {"filters": {"none": None}}):
        assert await items.search(MemoryQuery.model_validate(query)) == [kept]
    assert (await items.scan()).items == [kept]
    assert await items.count() == 1


async def test_of_deleted_and_replaced_items_the_index_keeps_nothing(items: InMemoryItems) -> None:
    batch = [MemoryItem(content=f"tea {number}", tags=["x"], metadata={"k": number}) for number in range(3)]
    await items.store_many([*batch, *(MemoryItem(id=item.id, content="coffee") for item in batch)])
    await items.delete_many([item.id for item in batch])

    assert vars(items._index) == vars(Index(ITEM_WEIGHTS))


async def test_deleting_many_tells_how_many_were_there(items: InMemoryItems) -> None:
    batch = [MemoryItem() for _ in range(3)]
    await items.store_many(batch)

    assert await items.delete_many([batch[0].id, batch[2].id, batch[0].id, uuid4()]) == 2
    assert await everything(items) == {batch[1].id: None}


async def test_one_wrong_id_among_many_deletes_none(items: InMemoryItems) -> None:
    item = MemoryItem()
    await items.store(item)

    with pytest.raises(UnsupportedMemoryQuery):
        await items.delete_many([item.id, "nope"])  # type: ignore[list-item]
    assert await items.count() == 1


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"user": "ada"}, ["grace"]),
        ({"user": "grace"}, ["ada one", "ada two"]),
        ({"user": "ada", "n": 1.0}, ["ada two", "grace"]),
        ({"user": None}, ["ada one", "ada two", "grace"]),
        ({"n": None}, ["ada one", "ada two"]),
        ({"user": "ad"}, ["ada one", "ada two", "grace"]),
    ],
)
async def test_deleting_by_filters_takes_the_items_that_match_all(
    items: InMemoryItems, filters: dict[str, Any], left: list[str]
) -> None:
    await items.store(MemoryItem(content="ada one", metadata={"user": "ada", "n": 1}))
    await items.store(MemoryItem(content="ada two", metadata={"user": "ada", "n": 2}))
    await items.store(MemoryItem(content="grace", metadata={"user": "grace"}))

    assert await items.delete_where(filters) == 3 - len(left)
    assert sorted((await everything(items)).values()) == left


@pytest.mark.parametrize("filters", [{}, None, {"k": math.nan}, {1: 2}, "k"])
async def test_a_condition_that_is_empty_or_wrong_deletes_nothing(items: InMemoryItems, filters: Any) -> None:
    await items.store(MemoryItem(metadata={"k": 1}))

    with pytest.raises(UnsupportedMemoryQuery):
        await items.delete_where(filters)
    assert await items.count() == 1


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 10**30])
async def test_a_scan_gives_every_item_once_in_order_of_id(items: InMemoryItems, size: int) -> None:
    batch = [MemoryItem(content=number, created_at=5) for number in range(6)]
    await items.store_many(batch)

    seen, after, pages = [], None, 0
    while pages == 0 or after:
        page = await items.scan(after=after, limit=size)
        assert len(page.items) <= size
        seen += page.items
        after, pages = page.next, pages + 1

    assert [fields(item) for item in seen] == [fields(item) for item in sorted(batch, key=lambda item: item.id)]
    assert pages == math.ceil(6 / size)


async def test_a_scan_of_an_empty_store_is_one_empty_page(items: InMemoryItems) -> None:
    page = await items.scan()

    assert (page.items, page.next) == ([], None)


changes = st.lists(st.tuples(st.sampled_from(["store", "delete"]), st.integers(0, 11)), max_size=4)


@given(present=st.sets(st.integers(0, 11)), size=st.integers(1, 4), steps=st.lists(changes, max_size=12))
async def test_an_item_present_throughout_a_scan_appears_once_whatever_else_is_written(
    present: set[int], size: int, steps: list[list[tuple[str, int]]]
) -> None:
    async with memcore.connect("memory://") as backend:
        items: Any = backend.items
        await items.store_many([MemoryItem(id=UUID(int=number)) for number in present])
        throughout, ever, seen = set(present), set(present), []
        page = await items.scan(limit=size)
        seen += page.items
        while page.next:
            for action, number in steps.pop(0) if steps else []:
                if action == "store":
                    await items.store(MemoryItem(id=UUID(int=number)))
                    ever.add(number)
                else:
                    await items.delete(UUID(int=number))
                    throughout.discard(number)
            page = await items.scan(after=page.next, limit=size)
            seen += page.items

        numbers = [item.id.int for item in seen]
        assert numbers == sorted(set(numbers))
        assert throughout <= set(numbers) <= ever


@pytest.mark.parametrize("wrong", ["", "nope", 5, encode_cursor("other namespace", uuid4())])
async def test_a_cursor_of_something_else_is_refused(items: InMemoryItems, wrong: Any) -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="after"):
        await items.scan(after=wrong)


@pytest.mark.parametrize("wrong", [0, -1, True, None])
async def test_a_page_without_a_positive_limit_is_refused(items: InMemoryItems, wrong: Any) -> None:
    with pytest.raises(UnsupportedMemoryQuery, match="limit"):
        await items.scan(limit=wrong)


def finish(call: Coroutine[Any, Any, object]) -> None:
    with pytest.raises(StopIteration):
        call.send(None)


async def test_no_call_can_be_cancelled_in_the_middle_as_none_waits(backend: Backend, items: InMemoryItems) -> None:
    item = MemoryItem()

    for call in (
        items.store(item),
        items.store_many([item]),
        items.retrieve(item.id),
        items.search(MemoryQuery(text="tea")),
        items.scan(),
        items.count(),
        items.delete_where({"k": 1}),
        items.delete(item.id),
        items.delete_many([item.id]),
        backend.ping(),
        backend.drop_namespace(),
    ):
        finish(call)


async def test_ids_that_look_alike_are_different_items(items: InMemoryItems) -> None:
    first, second = UUID("00000000-0000-0000-0000-000000000042"), UUID("42000000-0000-0000-0000-000000000000")
    await items.store_many([MemoryItem(id=first, content=1), MemoryItem(id=second, content=2)])

    assert await everything(items) == {first: 1, second: 2}
