"""What is derived can be checked, repaired and rebuilt, and what was erased leaves the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memcore import MemoryAdapterError, MemoryItem, MemoryQuery
from memcore.kit.text import ANALYSIS_VERSION

if TYPE_CHECKING:
    from conftest import Store
    from memcore_postgres.backend import PostgresBackend


async def filled(backend: PostgresBackend, count: int = 3) -> list[MemoryItem]:
    items = [MemoryItem(content=f"tea {n}", tags=["t"], metadata={"n": n}) for n in range(count)]
    await backend.items.store_many(items)
    return items


async def test_a_sound_store_has_no_fault(backend: PostgresBackend) -> None:
    await filled(backend)
    report = await backend.check()
    assert (report.checked, report.faults, report.repaired) == (3, (), False)


@pytest.mark.parametrize(
    ("damage", "query"),
    [
        ("words = 'coffe'", MemoryQuery(text="tea 1")),
        ("tag_words = ''", MemoryQuery(text="t")),
        ("terms = '{}'", MemoryQuery(filters={"n": 1})),
    ],
)
async def test_a_damaged_index_is_found_and_repaired(
    backend: PostgresBackend, store: Store, damage: str, query: MemoryQuery
) -> None:
    items = await filled(backend)
    before = await backend.items.search(query)
    await store.fetch(f"UPDATE items SET {damage} WHERE id = $1", items[1].id)
    assert await backend.items.search(query) != before
    found = await backend.check(repair=False)
    assert found.faults == (f"item {items[1].id} of namespace 'default': {damage.split(maxsplit=1)[0]} differ",)
    assert not found.repaired
    assert (await backend.check()).repaired
    assert await backend.items.search(query) == before
    assert (await backend.check()).faults == ()


async def test_a_damaged_payload_is_reported_and_not_called_repaired(backend: PostgresBackend, store: Store) -> None:
    items = await filled(backend)
    await store.fetch("UPDATE items SET payload = '{' WHERE id = $1", items[0].id)
    report = await backend.check()
    assert report.faults == (f"item {items[0].id} of namespace 'default': the payload is damaged",)
    assert not report.repaired


async def test_reindex_derives_everything_anew(backend: PostgresBackend, store: Store) -> None:
    await filled(backend)
    await store.connect(namespace="other").items.store(MemoryItem(content="tea"))
    await store.fetch("UPDATE items SET words = '', tag_words = '', terms = '{}'")
    await store.fetch("UPDATE meta SET analysis = $1", ANALYSIS_VERSION - 1)
    assert await backend.reindex() == 4
    assert len(await backend.items.search(MemoryQuery(text="tea", tags=["t"]))) == 3
    assert (await backend.check()).faults == ()


async def test_progress_is_told_after_each_batch(backend: PostgresBackend) -> None:
    await filled(backend, 450)
    told: list[tuple[int, int]] = []
    await backend.reindex(progress=lambda done, total: told.append((done, total)))
    assert told == [(200, 450), (400, 450), (450, 450)]


async def test_an_item_that_was_replaced_meanwhile_keeps_its_new_words(backend: PostgresBackend, store: Store) -> None:
    items = await filled(backend)
    await store.fetch("UPDATE items SET words = ''")
    updates = backend._maintenance._update

    async def late(*changes: object) -> None:
        await backend.items.store(MemoryItem(id=items[0].id, content="coffee"))
        await updates(*changes)  # type: ignore[arg-type]

    backend._maintenance._update = late  # type: ignore[method-assign]
    await backend.reindex()
    assert await backend.items.search(MemoryQuery(text="coffee")) == [items[0]]
    assert len(await backend.items.search(MemoryQuery(text="tea"))) == 2


async def test_purge_removes_the_bytes_of_what_was_erased(backend: PostgresBackend, store: Store) -> None:
    secret = MemoryItem(content="zanzibarsecret")
    await backend.items.store_many([secret, MemoryItem(content="kept")])
    await backend.items.delete(secret.id)
    await backend.purge()
    await store.fetch("CHECKPOINT")
    rows = await store.fetch(
        "SELECT pg_relation_filepath(oid) AS path FROM pg_class WHERE relnamespace = $1::regnamespace "
        "OR oid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'items'::regclass)",
        store.schema,
    )
    data = b"".join((store.server.data / row["path"]).read_bytes() for row in rows if row["path"])
    assert b"kept" in data
    assert b"zanzibarsecret" not in data


async def test_the_statistics_of_the_server_keep_no_content(backend: PostgresBackend, store: Store) -> None:
    await filled(backend)
    await store.fetch("ANALYZE items")
    kept = await store.fetch("SELECT attname FROM pg_stats WHERE tablename = 'items' AND schemaname = $1", store.schema)
    assert {name for (name,) in kept} == {"namespace", "id", "created_at", "terms"}


@pytest.mark.usefixtures("backend")
async def test_only_the_owner_may_purge(store: Store) -> None:
    await store.server.execute(
        "CREATE ROLE guest LOGIN",
        f"GRANT USAGE ON SCHEMA {store.schema} TO guest",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {store.schema} TO guest",
    )
    guest = store.connect(user="guest")
    with pytest.raises(MemoryAdapterError, match="only the owner"):
        await guest.purge()
    await guest.close()
    await store.server.execute("DROP OWNED BY guest", "DROP ROLE guest")
