"""What is stored comes back exactly, and every managed operation does what it says."""

from __future__ import annotations

import math
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memcore import MalformedMemoryPayload, MemoryItem, MemoryQuery, UnsupportedMemoryItem, UnsupportedMemoryQuery
from memcore.items.store import ManagedMemoryStore

if TYPE_CHECKING:
    from conftest import Store
    from memcore_postgres.backend import PostgresBackend


def fields(item: MemoryItem | None) -> dict[str, Any]:
    assert item is not None
    return {name: getattr(item, name) for name in ("id", "created_at", "content", "metadata", "tags")}


def numbered(count: int) -> list[MemoryItem]:
    return [MemoryItem(content=f"item {number}", metadata={"number": number}) for number in range(count)]


async def scan_ids(backend: PostgresBackend, limit: int) -> list[uuid.UUID]:
    page = await backend.items.scan(limit=limit)
    ids = [item.id for item in page.items]
    while page.next:
        page = await backend.items.scan(after=page.next, limit=limit)
        ids += [item.id for item in page.items]
    return ids


async def test_it_is_a_managed_store(backend: PostgresBackend) -> None:
    assert isinstance(backend.items, ManagedMemoryStore)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "nul \x00 and lone \ud83d surrogates \udc81 stay",
        "\\ ' \" $1 %s {} \\u0000 \x7f\r\n",
        10**4299,
        -0.0,
        1e16,
        5e-324,
        {"b": 1, "a": [1, 1.0, True, None, {"": []}]},
        "x" * 3_000_000,
    ],
    ids=lambda content: type(content).__name__,
)
async def test_content_comes_back_equal_and_of_equal_type(backend: PostgresBackend, content: Any) -> None:
    item = MemoryItem(content=content)
    assert await backend.items.store(item) == item.id
    found = await backend.items.retrieve(item.id)
    assert found is not None
    assert repr(found.content) == repr(content)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
        max_leaves=8,
    ),
    tags=st.lists(st.text(), max_size=3),
    created_at=st.floats(allow_nan=False, allow_infinity=False),
)
async def test_any_item_comes_back_as_it_was(
    backend: PostgresBackend, content: Any, tags: list[str], created_at: float
) -> None:
    item = MemoryItem(content=content, tags=tags, metadata={"held": content}, created_at=created_at)
    await backend.items.store(item)
    found = await backend.items.retrieve(item.id)
    assert repr(fields(found)) == repr(fields(item))


async def test_ids_are_plain_uuids_on_every_way_out(backend: PostgresBackend) -> None:
    item = MemoryItem(content="tea", tags=["t"])
    await backend.items.store(item)
    found = [
        await backend.items.retrieve(item.id),
        *await backend.items.search(MemoryQuery(text="tea")),
        *await backend.items.search(MemoryQuery(tags=["t"])),
        *(await backend.items.scan()).items,
    ]
    assert [type(one.id) for one in found if one] == [uuid.UUID] * 4


async def test_what_a_search_finds_is_exact_too(backend: PostgresBackend) -> None:
    item = MemoryItem(content={"note": "tea\x00", "n": 1.0}, metadata={"k": [None]}, tags=["a", "a"], created_at=0.1)
    await backend.items.store(item)
    (found,) = await backend.items.search(MemoryQuery(text="tea"))
    assert repr(fields(found)) == repr(fields(item))


async def test_storing_an_id_again_replaces_all_of_it(backend: PostgresBackend) -> None:
    item = MemoryItem(content="old words", tags=["old"], metadata={"k": "old"})
    await backend.items.store(item)
    await backend.items.store(MemoryItem(id=item.id, content="new text", tags=["new"], metadata={"k": "new"}))
    for query in (MemoryQuery(text="words"), MemoryQuery(tags=["old"]), MemoryQuery(filters={"k": "old"})):
        assert await backend.items.search(query) == []
    assert await backend.items.search(MemoryQuery(text="text", tags=["new"], filters={"k": "new"})) == [item]


async def test_an_unknown_id_is_a_miss(backend: PostgresBackend) -> None:
    assert await backend.items.retrieve(uuid.uuid4()) is None


