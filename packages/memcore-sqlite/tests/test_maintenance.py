"""Looking after the indexes and the file: reindex, check, purge, and another version's analysis."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from memcore import Maintenance, MemoryAdapterUnavailable, MemoryConfigurationError, MemoryItem, MemoryQuery
from memcore_sqlite import backend as backend_module
from memcore_sqlite import index, items, maintenance, schema, search
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

Connect = Callable[..., SqliteBackend]


def tea(number: int) -> MemoryItem:
    item = MemoryItem(
        id=UUID(int=number), content=f"tea number {number}", tags=["t", f"tag{number}"], created_at=number
    )
    item.metadata = {"n": number, "even": number % 2 == 0}
    return item


async def ids(backend: SqliteBackend, **query: object) -> list[int]:
    return [item.id.int for item in await backend.items.search(MemoryQuery(**query))]


@pytest.fixture
async def filled(backend: SqliteBackend) -> SqliteBackend:
    """A backend with 450 items, more than two batches."""
    await backend.items.store_many([tea(number) for number in range(450)])
    return backend


BREAKAGES = {
    "a word is missing": "INSERT INTO item_words (item_words, rowid, words, tag_words, namespace)"
    " SELECT 'delete', seq, words, tag_words, namespace FROM items WHERE seq = 7",
    "a word is too many": "INSERT INTO item_words (rowid, words, tag_words, namespace) VALUES (9999, 'ghost', '', 1)",
    "stored words differ": "UPDATE items SET words = 'ghost', tag_words = '' WHERE seq IN (7, 300)",
    "terms are missing": "DELETE FROM item_terms WHERE seq = 7",
    "a term leads nowhere": "INSERT INTO item_terms SELECT term, created_at, 9999 FROM item_terms WHERE seq = 7",
    "a term leads elsewhere": "INSERT OR IGNORE INTO item_terms"
    " SELECT o.term, i.created_at, i.seq FROM item_terms o, items i"
    " WHERE o.seq = 7 AND i.seq = 9",
    "all words are gone": "INSERT INTO item_words (item_words) VALUES ('delete-all')",
    "all terms are gone": "DELETE FROM item_terms",
}


def test_the_backend_offers_maintenance(connect: Connect) -> None:
    assert isinstance(connect(), Maintenance)


async def test_a_sound_store_has_no_faults(filled: SqliteBackend) -> None:
    report = await filled.check()
    assert (report.checked, report.faults, report.repaired) == (450, (), False)


async def test_a_store_that_was_changed_in_every_way_has_no_faults(filled: SqliteBackend) -> None:
    await filled.items.store_many([tea(number) for number in range(100)])
    await filled.items.store_many([MemoryItem(id=UUID(int=number), content="coffee") for number in range(50, 150)])
    await filled.items.delete_many([UUID(int=number) for number in range(400, 500)])
    await filled.items.delete_where({"even": True})
    assert (await filled.check(repair=False)).faults == ()


@pytest.mark.parametrize("breakage", BREAKAGES)
async def test_check_finds_what_is_broken_and_repairs_it(
    filled: SqliteBackend, raw: sqlite3.Connection, breakage: str
) -> None:
    raw.execute(BREAKAGES[breakage])
    found = await filled.check(repair=False)
    assert found.faults
    assert not found.repaired
    assert (await filled.check(repair=False)).faults == found.faults
    repaired = await filled.check()
    assert (repaired.faults, repaired.repaired) == (found.faults, True)
    assert (await filled.check()).faults == ()
    assert await ids(filled, text="ghost") == []
    assert await ids(filled, tags=["tag6"]) == await ids(filled, text="tag6") == [6]
    assert len(await ids(filled, text="tea", limit=999)) == 450


@pytest.mark.parametrize("breakage", BREAKAGES)
async def test_reindex_repairs_too(filled: SqliteBackend, raw: sqlite3.Connection, breakage: str) -> None:
    raw.execute(BREAKAGES[breakage])
    assert await filled.reindex() == 450
    assert (await filled.check(repair=False)).faults == ()


async def test_a_damaged_payload_is_named_and_cannot_be_repaired(
    filled: SqliteBackend, raw: sqlite3.Connection
) -> None:
    raw.execute("UPDATE items SET payload = '{}' WHERE seq = 7")
    report = await filled.check()
    assert str(UUID(int=6)) in report.faults[0]
    assert not report.repaired


async def test_no_fault_shows_content(filled: SqliteBackend, raw: sqlite3.Connection) -> None:
    for breakage in BREAKAGES.values():
        raw.execute(breakage)
    faults = " ".join((await filled.check()).faults)
    assert "tea" not in faults
    assert "ghost" not in faults


async def test_other_namespaces_are_looked_after_too(filled: SqliteBackend, connect: Connect) -> None:
    other = connect(namespace="other")
    await other.items.store(tea(1))
    assert await filled.reindex() == 451
    assert (await other.check()).checked == 451
    assert await ids(other, tags=["t"], text="tea") == [1]


async def test_progress_is_told_after_each_batch(filled: SqliteBackend) -> None:
    for work in (filled.reindex, filled.check):
        told: list[tuple[int, int]] = []
        await work(progress=lambda done, total, told=told: told.append((done, total)))
        assert told == [(200, 450), (400, 450), (450, 450)]


async def test_others_write_while_the_index_is_rebuilt(filled: SqliteBackend, connect: Connect) -> None:
    other = connect()
    await other.open()
    counts: list[int] = []

    def store(done: int, _total: int) -> None:
        assert len(counts) < 10
        counts.append(done)
        writes.append(other.items.store(tea(1_000 + done)))

    writes: list[Any] = []
    await filled.reindex(progress=store)
    for write in writes:
        await write
    assert (await filled.check(repair=False)).faults == ()


@pytest.fixture
def newer(filled: SqliteBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the backend was filled, every module has a newer analysis, which indexes other words."""
    del filled
    for module in (backend_module, index, maintenance, schema, search):
        monkeypatch.setattr(module, "ANALYSIS_VERSION", 2)
    analyse = items.analyse_item

    def marked(content: object, tags: list[str]) -> tuple[list[str], list[str]]:
        words, tag_words = analyse(content, tags)
        return [*words, "zzz"], tag_words

    monkeypatch.setattr(items, "analyse_item", marked)


