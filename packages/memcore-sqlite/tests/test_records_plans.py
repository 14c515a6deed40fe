"""How records are read: which indexes lead there, and what is never passed on the way."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from memcore import Invalidation, MemoryConflict, MemoryWrite, RecordQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memcore_sqlite.backend import SqliteBackend


def tea(number: int, **fields: object) -> MemoryWrite:
    given = {"scope": {"user": f"u{number % 3}"}, "tags": ["t", f"tag{number}"]}
    return MemoryWrite(**{"id": UUID(int=number), "content": f"tea number {number}", **given, **fields})


async def ids(backend: SqliteBackend, **query: object) -> list[int]:
    return [hit.record.id.int for hit in await backend.records.search(RecordQuery(**query))]


@pytest.fixture
async def filled(backend: SqliteBackend) -> SqliteBackend:
    """A backend with 450 records, every tenth of which has ended."""
    await backend.records.write([tea(number) for number in range(450)])
    await backend.records.write([Invalidation(id=UUID(int=number)) for number in range(0, 450, 10)])
    return backend


@pytest.fixture
async def statements(filled: SqliteBackend) -> list[str]:
    """The statements that the connections are given from now on, values filled in."""
    told: list[str] = []
    await filled._database.maintain(lambda session: session.set_trace_callback(told.append))
    for long in (False, True):
        for _ in range(2):
            await filled._database.read(lambda session: session.set_trace_callback(told.append), long=long)
    told.clear()
    return told


def plans(statements: list[str], path: Path) -> Iterator[str]:
    """The steps by which SQLite carries out what it was told."""
    with sqlite3.connect(path) as raw:
        for statement in list(statements):
            if statement.lstrip().startswith(("SELECT", "WITH", "UPDATE", "DELETE")):
                yield from (row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}"))
    raw.close()


async def next_page(backend: SqliteBackend) -> None:
    first = await backend.records.search(RecordQuery(limit=3))
    await backend.records.search(RecordQuery(limit=3, after=first[-1].cursor))


async def conflict(backend: SqliteBackend) -> None:
    await backend.records.write([tea(1_000, supersedes=[UUID(int=7)])])
    with pytest.raises(MemoryConflict):
        await backend.records.write([tea(1_001, supersedes=[UUID(int=7)])])


CALLS: dict[str, Callable[[SqliteBackend], Any]] = {
    **{
        str(query): lambda backend, query=query: ids(backend, **query)
        for query in (
            {},
            {"as_of": datetime(2100, 1, 1, tzinfo=UTC)},
            {"include_invalidated": True},
            {"tiers": ("short",)},
            {"scope": {"user": "u1"}},
            {"scope": {"user": "u1"}, "include_invalidated": True},
            {"tags": ("t", "tag7")},
            {"tags": ("t", "tag7"), "match_tags": "all", "scope": {"user": "u1"}},
            {"text": "tea"},
            {"text": "tea", "scope": {"user": "u1"}},
            {"text": "tea", "tags": ("t",), "as_of": datetime(2100, 1, 1, tzinfo=UTC)},
        )
    },
    "the next page": next_page,
    "get": lambda backend: backend.records.get(UUID(int=7)),
    "count": lambda backend: backend.records.count(),
    "scan": lambda backend: backend.records.scan(),
    "history": lambda backend: backend.records.history(UUID(int=7)),
    "supersede": lambda backend: backend.records.write([tea(1_000, supersedes=[UUID(int=7)])]),
    "supersede what has ended": conflict,
    "invalidate": lambda backend: backend.records.invalidate(UUID(int=7)),
    "touch": lambda backend: backend.records.touch([UUID(int=7)]),
    "sweep": lambda backend: backend.records.sweep(),
    "delete": lambda backend: backend.records.delete(UUID(int=7)),
    "delete_where": lambda backend: backend.records.delete_where({"user": "u1"}),
}


@pytest.mark.parametrize("call", CALLS)
async def test_no_call_reads_through_a_whole_table(
    filled: SqliteBackend, statements: list[str], path: Path, call: str
) -> None:
    await CALLS[call](filled)
    steps = list(plans(statements, path))
    assert [step for step in steps if "record" in step or " i " in step or "VIRTUAL" in step]
    whole = [step for step in steps if step.startswith("SCAN") and "VIRTUAL TABLE" not in step]
    assert not [step for step in whole if step.split()[1] in {"records", "i", "r", "record_terms", "t", "o"}]
    assert "USE TEMP B-TREE FOR ORDER BY" not in steps or "text" in call


@pytest.mark.parametrize(
    "query", [{}, {"scope": {"user": "ada"}}, {"tags": ("t",)}, {"text": "tea", "scope": {"user": "ada"}}], ids=str
)
async def test_what_is_valid_is_found_without_passing_what_has_ended(
    backend: SqliteBackend, query: dict[str, Any]
) -> None:
    async def steps() -> int:
        counted: list[int] = []
        long = "text" in query
        for _ in range(2):
            await backend._database.read(
                lambda session: session.set_progress_handler(lambda: counted.append(1), 10), long=long
            )
        await ids(backend, **query)
        for _ in range(2):
            await backend._database.read(lambda session: session.set_progress_handler(None, 0), long=long)
        return len(counted)

    await backend.records.write([tea(n, scope={"user": "ada"}) for n in range(30)])
    few = await steps()
    await backend.records.write([tea(n, scope={"user": "ada"}) for n in range(100, 2_100)])
    await backend.records.write([Invalidation(id=UUID(int=n)) for n in range(100, 2_100)])
    assert await steps() <= 1.5 * few
