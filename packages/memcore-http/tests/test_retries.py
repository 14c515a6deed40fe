"""What is made again, after which pause, and how later writes are kept behind one whose outcome is unknown (I-70)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from memcore import MemoryAdapterError, MemoryAdapterUnavailable, MemoryItem
from memcore_http import wire
from memcore_http.answers import Failed
from memcore_http.pauses import Pauses, read_retry_after
from memcore_http.settings import HttpSettings
from memcore_http.transport import Transport
from memcore_http.wire_errors import ErrorBody

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Service
    from memcore_http.backend import HttpBackend

NOW = 1_800_000_000.0
"""What the clients' clock shows."""
ITEM = MemoryItem(content="tea")
STORED = {"ids": [str(ITEM.id)]}
UNKNOWN = [
    httpx.ReadTimeout("slow"),
    httpx.WriteError("reset"),
    httpx.RemoteProtocolError("Server disconnected without sending a response."),
    httpx.Response(502),
    httpx.Response(500),
]
NOT_BEGUN = [
    httpx.ConnectError("refused"),
    httpx.ConnectTimeout("slow"),
    httpx.PoolTimeout("none"),
    httpx.Response(429),
]


def typed(service: Service, code: Any) -> httpx.Response:
    body = ErrorBody.stating(code)
    return service.answer(body, body.status)


@pytest.mark.parametrize("fault", [*UNKNOWN, *NOT_BEGUN], ids=repr)
async def test_a_read_that_fails_in_passing_is_made_again(service: Service, backend: HttpBackend, fault: Any) -> None:
    route = service.answers(wire.COUNT, fault, fault, service.answer({"count": 3}))
    assert await backend.items.count() == 3
    assert route.call_count == 3


@pytest.mark.parametrize("fault", NOT_BEGUN, ids=repr)
async def test_a_write_that_did_not_begin_is_made_again(service: Service, backend: HttpBackend, fault: Any) -> None:
    route = service.answers(wire.STORE, fault, service.answer(STORED))
    assert await backend.items.store(ITEM) == ITEM.id
    assert service.tickets(route) == [(0, 0), (0, 0)]


async def test_a_write_that_a_busy_service_turned_away_is_made_again(service: Service, backend: HttpBackend) -> None:
    route = service.answers(wire.STORE, typed(service, "busy"), service.answer(STORED))
    assert await backend.items.store(ITEM) == ITEM.id
    assert route.call_count == 2


@pytest.mark.parametrize("fault", UNKNOWN, ids=repr)
async def test_a_write_whose_outcome_is_unknown_is_not_made_again_and_later_ones_stay_behind_it(
    service: Service, backend: HttpBackend, fault: Any
) -> None:
    route = service.answers(wire.STORE, fault, service.answer(STORED))
    with pytest.raises(MemoryAdapterUnavailable):
        await backend.items.store(ITEM)
    await backend.items.store(ITEM)
    assert service.tickets(route) == [(0, 0), (1, 1)]


@pytest.mark.parametrize("code", ["unavailable", "failed", "malformed"])
async def test_an_error_behind_the_service_leaves_the_outcome_of_a_write_unknown(
    service: Service, backend: HttpBackend, code: str
) -> None:
    route = service.answers(wire.STORE, typed(service, code), service.answer(STORED))
    with pytest.raises(MemoryAdapterError):
        await backend.items.store(ITEM)
    await backend.items.store(ITEM)
    assert service.tickets(route) == [(0, 0), (1, 1)]


async def test_a_write_that_was_refused_changes_nothing_for_later_ones(service: Service, backend: HttpBackend) -> None:
    route = service.answers(wire.STORE, typed(service, "unsupported_item"), service.answer(STORED))
    with pytest.raises(MemoryAdapterError):
        await backend.items.store(ITEM)
    await backend.items.store(ITEM)
    assert service.tickets(route) == [(0, 0), (0, 1)]


async def test_a_write_that_is_cancelled_keeps_later_ones_behind_it(service: Service, backend: HttpBackend) -> None:
    arrived = asyncio.Event()

    async def hang(_request: httpx.Request) -> httpx.Response:
        arrived.set()
        await asyncio.sleep(60)
        raise AssertionError

    route = service.router.post(service.url + wire.STORE.path).mock(side_effect=hang)
    write = asyncio.ensure_future(backend.items.store(ITEM))
    await arrived.wait()
    write.cancel()
    await asyncio.gather(write, return_exceptions=True)
    route.mock(return_value=service.answer(STORED))
    await backend.items.store(ITEM)
    assert service.tickets(route) == [(1, 1)]  # the one that was cancelled is not counted here


async def test_calls_that_are_cancelled_at_any_step_leave_the_only_connection_usable(service: Service) -> None:
    body = service.opening.model_dump_json()
    head = f"{wire.PROTOCOL_HEADER}: 1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"

    serving: set[asyncio.Task[Any] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}".encode())
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        transport = Transport(HttpSettings(base_url=f"http://127.0.0.1:{port}", max_connections=1, pool_timeout=5))
        await transport.open()
        for steps in range(100):
            call = asyncio.ensure_future(transport.ask(wire.OPEN, None, wire.Opening))
            for _ in range(steps):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        assert await transport.ask(wire.OPEN, None, wire.Opening, once=True) == service.opening
        await transport.close()
        await asyncio.gather(*filter(None, serving))


