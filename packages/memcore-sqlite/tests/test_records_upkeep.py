"""What is derived from records: what erasing leaves of it, and what damage is found and mended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from memcore import Invalidation, MemoryAdapterUnavailable, MemoryItem, MemoryQuery, MemoryWrite, RecordQuery
from memcore.records.clock import StillClock
from memcore_sqlite import backend as backend_module
from memcore_sqlite import index, maintenance, record_table, schema, search
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

Connect = Callable[..., SqliteBackend]

START = datetime(2026, 1, 1, tzinfo=UTC)


def tea(number: int, **fields: object) -> MemoryWrite:
    given = {"scope": {"user": f"u{number % 3}"}, "tags": ["t", f"tag{number}"], "context": "before noon"}
    return MemoryWrite(**{"id": UUID(int=number), "content": f"tea number {number}", **given, **fields})


async def ids(backend: SqliteBackend, **query: object) -> list[int]:
    return [hit.record.id.int for hit in await backend.records.search(RecordQuery(**query))]


@pytest.fixture
async def filled(backend: SqliteBackend) -> SqliteBackend:
    """A backend with 450 records, every tenth of which has ended, and an item."""
    await backend.records.write([tea(number) for number in range(450)])
    await backend.records.write([Invalidation(id=UUID(int=number)) for number in range(0, 450, 10)])
    await backend.items.store(MemoryItem(content="tea", tags=["t"]))
    return backend


# --- erasing ---


def secret(name: str, **fields: object) -> MemoryWrite:
    """A record that has a word of its own in each of its parts; `name` is in all of them."""
    parts = {"content": "saw", "context": "amid", "tag": "like"}
    words = {part: f"{name}{word}" for part, word in parts.items()}
    return MemoryWrite(
        content=f"a {words['content']}",
        context=f"the {words['context']}",
        tags=[words["tag"]],
        scope={"user": f"{name}user"},
        payload={f"{name}key": [f"{name}value"]},
        target={"kind": f"{name}target"},
        **fields,
    )


def bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


async def test_a_clean_close_leaves_no_byte_of_what_was_erased(connect: Connect, path: Path) -> None:
    clock = StillClock(START)
    backend = connect(clock=clock)
    by_id, in_scope, swept = secret("zebra"), secret("giraffe"), secret("okapi", expires_at=START + timedelta(hours=1))
    await backend.records.write([by_id, in_scope, swept, secret("gazelle")])
    await backend.records.invalidate(by_id.id, "zebrareason", "zebraactor")
    await backend.close()
    for name in (b"zebra", b"giraffe", b"okapi", b"gazelle"):
        assert name in bytes_of(path)
    async with connect(clock=clock) as backend:
        await backend.records.delete(by_id.id)
        await backend.records.delete_where({"user": "giraffeuser"})
        clock.advance(3_600)
        await backend.records.sweep()
    for name in (b"zebra", b"giraffe", b"okapi"):
        assert name not in bytes_of(path)
    assert b"gazelle" in bytes_of(path)


async def test_purge_leaves_no_byte_of_what_was_erased_while_the_file_stays_open(
    filled: SqliteBackend, path: Path
) -> None:
    record = secret("zebra")
    await filled.records.write([record])
    await filled.records.delete(record.id)
    await filled.purge()
    assert b"zebra" not in bytes_of(path)
    assert len(await ids(filled, text="tea", limit=999)) == 405


async def test_rows_that_moved_leave_no_copy_behind(connect: Connect, path: Path) -> None:
    """Endings make rows grow, pages split, and SQLite leaves what was on them where nothing points to any more."""
    words = [f"{number:04d}zebra" for number in range(800)]
    async with connect() as backend:
        records = [tea(n, content=f"{word} {'tea ' * (n % 60)}") for n, word in enumerate(words)]
        for start in range(0, len(records), 50):
            await backend.records.write(records[start : start + 50])
        for record in records[::3]:
            await backend.records.invalidate(record.id, "because " * 20)
        gone = [number for number in range(len(records)) if number % 5 in {1, 3}]
        for number in gone:
            await backend.records.delete(UUID(int=number))
    left = bytes_of(path)
    assert [number for number in gone if words[number].encode() in left] == []
    assert words[0].encode() in left


async def test_closing_rewrites_the_file_only_after_an_erasure(connect: Connect, raw: sqlite3.Connection) -> None:
    told: list[str] = []

    async def close(backend: SqliteBackend) -> None:
        await backend._database.maintain(lambda session: session.set_trace_callback(told.append))
        await backend.close()

    backend = connect()
    await backend.records.write([tea(1)])
    await close(backend)
    assert "VACUUM" not in told
    backend = connect()
    await backend.records.delete(UUID(int=1))
    await close(backend)
    assert told.count("VACUUM") == 1
    assert raw.execute("SELECT * FROM meta WHERE key = 'erased'").fetchall() == []


async def test_a_close_that_a_lock_prevents_from_rewriting_leaves_it_to_the_next(
    connect: Connect, raw: sqlite3.Connection, path: Path
) -> None:
    record = secret("zebra")
    backend = connect(busy_timeout=0.1)
    await backend.records.write([record])
    await backend.records.delete(record.id)
    raw.execute("BEGIN IMMEDIATE")
    await backend.close()
    raw.execute("ROLLBACK")
    assert b"zebra" in bytes_of(path)
    async with connect():
        pass
    raw.close()
    assert b"zebra" not in bytes_of(path)


# --- damage ---

FIELDS = "words, tag_words, context_words, scope, namespace"
BREAKAGES = {
    "a word is missing": f"INSERT INTO record_words (record_words, rowid, {FIELDS})"
    f" SELECT 'delete', seq, {FIELDS} FROM records WHERE seq = 7",
    "a word is too many": f"INSERT INTO record_words (rowid, {FIELDS}) VALUES (9999, 'ghost', '', '', '', 1)",
    "stored words differ": "UPDATE records SET words = 'ghost' WHERE seq IN (7, 300)",
    "stored context differs": "UPDATE records SET context_words = 'ghost' WHERE seq = 7",
    "the stored scope differs": "UPDATE records SET scope = (SELECT scope FROM records WHERE seq = 6) WHERE seq = 7",
    "terms are missing": "DELETE FROM record_terms WHERE seq = 7",
    "a term leads nowhere": "INSERT INTO record_terms SELECT term, created_at, 9999 FROM record_terms WHERE seq = 7",
    "an ended record has the terms of a valid one": "UPDATE record_terms SET term = substr(term, 1, 12) WHERE seq = 1",
    "a valid record has the terms of an ended one": "UPDATE record_terms SET term = CAST(term || x'01' AS BLOB)"
    " WHERE seq = 7",
    "all words are gone": "INSERT INTO record_words (record_words) VALUES ('delete-all')",
    "all terms are gone": "DELETE FROM record_terms",
}


async def test_a_sound_store_has_no_faults(filled: SqliteBackend) -> None:
    report = await filled.check()
    assert (report.checked, report.faults, report.repaired) == (451, (), False)


@pytest.mark.parametrize("breakage", BREAKAGES)
async def test_check_finds_what_is_broken_and_repairs_it(
    filled: SqliteBackend, raw: sqlite3.Connection, breakage: str
) -> None:
    raw.execute(BREAKAGES[breakage])
    found = await filled.check(repair=False)
    assert found.faults
    assert "tea" not in " ".join(found.faults)
    repaired = await filled.check()
    assert (repaired.faults, repaired.repaired) == (found.faults, True)
    assert (await filled.check()).faults == ()
    assert await ids(filled, text="ghost") == []
    assert await ids(filled, tags=["tag6"]) == await ids(filled, text="tag6", scope={"user": "u0"}) == [6]
    assert await ids(filled, tags=["tag10"]) == []
    assert len(await ids(filled, text="tea", limit=999)) == len(await ids(filled, text="noon", limit=999)) == 405


async def test_a_damaged_record_is_named_and_cannot_be_repaired(filled: SqliteBackend, raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE records SET payload = '{}' WHERE seq = 7")
    report = await filled.check()
    assert str(UUID(int=6)) in report.faults[0]
    assert not report.repaired


async def test_progress_tells_of_items_and_records_together(filled: SqliteBackend) -> None:
    told: list[tuple[int, int]] = []
    assert await filled.reindex(progress=lambda done, total: told.append((done, total))) == 451
    assert told == [(1, 451), (201, 451), (401, 451), (451, 451)]


async def test_words_of_another_analysis_are_not_searched_until_they_are_made_anew(
    filled: SqliteBackend, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled.close()
    for module in (backend_module, index, maintenance, schema, search):
        monkeypatch.setattr(module, "ANALYSIS_VERSION", 2)
    analyse = record_table.analyse_record

    def marked(content: str, tags: Sequence[str], context: str | None) -> tuple[list[str], list[str], list[str]]:
        words, tag_words, context_words = analyse(content, tags, context)
        return [*words, "zzz"], tag_words, context_words

    monkeypatch.setattr(record_table, "analyse_record", marked)
    backend = connect()
    await backend.records.write([tea(1_000)])
    with pytest.raises(MemoryAdapterUnavailable, match="memcore reindex"):
        await ids(backend, text="tea")
    assert await ids(backend, tags=["tag7"]) == [7]
    assert await backend.reindex() == 452
    assert len(await ids(backend, text="zzz", limit=999)) == 406
    assert len(await backend.items.search(MemoryQuery(text="tea"))) == 1
