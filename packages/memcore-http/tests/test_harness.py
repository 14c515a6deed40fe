"""What the runs of the suite cannot show of the harness: that what they call a kill, or a clock, is one."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import memcore
import pytest
from memcore import MemoryItem, MemoryWrite
from memcore_http.testing import HttpHarness, HttpHarnesses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ITEM = MemoryItem(content="tea")


class Connection:
    """A connection to the service that nobody uses meanwhile."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def is_alive(self) -> bool:
        try:
            self._writer.write(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
            return await self._reader.read(1) != b""
        except ConnectionError:
            return False
        finally:
            self._writer.close()


@pytest.fixture
async def harness() -> AsyncIterator[HttpHarness]:
    harness = HttpHarnesses("http", store="sqlite")()
    await harness.reset()
    yield harness
    await harness.close()


async def store_elsewhere(harness: HttpHarness) -> Connection:
    """Store an item as another process would, and return a connection to the service that it was given to."""
    url = harness.url()
    async with memcore.connect(url) as other:
        await other.items.store(ITEM)
    port = url.partition("127.0.0.1:")[2].partition("?")[0]
    return Connection(*await asyncio.open_connection("127.0.0.1", int(port)))


async def test_the_first_backend_meets_a_service_that_was_killed_since_others_wrote(harness: HttpHarness) -> None:
    connection = await store_elsewhere(harness)
    async with await harness.make_backend() as backend:
        assert not await connection.is_alive()
        assert await backend.items.retrieve(ITEM.id) == ITEM


async def test_a_service_that_others_share_is_not_killed(harness: HttpHarness) -> None:
    async with await harness.make_backend():
        connection = await store_elsewhere(harness)
        async with await harness.make_backend() as backend:
            assert await connection.is_alive()
            assert await backend.items.retrieve(ITEM.id) == ITEM


async def test_the_service_keeps_the_time_that_the_harness_sets_and_its_own_without(harness: HttpHarness) -> None:
    async with await harness.make_backend() as backend:
        first, second = [(await backend.records.write([MemoryWrite(content="tea")]))[0] for _ in range(2)]
    assert first.created_at < second.created_at
    await harness.reset()
    harness.advance(0.0)
    async with await harness.make_backend() as backend:
        (before,) = await backend.records.write([MemoryWrite(content="tea")])
        harness.advance(3600.0)
        await harness.make_transport_unavailable()
        await harness.restore_transport()
        (after,) = await backend.records.write([MemoryWrite(content="tea")])
    assert after.created_at - before.created_at == timedelta(hours=1)
    await harness.reset()
    async with await harness.make_backend() as backend:
        (third,) = await backend.records.write([MemoryWrite(content="tea")])
    assert second.created_at < third.created_at < after.created_at
