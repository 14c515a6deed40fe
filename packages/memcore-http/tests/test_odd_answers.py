"""Every odd answer is the one error that fits, and quotes nothing (I-43, I-70)."""

from __future__ import annotations

import json
import logging
import traceback
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import httpx
import memcore
import pytest
from memcore import (
    MalformedMemoryPayload,
    ManagedMemoryStore,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    MemoryConflict,
    MemoryItem,
    MemoryQuery,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore_http import wire
from memcore_http.wire_errors import ErrorBody

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Service
    from memcore_http.backend import HttpBackend

HEADERS = {wire.PROTOCOL_HEADER: "1"}
JSON = {**HEADERS, "content-type": "application/json"}
HTML = {"content-type": "text/html"}
SECRET = "hunter2-content"
ITEM = MemoryItem(content=SECRET)
BODY = wire.ItemBody.of(ITEM)


def page(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, headers={**HTML, **headers}, text=f"<html>{SECRET}</html>")


def error_body(code: Any, status: int = 200) -> httpx.Response:
    return httpx.Response(status, headers=JSON, content=ErrorBody.stating(code).encode())


GARBLED = httpx.Response(200, headers=JSON | {"content-encoding": "gzip"}, stream=httpx.ByteStream(b"x"))
DISCONNECTED = httpx.RemoteProtocolError("Server disconnected without sending a response.")
ODD = [
    ("a proxy's page for a service that is away", page(502), MemoryAdapterUnavailable),
    ("a login page", page(200), MalformedMemoryPayload),
    ("a page that passed our header on", page(200, **HEADERS), MalformedMemoryPayload),
    ("cut off", httpx.Response(200, headers=JSON, text='{"ids": ["'), MalformedMemoryPayload),
    ("empty", httpx.Response(200, headers=JSON), MalformedMemoryPayload),
    ("no content", httpx.Response(204, headers=JSON), MalformedMemoryPayload),
    ("another shape", httpx.Response(200, headers=JSON, json=[1]), MalformedMemoryPayload),
    ("a success with an error in it", error_body("unavailable"), MalformedMemoryPayload),
    ("no UTF-8", httpx.Response(200, headers=JSON, content=b'{"ids": ["\xff\xfe"]}'), MalformedMemoryPayload),
    ("wrongly compressed", GARBLED, MalformedMemoryPayload),
    ("JSON without our header", httpx.Response(200, json={"ids": []}), MalformedMemoryPayload),
    ("another protocol", httpx.Response(200, headers=JSON | {"memcore-protocol": "2"}, json={}),
     MemoryAdapterUnavailable),
    ("no such protocol", error_body("other_protocol", 400), MemoryAdapterUnavailable),
    ("moved", page(301, location="https://elsewhere.example/"), MalformedMemoryPayload),
    ("moved with its body", page(307, location="https://elsewhere.example/"), MalformedMemoryPayload),
    ("refused credentials", page(401), MemoryAdapterError),
    ("refused access", httpx.Response(403, json={"detail": SECRET}), MemoryAdapterError),
    ("no such page", httpx.Response(404, json={}), MalformedMemoryPayload),
    ("no such method", page(405), MalformedMemoryPayload),
    ("conflict", httpx.Response(409, json={}), MemoryConflict),
    ("too large", page(413), UnsupportedMemoryItem),
    ("invalid", httpx.Response(422, json={"detail": [{"loc": ["limit"]}]}), MemoryAdapterError),
    ("too many requests", httpx.Response(429), MemoryAdapterUnavailable),
    ("failed", page(500), MemoryAdapterUnavailable),
    ("busy", error_body("busy", 503), MemoryAdapterUnavailable),
    ("unknown code", httpx.Response(503, headers=JSON, json={"code": "new", "message": SECRET}),
     MemoryAdapterUnavailable),
    ("typed refusal", error_body("unauthenticated", 401), MemoryAdapterError),
    ("a status that there is not", httpx.Response(799), MalformedMemoryPayload),
    ("refused", httpx.ConnectError("refused"), MemoryAdapterUnavailable),
    ("broken off", DISCONNECTED, MemoryAdapterUnavailable),
    ("not HTTP", httpx.RemoteProtocolError("illegal status line"), MalformedMemoryPayload),
    ("too slow", httpx.ReadTimeout("slow"), MemoryAdapterUnavailable),
    ("busy pool", httpx.PoolTimeout("none free"), MemoryAdapterUnavailable),
    ("native", ConnectionResetError("reset"), MemoryAdapterUnavailable),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "expected"), [row[1:] for row in ODD], ids=[row[0] for row in ODD])