async def test_the_same_id_may_be_asked_for_twice_at_once(backend: PostgresBackend) -> None:
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    ids = [item.id, uuid.uuid4(), item.id]
    assert [one and one.id for one in [await backend.items.retrieve(key) for key in ids]] == [item.id, None, item.id]


async def test_a_row_that_cannot_be_decoded_is_malformed_and_spoils_no_other(
    backend: PostgresBackend, store: Store
) -> None:
    good, bad = MemoryItem(content="good"), MemoryItem(content="bad")
    await backend.items.store_many([good, bad])
    await store.fetch("UPDATE items SET payload = left(payload, 9) WHERE id = $1", bad.id)
    with pytest.raises(MalformedMemoryPayload):
        await backend.items.retrieve(bad.id)
    assert await backend.items.retrieve(good.id) == good


async def test_a_batch_keeps_its_order_and_the_last_of_duplicates(backend: PostgresBackend) -> None:
    first, again = MemoryItem(content="first"), MemoryItem(content="other")
    last = MemoryItem(id=first.id, content="last")
    assert await backend.items.store_many([first, again, last]) == [first.id, again.id, first.id]
    assert fields(await backend.items.retrieve(first.id))["content"] == "last"


async def test_an_empty_batch_stores_nothing(backend: PostgresBackend) -> None:
    assert await backend.items.store_many([]) == []


async def test_a_batch_of_many_statements_is_stored_whole(backend: PostgresBackend) -> None:
    items = numbered(1201)
    assert await backend.items.store_many(items) == [item.id for item in items]
    assert await backend.items.count() == 1201


async def test_a_batch_that_the_server_refuses_late_leaves_nothing(backend: PostgresBackend, store: Store) -> None:
    await store.fetch("ALTER TABLE items ADD CHECK (payload NOT LIKE '%bad%')")
    items = sorted(numbered(1200), key=lambda item: item.id)
    items[-1].content = "bad"
    with pytest.raises(Exception, match="PostgreSQL failed"):
        await backend.items.store_many(items)
    assert await backend.items.count() == 0


async def test_a_batch_with_an_item_that_is_no_json_stores_nothing(backend: PostgresBackend) -> None:
    with pytest.raises(UnsupportedMemoryItem) as caught:
        await backend.items.store_many([MemoryItem(content="good"), MemoryItem(content={"t": (1, 2)})])
    assert caught.value.path == "items[1].content.t"
    assert await backend.items.count() == 0


async def test_limits_are_those_of_the_settings(store: Store) -> None:
    backend = store.connect(limits='{"content":10}')
    with pytest.raises(UnsupportedMemoryItem):
        await backend.items.store(MemoryItem(content="more than that"))


async def test_deleting_says_whether_it_was_there(backend: PostgresBackend) -> None:
    item = MemoryItem(content="tea", tags=["t"], metadata={"k": 1})
    await backend.items.store(item)
    assert await backend.items.delete(item.id)
    assert not await backend.items.delete(item.id)
    for query in (MemoryQuery(text="tea"), MemoryQuery(tags=["t"]), MemoryQuery(filters={"k": 1}), MemoryQuery()):
        assert await backend.items.search(query) == []


async def test_deleting_many_counts_what_was_there(backend: PostgresBackend) -> None:
    items = numbered(4)
    await backend.items.store_many(items)
    assert await backend.items.delete_many([items[0].id, items[1].id, items[0].id, uuid.uuid4()]) == 2
    assert await backend.items.delete_many([]) == 0
    assert await backend.items.count() == 2


async def test_deleting_by_filter_erases_what_matches_all_of_it(backend: PostgresBackend) -> None:
    await backend.items.store_many([MemoryItem(metadata={"a": a, "b": b}) for a in (1, 2) for b in (1, 2)])
    assert await backend.items.delete_where({"a": 1.0, "b": 2}) == 1
    assert await backend.items.delete_where({"a": 2}) == 2
    assert await backend.items.count() == 1


