"""Jobs and hops: what shares a transaction, what fails alone, what cancelling leaves behind."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from memcore import (
    MemcoreError,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConflict,
    MemoryItem,
    MemoryQuery,
)
from memcore_sqlite import database
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    from pathlib import Path

    from memcore_sqlite.session import Session

Connect = Callable[..., SqliteBackend]

INSERT = "INSERT INTO meta (key, value) VALUES (?, ?)"


@pytest.fixture
async def told(backend: SqliteBackend) -> list[str]:
    """What the writer's connection is told from now on."""
    statements: list[str] = []
    await backend._database.maintain(lambda session: session.set_trace_callback(statements.append))
    return statements


@pytest.fixture
def hops(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each hand-over to a connection's thread."""
    counted: list[object] = []
    run = database._Connection.run

    def counting(connection: database._Connection, function: object, *, then: object) -> None:
        counted.append(connection)
        run(connection, function, then=then)

    monkeypatch.setattr(database._Connection, "run", counting)
    return counted


def writing(key: str) -> Callable[[Session], None]:
    return lambda session: session.execute(INSERT, (key, 1)) and None


def refusing(_session: Session) -> None:
    raise MemoryConflict("checked, and refused")


async def keys(backend: SqliteBackend) -> list[str]:
    return await backend._database.read(lambda session: [key for (key,) in session.execute("SELECT key FROM meta")])


async def test_a_call_hops_once(backend: SqliteBackend, hops: list[object]) -> None:
    item = MemoryItem(content="tea", tags=["t"], metadata={"k": 1})
    items = backend.items
    calls = [
        lambda: items.store(item),
        lambda: items.store_many([item] * 500),
        lambda: items.retrieve(item.id),
        lambda: items.search(MemoryQuery(text="tea", tags=["t"], filters={"k": 1})),
        lambda: items.search(MemoryQuery()),
        items.scan,
        items.count,
        lambda: items.delete_where({"k": 1}),
        lambda: items.delete(item.id),
        backend.ping,
        backend.drop_namespace,
    ]
    for number, call in enumerate(calls, 1):
        await call()
        assert len(hops) == number


async def test_what_needs_no_database_does_not_hop(backend: SqliteBackend, hops: list[object]) -> None:
    await backend.items.search(MemoryQuery(limit=0))
    await backend.items.search(MemoryQuery(text="?!"))
    await backend.items.store_many([])
    await backend.items.delete_many([])
    assert hops == []


async def test_writes_that_wait_share_a_commit(backend: SqliteBackend, told: list[str]) -> None:
    await asyncio.gather(*(backend.items.store(MemoryItem(content=str(n))) for n in range(64)))
    assert told.count("COMMIT") <= 2
    assert await backend.items.count() == 64


async def test_reads_that_wait_share_a_hop(backend: SqliteBackend, hops: list[object]) -> None:
    items = [MemoryItem() for _ in range(64)]
    await backend.items.store_many(items)
    hops.clear()
    found = await asyncio.gather(*(backend.items.retrieve(item.id) for item in items))
    assert found == items
    assert len(hops) <= 2


async def test_a_group_has_a_bound(backend: SqliteBackend, told: list[str]) -> None:
    count = 3 * database.LARGEST_GROUP
    await asyncio.gather(*(backend._database.write(writing(str(n))) for n in range(count)))
    assert told.count("COMMIT") in {3, 4}


async def test_a_job_that_refuses_fails_alone_and_nothing_is_done_again(
    backend: SqliteBackend, told: list[str]
) -> None:
    jobs = [writing("before"), refusing, writing("after")]
    write = backend._database.write
    outcomes = await asyncio.gather(write(writing("first")), *map(write, jobs), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), MemoryConflict, type(None)]
    assert "ROLLBACK" not in told
    assert {"before", "after"} <= set(await keys(backend))


async def test_of_a_group_whose_statement_fails_only_that_job_fails(backend: SqliteBackend) -> None:
    write = backend._database.write
    names = ["first", "before", "first", "after"]
    outcomes = await asyncio.gather(*(write(writing(name)) for name in names), return_exceptions=True)
    assert [isinstance(outcome, MemoryAdapterError) for outcome in outcomes] == [False, False, True, False]
    assert await keys(backend) == ["after", "analysis", "before", "first"]


async def test_of_stores_of_one_id_that_are_written_together_the_last_wins(backend: SqliteBackend) -> None:
    items = [MemoryItem(id=UUID(int=7), content=f"version {number}") for number in range(20)]

    await asyncio.gather(*(backend.items.store(item) for item in items))

    stored = await backend.items.retrieve(UUID(int=7))
    assert stored is not None
    assert stored.content == "version 19"
    assert await backend.items.search(MemoryQuery(text="3")) == []
    assert await backend.items.count() == 1