@pytest.mark.usefixtures("newer")
async def test_words_of_another_analysis_are_not_searched_silently(
    filled: SqliteBackend, connect: Connect, path: Path
) -> None:
    await filled.close()
    backend = connect()
    with pytest.raises(MemoryAdapterUnavailable, match=f"memcore reindex sqlite:///{path}"):
        await ids(backend, text="tea")
    health = await backend.ping()
    assert health.status == "degraded"
    assert "memcore reindex" in str(health.detail)
    assert await ids(backend, tags=["tag7"]) == [7]
    assert await backend.items.retrieve(UUID(int=7)) is not None
    assert await backend.items.delete(UUID(int=7)) is True


@pytest.mark.usefixtures("newer")
async def test_reindex_makes_the_words_anew(filled: SqliteBackend, connect: Connect) -> None:
    await filled.close()
    backend = connect()
    await backend.items.store(tea(500))
    assert await backend.reindex() == 451
    assert (await backend.ping()).status == "ok"
    assert len(await ids(backend, text="zzz", limit=999)) == 451
    assert (await backend.check(repair=False)).faults == ()


@pytest.mark.usefixtures("newer")
async def test_check_tells_of_another_analysis_once_and_repairs_it(filled: SqliteBackend, connect: Connect) -> None:
    await filled.close()
    backend = connect()
    found = await backend.check(repair=False)
    assert found.faults == ("the words were made by another version's analysis",)
    assert (await backend.check()).repaired
    assert len(await ids(backend, text="zzz", limit=999)) == 450


@pytest.mark.usefixtures("newer")
async def test_a_write_of_another_analysis_stops_every_search_until_reindex(filled: SqliteBackend) -> None:
    await filled.items.store(tea(500))
    with pytest.raises(MemoryAdapterUnavailable):
        await ids(filled, text="tea")
    await filled.reindex()
    assert len(await ids(filled, text="zzz", limit=999)) == 451


@pytest.mark.usefixtures("newer")
async def test_a_rebuild_begins_again_when_another_analysis_writes_into_it(
    filled: SqliteBackend, raw: sqlite3.Connection
) -> None:
    done: list[int] = []

    def interfere(count: int, _total: int) -> None:
        if not done:
            raw.execute("UPDATE meta SET value = ? WHERE key = 'analysis'", (schema.MIXED,))
        done.append(count)

    raw.execute("UPDATE meta SET value = 1 WHERE key = 'analysis'")
    assert await filled.reindex(progress=interfere) == 450
    assert done == [200, 400, 450] * 2


@pytest.mark.usefixtures("newer")
async def test_an_interrupted_rebuild_is_finished_by_the_next(filled: SqliteBackend) -> None:
    def give_up(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    await filled.items.store(tea(500))
    with pytest.raises(KeyboardInterrupt):
        await filled.reindex(progress=give_up)
    with pytest.raises(MemoryAdapterUnavailable):
        await ids(filled, text="tea")
    assert await filled.reindex() == 451
    assert len(await ids(filled, text="zzz", limit=999)) == 451


async def test_closing_stops_a_check_between_two_batches(filled: SqliteBackend) -> None:
    closing: list[asyncio.Future[None]] = []

    def close(_done: int, _total: int) -> None:
        closing.append(asyncio.ensure_future(filled.close()))

    async with asyncio.timeout(10):
        with pytest.raises(MemoryConfigurationError, match="closed"):
            await filled.check(progress=close)
        await asyncio.gather(*closing)


def bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


async def test_purge_removes_the_bytes_of_what_was_erased(filled: SqliteBackend, path: Path) -> None:
    secret = MemoryItem(content="confidential zebra", tags=["zebra"], metadata={"zebra": "zebra"})
    await filled.items.store(secret)
    await filled.items.store(MemoryItem(id=secret.id, content="confidential giraffe"))
    await filled.items.delete(secret.id)
    await filled.purge()
    for word in (b"confidential", b"zebra", b"giraff"):
        assert word not in bytes_of(path)
    assert len(await ids(filled, text="tea", limit=999)) == 450


async def test_purge_gives_space_back(filled: SqliteBackend, path: Path) -> None:
    before = len(bytes_of(path))
    await filled.drop_namespace()
    await filled.purge()
    assert len(bytes_of(path)) < before / 2


async def test_purge_says_when_a_reader_keeps_it_from_emptying_the_log(
    connect: Connect, raw: sqlite3.Connection
) -> None:
    backend = connect(busy_timeout=0.1)
    await backend.items.store(tea(1))
    raw.execute("BEGIN")
    raw.execute("SELECT * FROM items").fetchone()
    with pytest.raises(MemoryAdapterUnavailable, match="reading"):
        await backend.purge()
    raw.execute("ROLLBACK")
    await backend.purge()


async def test_a_database_in_memory_is_looked_after_too(connect: Connect) -> None:
    backend = connect(path=None)
    await backend.items.store(tea(1))
    assert await backend.reindex() == 1
    assert (await backend.check()).faults == ()
    await backend.purge()