async def test_closing_ends_what_a_cancelled_call_has_left(service: Service, backend: HttpBackend) -> None:
    arrived, ended = asyncio.Event(), asyncio.Event()

    async def hang(_request: httpx.Request) -> httpx.Response:
        arrived.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        raise AssertionError

    service.router.post(service.url + wire.STORE.path).mock(side_effect=hang)
    write = asyncio.ensure_future(backend.items.store(ITEM))
    await arrived.wait()
    write.cancel()
    await asyncio.gather(write, return_exceptions=True)
    assert not ended.is_set()
    await backend.close()
    assert ended.is_set()


async def test_an_erasure_is_made_again_by_its_number_behind_its_first_attempt(
    service: Service, backend: HttpBackend
) -> None:
    route = service.answers(wire.DELETE, httpx.ReadTimeout("slow"), service.answer({"count": 1}))
    assert await backend.items.delete(ITEM.id) is True
    assert service.tickets(route) == [(0, 0), (1, 0)]


async def test_a_write_that_another_one_left_behind_is_sent_anew(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    """Its epoch was overtaken on the way; with no retry allowed it is no failure all the same."""
    backend = connect(retries=0)
    service.answers(wire.DELETE, httpx.ReadTimeout("slow"))

    async def overtaken(_request: httpx.Request) -> httpx.Response:
        with pytest.raises(MemoryAdapterUnavailable):
            await backend.items.delete(ITEM.id)
        route.mock(return_value=service.answer(STORED))
        return typed(service, "superseded")

    route = service.router.post(service.url + wire.STORE.path).mock(side_effect=overtaken)
    assert await backend.items.store(ITEM) == ITEM.id
    assert service.tickets(route) == [(0, 0), (1, 0)]


async def test_a_service_that_knows_a_later_epoch_than_its_client_is_no_endless_loop(
    service: Service, backend: HttpBackend
) -> None:
    service.answers(wire.STORE, typed(service, "superseded"))
    with pytest.raises(MemoryAdapterUnavailable):
        await backend.items.store(ITEM)


@pytest.mark.parametrize("fault", [httpx.Response(200), httpx.Response(401), httpx.Response(422), httpx.Response(301)])
async def test_a_wrong_or_refusing_answer_is_not_asked_for_again(
    service: Service, backend: HttpBackend, fault: httpx.Response
) -> None:
    route = service.answers(wire.COUNT, fault)
    with pytest.raises(MemoryAdapterError):
        await backend.items.count()
    assert route.call_count == 1


async def test_the_last_failure_is_raised_with_its_cause_when_retries_are_used_up(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    route = service.answers(wire.COUNT, httpx.ConnectError("refused"))
    with pytest.raises(MemoryAdapterUnavailable) as caught:
        await connect(retries=4).items.count()
    assert route.call_count == 5
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


async def test_a_failure_that_the_service_tells_has_its_answer_as_the_cause(
    service: Service, backend: HttpBackend
) -> None:
    service.answers(wire.COUNT, service.answer(ErrorBody.stating("unavailable"), 503))
    with pytest.raises(MemoryAdapterUnavailable) as caught:
        await backend.items.count()
    assert isinstance(caught.value.__cause__, Failed)


async def test_a_ping_is_one_round_trip(service: Service, backend: HttpBackend) -> None:
    route = service.answers(wire.PING, httpx.Response(503))
    with pytest.raises(MemoryAdapterUnavailable):
        await backend.ping()
    assert route.call_count == 1


async def test_pauses_double_up_to_the_longest(service: Service, connect: Callable[..., HttpBackend]) -> None:
    service.answers(wire.COUNT, httpx.ConnectError("refused"))
    with pytest.raises(MemoryAdapterUnavailable):
        await connect(retries=4, retry_wait=1, longest_wait=5).items.count()
    bounds = [(0.5, 1), (1, 2), (2, 4), (2.5, 5)]
    assert len(service.pauses) == len(bounds)
    assert all(low <= pause <= high for pause, (low, high) in zip(service.pauses, bounds, strict=True))


@pytest.mark.parametrize(
    ("asked", "pause"),
    [
        ("2", 2.0),
        (format_datetime(datetime.fromtimestamp(NOW + 3, UTC), usegmt=True), 3.0),
        ("86400", 10.0),
        ("Wed, 21 Oct 2065 07:28:00 GMT", 10.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_the_service_says_how_long_to_wait(
    service: Service, backend: HttpBackend, asked: str, pause: float, status: int
) -> None:
    service.answers(wire.COUNT, httpx.Response(status, headers={"retry-after": asked}), service.answer({"count": 3}))
    await backend.items.count()
    assert service.pauses == [pause]


@pytest.mark.parametrize("text", ["soon", "-1", "1.5", "Wed, 99 Oct 2015", "\xb2", None])
def test_what_is_no_retry_after_is_none(text: str | None) -> None:
    assert read_retry_after(text, now=NOW) is None


def test_a_pause_after_very_many_retries_is_the_longest() -> None:
    assert Pauses(first=0.1, longest=5).after(1000) <= 5


async def test_nothing_is_waited_for_when_nothing_fails(service: Service, backend: HttpBackend) -> None:
    service.answers(wire.COUNT, service.answer({"count": 3}))
    await backend.items.count()
    assert service.pauses == []