async def test_deleting_by_a_missing_key_erases_what_lacks_it(backend: PostgresBackend) -> None:
    kinds: list[dict[str, Any]] = [{}, {"k": None}, {"k": 0}, {"k": None, "a": 1}]
    await backend.items.store_many([MemoryItem(metadata=kind) for kind in kinds])
    assert await backend.items.delete_where({"k": None, "a": 1}) == 1
    assert await backend.items.delete_where({"k": None}) == 2
    assert [item.metadata for item in await backend.items.search(MemoryQuery())] == [{"k": 0}]


async def test_an_empty_erasure_is_refused(backend: PostgresBackend) -> None:
    with pytest.raises(UnsupportedMemoryQuery):
        await backend.items.delete_where({})


async def test_pages_go_through_all_items_once_in_order_of_id(backend: PostgresBackend) -> None:
    items = [MemoryItem(content="same time", created_at=1.0) for _ in range(205)]
    await backend.items.store_many(items)
    assert await scan_ids(backend, 13) == sorted(item.id for item in items)


async def test_what_is_there_all_the_time_is_scanned_once_whatever_is_written(backend: PostgresBackend) -> None:
    items = numbered(60)
    await backend.items.store_many(items)
    page = await backend.items.scan(limit=7)
    ids = [item.id for item in page.items]
    while page.next:
        await backend.items.store(MemoryItem(content="new"))
        await backend.items.store(MemoryItem(id=items[3].id, content="changed"))
        page = await backend.items.scan(after=page.next, limit=7)
        ids += [item.id for item in page.items]
    assert sorted(set(ids) & {item.id for item in items}) == sorted(item.id for item in items)
    assert len(ids) == len(set(ids))


async def test_a_cursor_of_another_namespace_is_refused(backend: PostgresBackend, store: Store) -> None:
    await backend.items.store_many(numbered(3))
    page = await backend.items.scan(limit=1)
    with pytest.raises(UnsupportedMemoryQuery):
        await store.connect(namespace="other").items.scan(after=page.next)


async def test_a_namespace_sees_only_its_own(backend: PostgresBackend, store: Store) -> None:
    other = store.connect(namespace="other")
    mine = MemoryItem(content="tea", tags=["t"], metadata={"k": 1})
    theirs = MemoryItem(id=mine.id, content="tea too", tags=["t"], metadata={"k": 1})
    await backend.items.store(mine)
    await other.items.store(theirs)
    for query in (MemoryQuery(text="tea"), MemoryQuery(tags=["t"]), MemoryQuery(filters={"k": 1}), MemoryQuery()):
        assert [item.content for item in await backend.items.search(query)] == ["tea"]
    assert await backend.items.delete_where({"k": 1}) == 1
    assert (await backend.items.count(), await other.items.count()) == (0, 1)


async def test_dropping_a_namespace_leaves_the_others(backend: PostgresBackend, store: Store) -> None:
    other = store.connect(namespace='it\'s "odd" %s é 記憶')
    await backend.items.store_many(numbered(5))
    await other.items.store_many(numbered(3))
    await backend.drop_namespace()
    assert (await backend.items.count(), await other.items.count()) == (0, 3)


async def test_two_schemas_see_nothing_of_each_other(store: Store) -> None:
    one, two = store.connect(), store.connect()
    two_schema = two._settings.model_copy(update={"db_schema": f"{store.schema}_b"})
    other = type(two)(two_schema)
    store.backends.append(other)
    await one.items.store(MemoryItem(content="tea"))
    assert await other.items.count() == 0
    await store.server.execute(f"DROP SCHEMA {store.schema}_b CASCADE")


async def test_an_object_of_a_host_is_taken_as_an_item(backend: PostgresBackend) -> None:
    class HostItem:
        __slots__ = ()
        id = uuid.uuid4()
        created_at = 12.5
        content = "of a host"
        metadata: dict[str, Any] = {"k": math.pi}  # noqa: RUF012 - a host writes what it likes
        tags = ["t"]  # noqa: RUF012

    assert await backend.items.store(HostItem()) == HostItem.id  # type: ignore[arg-type]
    found = await backend.items.retrieve(HostItem.id)
    assert type(found) is MemoryItem
    assert found.metadata == {"k": math.pi}
