"""The life of a backend: opened once, closed once, in one event loop (B-02, I-32, I-71)."""

from __future__ import annotations

import asyncio

import pytest
from memcore import MemoryConfigurationError
from memcore.kit.lifecycle import Lifecycle


class Service:
    """Counts, and yields in the middle as a real connection does."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failures = 0
        self.lifecycle = Lifecycle("<service>", opening=self._open, closing=self._close)

    async def _open(self) -> None:
        await asyncio.sleep(0)
        self.calls.append("open")
        if self.failures:
            self.failures -= 1
            raise OSError

    async def _close(self) -> None:
        await asyncio.sleep(0)
        self.calls.append("close")


async def test_it_opens_once_however_often_it_is_asked() -> None:
    service = Service()
    await asyncio.gather(*(service.lifecycle.open() for _ in range(5)))
    await service.lifecycle.open()

    assert service.calls == ["open"]
    assert service.lifecycle.is_open
    assert service.lifecycle.ready()


async def test_before_it_is_open_it_is_not_ready_and_tells_nothing() -> None:
    lifecycle = Service().lifecycle

    assert not lifecycle.ready()
    assert not lifecycle.is_open
    with pytest.raises(MemoryConfigurationError, match="the manifest of <service> is known once it is open"):
        lifecycle.require_open("the manifest")


async def test_an_opening_that_failed_may_be_tried_again() -> None:
    service = Service()
    service.failures = 1

    with pytest.raises(OSError):  # noqa: PT011 - the fake raises it bare
        await service.lifecycle.open()
    assert not service.lifecycle.is_open
    await service.lifecycle.open()
    assert service.lifecycle.is_open


async def test_an_opening_that_was_cancelled_may_be_tried_again() -> None:
    service = Service()
    opening = asyncio.create_task(service.lifecycle.open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    await service.lifecycle.open()
    assert service.lifecycle.is_open


async def test_it_closes_once_however_often_it_is_asked() -> None:
    service = Service()
    await service.lifecycle.open()
    await asyncio.gather(*(service.lifecycle.close() for _ in range(5)))
    await service.lifecycle.close()

    assert service.calls == ["open", "close"]
    assert not service.lifecycle.is_open


async def test_whoever_closes_it_too_waits_until_it_is_closed() -> None:
    service = Service()
    await service.lifecycle.open()
    first = asyncio.create_task(service.lifecycle.close())
    await asyncio.sleep(0)
    await service.lifecycle.close()

    assert service.calls == ["open", "close"]
    await first


async def test_a_closing_waits_for_the_opening_under_way() -> None:
    service = Service()
    await asyncio.gather(service.lifecycle.open(), service.lifecycle.close())

    assert service.calls == ["open", "close"]


async def test_what_was_never_open_is_closed_without_a_word() -> None:
    service = Service()
    await service.lifecycle.close()

    assert service.calls == []


async def test_after_closing_every_use_says_so() -> None:
    lifecycle = Service().lifecycle
    await lifecycle.open()
    await lifecycle.close()

    with pytest.raises(MemoryConfigurationError, match="<service> is closed; connect again"):
        await lifecycle.open()
    with pytest.raises(MemoryConfigurationError, match="<service> is closed; connect again"):
        lifecycle.ready()
    with pytest.raises(MemoryConfigurationError, match="<service> is closed; connect again"):
        lifecycle.require_open("the manifest")


async def test_an_opening_that_waits_for_a_closing_says_so_too() -> None:
    service = Service()
    closing = asyncio.create_task(service.lifecycle.close())
    opening = asyncio.create_task(service.lifecycle.open())
    await closing

    with pytest.raises(MemoryConfigurationError, match="is closed"):
        await opening


def test_another_event_loop_is_told_from_the_first() -> None:
    service = Service()
    asyncio.run(service.lifecycle.open())

    for use in (service.lifecycle.open, service.lifecycle.close):
        with pytest.raises(MemoryConfigurationError, match="<service> belongs to another event loop"):
            asyncio.run(use())
    assert service.calls == ["open"]


def test_what_is_closed_may_be_closed_again_from_anywhere() -> None:
    service = Service()

    async def use() -> None:
        await service.lifecycle.open()
        await service.lifecycle.close()

    asyncio.run(use())
    asyncio.run(service.lifecycle.close())
    assert service.calls == ["open", "close"]


def test_it_belongs_to_no_event_loop_before_its_first_use() -> None:
    service = Service()

    asyncio.run(service.lifecycle.open())
    assert service.lifecycle.is_open