@pytest.mark.parametrize("operation", ["store", "retrieve"])
async def test_an_odd_answer_is_the_error_that_fits(
    service: Service, backend: HttpBackend, operation: str, answer: Any, expected: type[Exception]
) -> None:
    service.answers(wire.STORE, answer)
    service.answers(wire.RETRIEVE, answer)
    with pytest.raises(memcore.MemcoreError) as caught:
        await (backend.items.store(ITEM) if operation == "store" else backend.items.retrieve(ITEM.id))
    assert type(caught.value) is expected


@pytest.mark.parametrize("answer", [row[1] for row in ODD], ids=[row[0] for row in ODD])
async def test_no_error_and_no_log_shows_token_or_content(
    service: Service, connect: Callable[..., HttpBackend], answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.answers(wire.STORE, answer)
    with pytest.raises(memcore.MemcoreError) as caught:
        await connect(retries=0).items.store(ITEM)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
    assert service.token not in told
    assert SECRET not in told.replace(__file__, "")


@pytest.mark.parametrize("code", ErrorBody.model_fields["code"].annotation.__args__)  # type: ignore[union-attr]
async def test_a_typed_error_is_raised_as_what_it_was(
    service: Service, connect: Callable[..., HttpBackend], code: Any
) -> None:
    body = ErrorBody.stating(code).model_copy(update={"request": "abc123"})
    service.answers(wire.RETRIEVE, httpx.Response(body.status, headers=JSON, content=body.encode()))
    with pytest.raises(memcore.MemcoreError) as caught:
        await connect(retries=0).items.retrieve(ITEM.id)
    assert type(caught.value) is type(body.error())


async def test_an_error_names_the_request_in_the_services_log(service: Service, backend: HttpBackend) -> None:
    service.answers(wire.RETRIEVE, page(401, **{wire.REQUEST_HEADER: "abc123"}))
    with pytest.raises(MemoryAdapterError, match="status 401, request abc123"):
        await backend.items.retrieve(ITEM.id)


async def test_what_stands_for_a_request_id_is_not_quoted_if_it_is_none(service: Service, backend: HttpBackend) -> None:
    service.answers(wire.RETRIEVE, page(401, **{wire.REQUEST_HEADER: f"<{SECRET}>"}))
    with pytest.raises(MemoryAdapterError) as caught:
        await backend.items.retrieve(ITEM.id)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("ids", [[], [str(uuid4())], [str(ITEM.id)] * 2], ids=["none", "another", "two"])
async def test_a_stored_item_without_its_identity_is_a_failure(
    service: Service, backend: HttpBackend, ids: list[str]
) -> None:
    service.answers(wire.STORE, service.answer({"ids": ids}))
    service.answers(wire.STORE_MANY, service.answer({"ids": ids}))
    with pytest.raises(MalformedMemoryPayload):
        await backend.items.store(ITEM)
    with pytest.raises(MalformedMemoryPayload):
        await backend.items.store_many([ITEM])


@pytest.mark.parametrize(
    "body",
    [
        BODY.model_copy(update={"id": uuid4()}),
        BODY.model_copy(update={"payload": '{"content": 1'}),
        BODY.model_copy(update={"payload": '{"content": 1}'}),
        BODY.model_copy(update={"payload": '{"content": 1, "metadata": [], "tags": []}'}),
    ],
    ids=["another one", "cut", "incomplete", "of wrong types"],
)
async def test_an_item_that_is_none_is_malformed(service: Service, backend: HttpBackend, body: wire.ItemBody) -> None:
    service.answers(wire.RETRIEVE, service.answer(wire.ItemAnswer(item=body)))
    with pytest.raises(MalformedMemoryPayload):
        await backend.items.retrieve(ITEM.id)


async def test_more_than_was_asked_for_is_malformed(service: Service, backend: HttpBackend) -> None:
    service.answers(wire.SEARCH, service.answer(wire.ItemsAnswer(items=[BODY, BODY])))
    service.answers(wire.SCAN, service.answer(wire.PageAnswer(items=[BODY, BODY], next=None)))
    service.answers(wire.DELETE, service.answer(wire.CountAnswer(count=2)))
    for call in (
        backend.items.search(MemoryQuery(limit=1)),
        backend.items.scan(limit=1),
        backend.items.delete(ITEM.id),
    ):
        with pytest.raises(MalformedMemoryPayload):
            await call


async def test_a_miss_is_none(service: Service, backend: HttpBackend) -> None:
    service.answers(wire.RETRIEVE, service.answer(wire.ItemAnswer(item=None)))
    assert await backend.items.retrieve(ITEM.id) is None


async def test_an_answer_over_the_limit_is_refused_before_it_is_complete(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    sent = 0

    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> Any:
            nonlocal sent
            while sent < 1_000_000:
                sent += 1000
                yield b" " * 1000

    service.answers(wire.RETRIEVE, lambda _request: httpx.Response(200, headers=JSON, stream=Endless()))
    with pytest.raises(MalformedMemoryPayload, match="max_response_bytes"):
        await connect(max_response_bytes=5000).items.retrieve(ITEM.id)
    assert sent < 10_000


async def test_a_request_over_the_services_limit_is_not_sent(service: Service, backend: HttpBackend) -> None:
    stored = service.answers(wire.STORE, service.answer({"ids": []}))
    with pytest.raises(UnsupportedMemoryItem, match="1,000,000 bytes"):
        await backend.items.store(MemoryItem(content="x" * 1_000_000))
    with pytest.raises(UnsupportedMemoryQuery, match="1,000,000 bytes"):
        await backend.items.search(MemoryQuery(text="x" * 1_000_000))
    assert not stored.called


@pytest.mark.parametrize("after", [7, "\ud800", "caf\xe9", "x" * 1001])
async def test_a_cursor_that_cannot_travel_is_refused(backend: HttpBackend, after: Any) -> None:
    with pytest.raises(UnsupportedMemoryQuery) as caught:
        await backend.items.scan(after=after)
    assert caught.value.rejected_keys == ("after",)


async def test_the_smaller_limits_of_both_ends_hold(connect: Callable[..., HttpBackend]) -> None:
    backend = connect(limits=memcore.SizeLimits(tags=2, batch=1_000_000))
    await backend.open()
    limits = backend.capabilities.limits
    assert limits is not None
    assert (limits.tags, limits.batch, limits.content) == (2, 10_000, 4_000_000)


async def test_claims_are_unknown_until_it_is_open_and_the_same_object_then(
    connect: Callable[..., HttpBackend],
) -> None:
    backend = connect()
    for read in (lambda: backend.capabilities, lambda: backend.items.manifest):
        with pytest.raises(memcore.MemoryConfigurationError):
            read()
    await backend.open()
    assert backend.items.manifest is backend.items.manifest
    assert backend.capabilities is backend.capabilities


async def test_an_opening_that_fails_may_be_tried_again(service: Service, connect: Callable[..., HttpBackend]) -> None:
    service.answers(wire.OPEN, page(502), service.answer(service.opening))
    backend = connect(retries=0)
    with pytest.raises(MemoryAdapterUnavailable):
        await backend.open()
    await backend.open()
    assert backend.capabilities.shared is False


async def test_a_client_that_was_brought_along_stays_open(connect: Callable[..., HttpBackend]) -> None:
    backend = connect()
    await backend.open()
    await backend.close()
    assert not backend._settings.client.is_closed


async def test_a_client_that_its_owner_closed_is_told(connect: Callable[..., HttpBackend]) -> None:
    backend = connect()
    await backend.open()
    await backend._settings.client.aclose()
    with pytest.raises(memcore.MemoryConfigurationError, match="closed"):
        await backend.items.retrieve(ITEM.id)


async def test_the_request_names_protocol_token_claims_and_a_namespace_that_was_given(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    route = service.answers(wire.COUNT, service.answer(wire.CountAnswer(count=0)))
    await connect(namespace="caf\xe9 1").items.count()
    await connect().items.count()
    first, second = (call.request.headers for call in route.calls)
    assert first["authorization"] == f"Bearer {service.token}"
    assert (first[wire.PROTOCOL_HEADER], first[wire.CLAIMS_HEADER]) == ("1", service.opening.claims)
    assert first[wire.NAMESPACE_HEADER] == "caf%C3%A9%201"
    assert wire.NAMESPACE_HEADER not in second


async def test_items_that_cannot_be_listed_are_no_managed_store_once_that_is_known(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    claims = service.opening.capabilities.model_copy(update={"extensions": frozenset()})
    service.answers(wire.OPEN, service.answer(service.opening.model_copy(update={"capabilities": claims})))
    backend = connect()
    items = backend.items
    taken_before = (items.count(), items.delete(ITEM.id), items.delete_many([ITEM.id]), items.scan())
    for call in (*taken_before, items.delete_where({"a": 1}), items.store_many([ITEM])):
        with pytest.raises(MemoryConfigurationError, match="neither list nor erase"):
            await call
    assert backend.items is items
    assert not isinstance(items, ManagedMemoryStore)


async def test_an_id_stands_in_the_body_alone(service: Service, backend: HttpBackend) -> None:
    route = service.answers(wire.RETRIEVE, service.answer(wire.ItemAnswer(item=None)))
    await backend.items.retrieve(UUID(int=7))
    assert json.loads(route.calls.last.request.content) == {"id": str(UUID(int=7))}
    assert str(UUID(int=7)) not in str(route.calls.last.request.url)
