"""Storing, reading, erasing and scanning items."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from memcore import (
    MalformedMemoryPayload,
    ManagedMemoryStore,
    MemoryItem,
    MemoryQuery,
    SizeLimits,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    import sqlite3

Connect = Callable[..., SqliteBackend]

CONTENTS: list[Any] = [
    None,
    "",
    "tea\x00with milk",
    "lone \ud800 surrogate",
    "日本語, العربية, 🚀",
    -0.0,
    1e16,
    1,
    1.0,
    True,
    10**4299,
    [1, 1.0, True, [None, {}]],
    {"b": 1, "a": {"nested": ["x"]}, "": 0},
]


def exactly(item: MemoryItem | None) -> str:
    """Everything an item holds, types and order of keys included."""
    assert item is not None
    return repr((item.id, item.created_at, item.content, item.metadata, item.tags))


async def ids(backend: SqliteBackend, **query: object) -> list[UUID]:
    return [item.id for item in await backend.items.search(MemoryQuery(**query))]


async def test_the_items_satisfy_the_managed_protocol(backend: SqliteBackend) -> None:
    assert isinstance(backend.items, ManagedMemoryStore)


@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
async def test_what_was_stored_comes_back_exactly(connect: Connect, content: object) -> None:
    item = MemoryItem(content=content, metadata={"k": content}, tags=["a b", "", "ü\x00"], created_at=1.1)
    async with connect() as first:
        await first.items.store(item)
    again = await connect().items.retrieve(item.id)
    assert exactly(again) == exactly(item)


@pytest.mark.parametrize("seconds", [0.0, -1e300, 5e-324, 1.7e9 + 0.1, math.nextafter(1.7e9, 2e9), 1e300])
async def test_a_time_comes_back_bit_for_bit(backend: SqliteBackend, seconds: float) -> None:
    item = MemoryItem(created_at=seconds)
    await backend.items.store(item)
    found = await backend.items.retrieve(item.id)
    assert found is not None
    assert found.created_at.hex() == seconds.hex()


async def test_an_unknown_id_is_none(backend: SqliteBackend) -> None:
    assert await backend.items.retrieve(uuid4()) is None


async def test_a_hosts_own_item_is_stored_and_comes_back_as_ours(backend: SqliteBackend) -> None:
    item = SimpleNamespace(id=uuid4(), created_at=1, metadata={}, content="tea", tags=[])
    await backend.items.store(item)  # type: ignore[arg-type]
    assert type(await backend.items.retrieve(item.id)) is MemoryItem


async def test_a_changed_copy_changes_nothing_that_is_stored(backend: SqliteBackend) -> None:
    item = MemoryItem(content=["tea"])
    await backend.items.store(item)
    (await backend.items.retrieve(item.id)).content.append("milk")  # type: ignore[union-attr]
    assert (await backend.items.retrieve(item.id)).content == ["tea"]  # type: ignore[union-attr]


async def test_an_item_is_stored_as_it_was_when_store_was_called(backend: SqliteBackend) -> None:
    item = MemoryItem(content=["tea"])
    storing = asyncio.ensure_future(backend.items.store(item))
    await asyncio.sleep(0)
    item.content.append("milk")
    await storing
    assert (await backend.items.retrieve(item.id)).content == ["tea"]  # type: ignore[union-attr]


async def test_a_replaced_item_is_found_by_its_new_parts_alone(backend: SqliteBackend) -> None:
    item = MemoryItem(content="tea", tags=["old"], metadata={"k": 1})
    await backend.items.store(item)
    await backend.items.store(MemoryItem(id=item.id, content="coffee", tags=["new"], metadata={"k": 2}))
    assert [await ids(backend, text="tea"), await ids(backend, tags=["old"]), await ids(backend, filters={"k": 1})] == [
        [],
        [],
        [],
    ]
    assert await ids(backend, text="coffee", tags=["new"], filters={"k": 2}) == [item.id]
    assert await backend.items.count() == 1


async def test_a_refused_item_leaves_nothing(backend: SqliteBackend) -> None:
    with pytest.raises(UnsupportedMemoryItem, match=r"content\.scores\[1\]"):
        await backend.items.store(MemoryItem(content={"scores": [1, math.nan]}))
    assert await backend.items.count() == 0


async def test_limits_are_settings(connect: Connect) -> None:
    backend = connect(limits=SizeLimits(content=10))
    with pytest.raises(UnsupportedMemoryItem, match="over the size limit of 10"):
        await backend.items.store(MemoryItem(content="x" * 9))


async def test_a_batch_is_stored_in_input_order_and_the_last_of_an_id_wins(backend: SqliteBackend) -> None:
    first, other = MemoryItem(content="first"), MemoryItem(content="other")
    last = MemoryItem(id=first.id, content="last")
    assert await backend.items.store_many([first, other, last]) == [first.id, other.id, first.id]
    assert exactly(await backend.items.retrieve(first.id)) == exactly(last)
    assert await backend.items.count() == 2


async def test_a_batch_with_one_bad_item_stores_none(backend: SqliteBackend) -> None:
    with pytest.raises(UnsupportedMemoryItem, match=r"items\[1\]\.content"):
        await backend.items.store_many([MemoryItem(), MemoryItem(content={1}), MemoryItem()])
    assert await backend.items.count() == 0


async def test_a_batch_larger_than_any_statement_is_stored_whole(backend: SqliteBackend) -> None:
    items = [MemoryItem(content=f"note {number}") for number in range(2_500)]
    await backend.items.store_many(items)
    assert await backend.items.count() == 2_500


async def test_an_empty_batch_is_no_write(backend: SqliteBackend) -> None:
    assert await backend.items.store_many([]) == []


async def test_an_erased_item_is_gone_from_every_way_of_finding_it(backend: SqliteBackend) -> None:
    item = MemoryItem(content="tea", tags=["t"], metadata={"k": 1})
    await backend.items.store(item)
    assert await backend.items.delete(item.id) is True
    assert await backend.items.retrieve(item.id) is None
    for query in ({"text": "tea"}, {"tags": ["t"]}, {"filters": {"k": 1}}, {}):
        assert await ids(backend, **query) == []


async def test_erasing_what_is_not_there_is_false(backend: SqliteBackend) -> None:
    assert await backend.items.delete(uuid4()) is False


async def test_erasing_several_counts_those_that_were_there(backend: SqliteBackend) -> None:
    items = [MemoryItem() for _ in range(3)]
    await backend.items.store_many(items)
    assert await backend.items.delete_many([items[0].id, items[1].id, items[0].id, uuid4()]) == 2
    assert await ids(backend) == [items[2].id]


async def test_erasing_by_filter_spares_the_rest(backend: SqliteBackend) -> None:
    kept = MemoryItem(metadata={"user": "ada", "n": 2})
    await backend.items.store_many([MemoryItem(metadata={"user": "ada", "n": 1}), MemoryItem(metadata={"n": 1}), kept])
    assert await backend.items.delete_where({"user": "ada", "n": 1.0}) == 1
    assert await backend.items.count() == 2


async def test_erasing_by_null_takes_items_without_the_key(backend: SqliteBackend) -> None:
    kept = MemoryItem(metadata={"user": "ada"})
    await backend.items.store_many([kept, MemoryItem(metadata={"user": None}), MemoryItem()])
    assert await backend.items.delete_where({"user": None}) == 2
    assert await ids(backend) == [kept.id]


async def test_erasing_by_no_filter_is_refused(backend: SqliteBackend) -> None:
    with pytest.raises(UnsupportedMemoryQuery):
        await backend.items.delete_where({})


async def test_a_scan_gives_every_item_once_in_order_of_id(backend: SqliteBackend) -> None:
    items = [MemoryItem(created_at=5) for _ in range(205)]
    await backend.items.store_many(items)
    seen: list[UUID] = []
    page = await backend.items.scan(limit=13)
    while page.next is not None:
        seen += [item.id for item in page.items]
        await backend.items.store(items[0])  # replacing moves nothing
        page = await backend.items.scan(after=page.next, limit=13)
    seen += [item.id for item in page.items]
    assert seen == sorted(item.id for item in items)


async def test_a_cursor_of_another_namespace_is_refused(connect: Connect) -> None:
    ours, theirs = connect(namespace="ours"), connect(namespace="theirs")
    await theirs.items.store_many([MemoryItem(), MemoryItem()])
    page = await theirs.items.scan(limit=1)
    with pytest.raises(UnsupportedMemoryQuery):
        await ours.items.scan(after=page.next)


async def test_namespaces_never_see_each_other(connect: Connect) -> None:
    ours, theirs = connect(namespace="ours"), connect(namespace="theirs")
    item = MemoryItem(content="tea", tags=["t"], metadata={"k": 1})
    await theirs.items.store(item)
    assert await ours.items.retrieve(item.id) is None
    for query in ({"text": "tea"}, {"tags": ["t"]}, {"filters": {"k": 1}}, {"filters": {"gone": None}}, {}):
        assert await ids(ours, **query) == []
    assert [await ours.items.count(), (await ours.items.scan()).items] == [0, []]
    assert [await ours.items.delete(item.id), await ours.items.delete_where({"k": 1})] == [False, 0]
    assert await theirs.items.count() == 1


async def test_one_id_in_two_namespaces_is_two_items(connect: Connect) -> None:
    ours, theirs = connect(namespace="ours"), connect(namespace="theirs")
    item = MemoryItem(content="ours")
    await ours.items.store(item)
    await theirs.items.store(MemoryItem(id=item.id, content="theirs"))
    assert exactly(await ours.items.retrieve(item.id)) == exactly(item)


async def test_dropping_a_namespace_spares_the_others(connect: Connect) -> None:
    ours, theirs = connect(namespace="ours"), connect(namespace="theirs")
    for backend in (ours, theirs):
        await backend.items.store_many([MemoryItem(content="tea") for _ in range(10)])
    await ours.drop_namespace()
    assert [await ours.items.count(), await theirs.items.count()] == [0, 10]
    assert len(await ids(theirs, text="tea")) == 10


@pytest.mark.parametrize("damaged", ["substr(payload, 1, 9)", "CAST(x'ff' AS TEXT)"], ids=["cut", "not UTF-8"])
async def test_a_damaged_row_is_named_and_no_miss(
    backend: SqliteBackend, raw: sqlite3.Connection, damaged: str
) -> None:
    item = MemoryItem(content="tea", tags=["t"])
    await backend.items.store(item)
    raw.execute(f"UPDATE items SET payload = {damaged}")
    for query in ({"text": "tea"}, {"tags": ["t"]}, {}):
        with pytest.raises(MalformedMemoryPayload):
            await ids(backend, **query)
    with pytest.raises(MalformedMemoryPayload):
        await backend.items.retrieve(item.id)


async def test_a_damaged_row_can_be_replaced_and_erased(backend: SqliteBackend, raw: sqlite3.Connection) -> None:
    item, other = (MemoryItem(content="tea", tags=["t"]) for _ in range(2))
    await backend.items.store_many([item, other])
    raw.execute("UPDATE items SET payload = ''")
    await backend.items.store(item)
    assert await backend.items.delete(other.id) is True
    assert await ids(backend, tags=["t"]) == await ids(backend, text="tea") == [item.id]
    assert raw.execute("SELECT count(*) FROM item_terms").fetchone() == (1,)
