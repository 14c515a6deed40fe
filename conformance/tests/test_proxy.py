"""The network of the tests fails as it is told, and only then."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
from memcore_conformance.proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

LOST = (ConnectionError, asyncio.IncompleteReadError)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, asyncio.CancelledError):
        while data := await reader.read(100):
            writer.write(data)
    writer.close()


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    """A proxy before a service that sends back what it is sent."""
    async with (
        await asyncio.start_server(echo, "127.0.0.1", 0) as service,
        Proxy(service.sockets[0].getsockname()[1]) as proxy,
    ):
        yield proxy


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, text: bytes = b"tea") -> bytes:
        self._writer.write(text)
        return await self._reader.readexactly(len(text))

    async def rest(self, text: bytes = b"tea") -> bytes:
        self._writer.write(text)
        return await self._reader.read(100)


@contextlib.asynccontextmanager
async def connected(proxy: Proxy) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    yield Client(reader, writer)
    writer.close()


async def test_a_network_carries_what_it_is_given(proxy: Proxy) -> None:
    async with connected(proxy) as client:
        assert await client.ask(b"tea") == b"tea"
        assert await client.ask(b"coffee") == b"coffee"
    assert proxy.answered == 2


async def test_it_leads_to_a_socket_of_the_file_system_as_well(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    async with await asyncio.start_unix_server(echo, socket), Proxy(socket) as proxy, connected(proxy) as client:
        assert await client.ask() == b"tea"


async def test_a_service_that_is_not_there_ends_the_connection(tmp_path: Path) -> None:
    async with Proxy(tmp_path / "nothing") as proxy, connected(proxy) as client:
        with pytest.raises(LOST):
            await client.ask()


async def test_what_refuses_ends_new_connections_and_open_ones(proxy: Proxy) -> None:
    async with connected(proxy) as client:
        await client.ask()
        proxy.fail("refuse")
        with pytest.raises(LOST):
            await client.ask()
    async with connected(proxy) as client:
        with pytest.raises(LOST):
            await client.ask()
    assert proxy.answered == 1


async def test_what_hangs_holds_requests_back_until_it_is_healed(proxy: Proxy) -> None:
    proxy.fail("hang")
    async with connected(proxy) as client:
        asking = asyncio.ensure_future(client.ask())
        await proxy.wait_for_held(1)
        assert not asking.done()
        proxy.heal()
        assert await asking == b"tea"


async def test_what_was_held_back_may_stay_on_its_way_while_others_pass(proxy: Proxy) -> None:
    proxy.fail("hang")
    async with connected(proxy) as first, connected(proxy) as second:
        asking = asyncio.ensure_future(first.ask())
        await proxy.wait_for_held(1)
        proxy.heal(releases=False)
        assert await second.ask(b"coffee") == b"coffee"
        assert not asking.done()
        proxy.heal()
        assert await asking == b"tea"


@pytest.mark.parametrize("after", [0, 2])
async def test_an_answer_is_cut_after_some_bytes(proxy: Proxy, after: int) -> None:
    proxy.fail("cut", after=after)
    async with connected(proxy) as client:
        with pytest.raises(asyncio.IncompleteReadError) as caught:
            await client.ask()
        assert caught.value.partial == b"tea"[:after]


async def test_an_answer_is_reset_in_its_middle(proxy: Proxy) -> None:
    proxy.fail("reset", after=2)
    async with connected(proxy) as client:
        with pytest.raises(LOST):
            await client.ask()


async def test_it_heals_by_itself_after_as_many_answers_as_it_was_told(proxy: Proxy) -> None:
    proxy.fail("cut", times=2)
    for expected in (b"", b"", b"tea"):
        async with connected(proxy) as client:
            assert await client.rest() == expected


async def test_a_slow_network_loses_nothing(proxy: Proxy) -> None:
    proxy.delay = 0.01
    async with connected(proxy) as client:
        assert await client.ask() == b"tea"


async def test_leaving_ends_what_is_still_held_back(proxy: Proxy) -> None:
    async with Proxy(proxy.port) as slow:
        slow.fail("hang")
        async with connected(slow) as client:
            asking = asyncio.ensure_future(client.ask())
            await slow.wait_for_held(1)
    with pytest.raises(LOST):
        await asking