async def test_of_stores_that_are_written_together_only_the_one_that_cannot_fails(
    backend: SqliteBackend, raw: sqlite3.Connection
) -> None:
    raw.execute(
        "CREATE TRIGGER foreign_rule BEFORE INSERT ON items WHEN new.words LIKE '%poison%'"
        " BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    items = [MemoryItem(content="poison" if number == 3 else "tea") for number in range(8)]

    results = await asyncio.gather(*(backend.items.store(item) for item in items), return_exceptions=True)

    assert [isinstance(result, MemoryAdapterError) for result in results] == [number == 3 for number in range(8)]
    assert await backend.items.count() == 7


async def test_a_job_that_refuses_after_it_wrote_leaves_nothing(backend: SqliteBackend) -> None:
    def write_then_refuse(session: Session) -> None:
        writing("half")(session)
        refusing(session)

    write = backend._database.write
    jobs = [writing("first"), write_then_refuse, writing("other")]
    outcomes = await asyncio.gather(*map(write, jobs), return_exceptions=True)
    assert [isinstance(outcome, MemoryConflict) for outcome in outcomes] == [False, True, False]
    assert await keys(backend) == ["analysis", "first", "other"]


async def test_a_native_error_is_the_cause_and_its_text_stays_out_of_the_message(backend: SqliteBackend) -> None:
    await backend._database.write(writing("once"))
    with pytest.raises(MemoryAdapterError, match=r"memory\.db: SQLite failed \(SQLITE_CONSTRAINT_\w+\)") as caught:
        await backend._database.write(writing("once"))
    assert isinstance(caught.value.__cause__, sqlite3.IntegrityError)


async def test_a_write_that_is_done_is_in_every_later_read(backend: SqliteBackend) -> None:
    for n in range(50):
        item = MemoryItem(content=f"tea{n}")
        await backend.items.store(item)
        assert await backend.items.retrieve(item.id) is not None
        assert await backend.items.search(MemoryQuery(text=f"tea{n}")) == [item]


async def test_writes_take_effect_in_the_order_of_their_calls(backend: SqliteBackend) -> None:
    item = MemoryItem(content=0)
    versions = [MemoryItem(id=item.id, content=n) for n in range(200)]
    await asyncio.gather(*map(backend.items.store, versions))
    assert (await backend.items.retrieve(item.id)).content == 199  # type: ignore[union-attr]


@pytest.mark.parametrize("steps", range(12))
async def test_a_call_cancelled_at_any_step_leaves_no_transaction_open(backend: SqliteBackend, steps: int) -> None:
    batch = [MemoryItem(content="tea") for _ in range(300)]
    call = asyncio.ensure_future(backend.items.store_many(batch))
    for _ in range(steps):
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    after = MemoryItem()
    await backend.items.store(after)
    assert await backend.items.count() in {1, 301}
    assert await backend._database.maintain(lambda session: session.in_transaction) is False


@pytest.mark.parametrize("steps", range(12))
async def test_a_cancelled_opening_can_be_done_again(connect: Connect, steps: int) -> None:
    backend = connect()
    call = asyncio.ensure_future(backend.items.store(MemoryItem()))
    for _ in range(steps):
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    await backend.items.store(MemoryItem())
    assert await backend.items.count() in {1, 2}


async def test_a_cancelled_read_keeps_no_other_from_its_answer(backend: SqliteBackend) -> None:
    item = MemoryItem()
    await backend.items.store(item)
    calls = [asyncio.ensure_future(backend.items.retrieve(item.id)) for _ in range(20)]
    await asyncio.sleep(0)
    for call in calls[::2]:
        call.cancel()
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert found[1::2] == [item] * 10


async def test_a_lock_held_too_long_is_unavailable_and_passes(connect: Connect, raw: sqlite3.Connection) -> None:
    backend = connect(busy_timeout=0.05)
    await backend.open()
    raw.execute("BEGIN IMMEDIATE")
    with pytest.raises(MemoryAdapterUnavailable, match="busy_timeout"):
        await backend.items.store(MemoryItem())
    raw.execute("ROLLBACK")
    await backend.items.store(MemoryItem())
    assert await backend.items.count() == 1


async def test_a_lock_held_for_a_moment_is_waited_for(backend: SqliteBackend, raw: sqlite3.Connection) -> None:
    raw.execute("BEGIN IMMEDIATE")
    call = asyncio.ensure_future(backend.items.store(MemoryItem()))
    await asyncio.sleep(0.05)
    assert not call.done()
    raw.execute("ROLLBACK")
    await call


async def test_everybody_in_a_group_hears_of_a_lock_after_one_wait(connect: Connect, raw: sqlite3.Connection) -> None:
    backend = connect(busy_timeout=0.2)
    await backend.open()
    raw.execute("BEGIN IMMEDIATE")
    calls = [backend.items.store(MemoryItem()) for _ in range(100)]
    async with asyncio.timeout(10):  # one by one it would be 20 seconds
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {MemoryAdapterUnavailable}


async def test_a_long_read_keeps_no_short_one_waiting(backend: SqliteBackend) -> None:
    item = MemoryItem()
    await backend.items.store(item)
    release = asyncio.Event()
    loop = asyncio.get_running_loop()

    def linger(_session: Session) -> None:
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result()

    long = backend._database.read(linger, long=True)
    assert await backend.items.retrieve(item.id) == item
    assert not long.done()
    release.set()
    await long


async def test_no_content_is_logged(backend: SqliteBackend, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    item = MemoryItem(content="confidential")
    await backend.items.store(item)
    await backend.items.search(MemoryQuery(text="confidential"))
    assert "confidential" not in caplog.text
    assert "executing" in caplog.text


async def test_no_error_shows_content(backend: SqliteBackend, raw: sqlite3.Connection, path: Path) -> None:
    raw.execute("DROP TABLE item_terms")
    with pytest.raises(MemcoreError) as caught:
        await backend.items.store(MemoryItem(content="confidential", tags=["confidential"]))
    assert "confidential" not in str(caught.value)
    assert str(path) in str(caught.value)
