"""Opening, closing, and what happens when somebody forgets to."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import memcore
import pytest
from memcore import MemoryConfigurationError, MemoryItem, MemoryQuery
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    from pathlib import Path

Connect = Callable[..., SqliteBackend]


def files(path: Path) -> list[str]:
    """What lies in the folder."""
    return sorted(file.name for file in path.parent.iterdir())


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does in its own time."""
    for _ in range(1_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    pytest.fail("it never happened")


async def test_the_first_call_opens(connect: Connect) -> None:
    backend = connect()
    item = MemoryItem()
    await backend.items.store(item)
    assert await backend.items.retrieve(item.id) == item


async def test_many_first_calls_at_once_open_once(connect: Connect) -> None:
    backend = connect(readers=1)
    await asyncio.gather(*(backend.items.store(MemoryItem()) for _ in range(50)))
    assert len(backend._database._connections) == 3


async def test_claims_are_known_once_it_is_open(connect: Connect) -> None:
    backend = connect()
    for claim in (lambda: backend.items.manifest, lambda: backend.capabilities):
        with pytest.raises(MemoryConfigurationError):
            claim()
    await backend.open()
    assert backend.items.manifest is backend.items.manifest
    assert backend.items.manifest.open_filters


@pytest.mark.parametrize(("synchronous", "power_safe"), [("full", True), ("normal", False)])
async def test_a_file_is_durable_and_shared_and_power_safe_if_it_flushes(
    connect: Connect, synchronous: str, *, power_safe: bool
) -> None:
    backend = connect(synchronous=synchronous)
    await backend.open()
    claims = backend.capabilities
    assert (claims.durable, claims.shared, claims.power_safe) == (True, True, power_safe)
    level = await backend._database.maintain(lambda session: session.execute("PRAGMA synchronous").fetchone()[0])
    assert level == (2 if power_safe else 1)


async def test_a_database_in_memory_is_neither_durable_nor_shared_and_one_for_all_connections() -> None:
    async with memcore.connect("sqlite://") as backend:
        claims = backend.capabilities
        assert (claims.durable, claims.shared, claims.power_safe) == (False, False, False)
        item = MemoryItem(content="tea")
        await backend.items.store(item)
        assert await backend.items.search(MemoryQuery(text="tea")) == [item]
        assert await backend.items.retrieve(item.id) == item


async def test_conversations_are_not_offered(connect: Connect) -> None:
    with pytest.raises(MemoryConfigurationError, match="does not offer"):
        _ = connect().conversations


async def test_a_ping_names_what_takes_part(backend: SqliteBackend) -> None:
    health = await backend.ping()
    assert (health.status, health.detail) == ("ok", None)
    assert health.versions["sqlite"] == sqlite3.sqlite_version
    assert set(health.versions) == {"memcore-sqlite", "aiosqlite", "sqlite", "schema"}


async def test_closing_twice_is_closing_once(backend: SqliteBackend) -> None:
    await backend.close()
    await backend.close()


async def test_closing_what_never_opened_makes_no_file(connect: Connect, path: Path) -> None:
    await connect().close()
    assert files(path) == []


async def test_a_closed_backend_refuses_every_call(backend: SqliteBackend) -> None:
    await backend.close()
    calls = [
        lambda: backend.items.store(MemoryItem()),
        lambda: backend.items.search(MemoryQuery(limit=0)),
        backend.items.count,
        backend.ping,
        backend.open,
        backend.check,
    ]
    for call in calls:
        with pytest.raises(MemoryConfigurationError, match="closed"):
            await call()


async def test_closing_finishes_what_was_accepted(connect: Connect) -> None:
    backend = connect()
    await backend.open()
    calls = [asyncio.ensure_future(backend.items.store(MemoryItem())) for _ in range(100)]
    await asyncio.sleep(0)
    await backend.close()
    await asyncio.gather(*calls)
    assert await connect().items.count() == 100


async def test_a_cancelled_close_still_closes(backend: SqliteBackend, path: Path) -> None:
    await backend.items.store(MemoryItem())
    closing = asyncio.ensure_future(backend.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing])
    await until(lambda: files(path) == [path.name])


async def test_closing_ends_the_threads_and_leaves_one_file(connect: Connect, path: Path) -> None:
    before = threading.active_count()
    async with connect() as backend:
        await backend.items.store(MemoryItem())
        assert threading.active_count() > before
    await until(lambda: threading.active_count() <= before)
    assert files(path) == [path.name]


async def test_closing_is_possible_while_others_read_and_write(connect: Connect, raw: sqlite3.Connection) -> None:
    backend = connect()
    await backend.items.store(MemoryItem())
    raw.execute("BEGIN IMMEDIATE")
    raw.execute("SELECT * FROM items").fetchone()
    async with asyncio.timeout(5):
        await backend.close()
    raw.execute("ROLLBACK")
    assert await connect().items.count() == 1


def test_another_event_loop_is_refused(path: Path) -> None:
    with asyncio.Runner() as ours, asyncio.Runner() as theirs:
        backend = memcore.connect(f"sqlite:///{path}")
        ours.run(backend.open())
        for call in (backend.items.store(MemoryItem()), backend.ping(), backend.close()):
            with pytest.raises(MemoryConfigurationError, match="event loop"):
                theirs.run(call)
        ours.run(backend.close())


def test_a_process_that_forgot_to_close_ends_and_loses_nothing(run: Callable[..., str], path: Path) -> None:
    program = """
        import asyncio, sys, memcore

        async def main():
            backend = memcore.connect(f"sqlite:///{sys.argv[1]}")
            await backend.items.store(memcore.MemoryItem(content="tea"))
            asyncio.ensure_future(backend.items.store(memcore.MemoryItem(content="not waited for")))
            await asyncio.sleep(0)

        asyncio.run(main())
        print("ended")
    """
    assert run(program, path) == "ended\n"
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT count(*) FROM items").fetchone()[0] in {1, 2}
    raw.close()


def test_a_process_that_closes_warns_of_nothing(run: Callable[..., str], path: Path) -> None:
    program = """
        import asyncio, sys, memcore

        async def main():
            async with memcore.connect(f"sqlite:///{sys.argv[1]}") as backend:
                await backend.items.store(memcore.MemoryItem(content="tea"))

        asyncio.run(main())
    """
    assert run(program, path, options=("-W", "error")) == ""


def test_the_representation_names_file_and_namespace(path: Path) -> None:
    backend = memcore.connect(f"sqlite:///{path}", namespace="team")
    assert repr(backend) == f"<sqlite:///{path} backend, namespace 'team'>"
