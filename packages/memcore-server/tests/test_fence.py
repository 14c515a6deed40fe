"""The writes of one client end in the order in which it makes them, even if it does not know of their end (I-70)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest
from memcore_http.wire import CountAnswer, Ticket
from memcore_server import fence
from memcore_server.faults import Refused
from memcore_server.fence import Fence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CLIENT = uuid4()


def ticket(epoch: int, call: int = 0, client: UUID = CLIENT) -> Ticket:
    return Ticket(client=client, epoch=epoch, call=call)


class Writes:
    """Writes that end when they are told to, and the order in which they began."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.may_end = asyncio.Event()

    def __call__(self, name: str, *, waits: bool = False) -> Callable[[], Awaitable[CountAnswer]]:
        async def write() -> CountAnswer:
            self.begun.append(name)
            if waits:
                await self.may_end.wait()
            return CountAnswer(count=len(self.begun))

        return write


@pytest.fixture
async def writes() -> Writes:
    return Writes()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_later_epoch_waits_for_the_writes_of_an_earlier_one(writes: Writes) -> None:
    gate = Fence()
    first = asyncio.ensure_future(gate.run(ticket(0), writes("first", waits=True)))
    await settle()
    second = asyncio.ensure_future(gate.run(ticket(1, 1), writes("second")))
    await settle()
    assert writes.begun == ["first"]
    writes.may_end.set()
    await asyncio.gather(first, second)
    assert writes.begun == ["first", "second"]


async def test_writes_of_one_epoch_and_of_other_clients_wait_for_nothing(writes: Writes) -> None:
    gate = Fence()
    first = asyncio.ensure_future(gate.run(ticket(0), writes("first", waits=True)))
    await settle()
    await gate.run(ticket(0, 1), writes("same epoch"))
    await gate.run(ticket(5, 0, uuid4()), writes("other client"))
    assert writes.begun == ["first", "same epoch", "other client"]
    writes.may_end.set()
    await first


async def test_an_earlier_epoch_that_arrives_late_is_refused(writes: Writes) -> None:
    gate = Fence()
    await gate.run(ticket(1, 1), writes("second"))
    with pytest.raises(Refused) as caught:
        await gate.run(ticket(0), writes("first"))
    assert caught.value.body.code == "superseded"
    assert caught.value.body.applied_nothing
    assert writes.begun == ["second"]


async def test_a_write_that_fails_or_is_cancelled_holds_nobody_up(writes: Writes) -> None:
    gate = Fence()

    async def fail() -> CountAnswer:
        raise KeyError

    with pytest.raises(KeyError):
        await gate.run(ticket(0), fail)
    hanging = asyncio.ensure_future(gate.run(ticket(0, 1), writes("hangs", waits=True)))
    await settle()
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)
    await gate.run(ticket(1, 2), writes("next"))
    assert writes.begun == ["hangs", "next"]


async def test_an_erasure_that_is_made_again_gets_the_answer_of_the_first(writes: Writes) -> None:
    gate = Fence()
    first = asyncio.ensure_future(gate.run(ticket(0, 7), writes("erase", waits=True), remembered_as="erase"))
    await settle()
    again = asyncio.ensure_future(gate.run(ticket(1, 7), writes("again"), remembered_as="erase"))
    await settle()
    writes.may_end.set()
    assert await again == await first
    assert writes.begun == ["erase"]


async def test_another_kind_of_write_never_gets_the_answer_of_an_erasure(writes: Writes) -> None:
    gate = Fence()
    await gate.run(ticket(0, 7), writes("erase"), remembered_as="erase")
    await gate.run(ticket(0, 7), writes("sweep"), remembered_as="sweep")
    await gate.run(ticket(0, 7), writes("store"))
    assert writes.begun == ["erase", "sweep", "store"]


async def test_an_erasure_that_failed_is_really_made_again(writes: Writes) -> None:
    gate = Fence()

    async def fail() -> CountAnswer:
        raise KeyError

    with pytest.raises(KeyError):
        await gate.run(ticket(0, 7), fail, remembered_as="erase")
    await gate.run(ticket(1, 7), writes("again"), remembered_as="erase")
    assert writes.begun == ["again"]


async def test_what_is_remembered_is_bounded(writes: Writes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence, "_MOST_CLIENTS", 3)
    monkeypatch.setattr(fence, "_MOST_ANSWERS", 2)
    gate = Fence()
    for number in range(5):
        await gate.run(ticket(0, number), writes("x"), remembered_as="erase")
        await gate.run(ticket(0, 0, UUID(int=number)), writes("x"))
        await gate.run(ticket(0, number), writes("x"), remembered_as="erase")
    assert len(gate._clients) == 3
    assert list(gate._clients[CLIENT].answers) == [(3, "erase"), (4, "erase")]
