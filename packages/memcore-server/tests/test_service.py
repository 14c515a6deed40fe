"""The service lets in who may ask, within bounds, and tells each client what went wrong and nothing more."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import memcore
import pytest
from memcore import (
    MalformedMemoryPayload,
    ManagedMemoryStore,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryItem,
    MemoryQuery,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore.in_memory import InMemoryBackend
from memcore_http import wire
from memcore_http.wire_errors import ErrorBody
from memcore_server.limits import ServiceLimits
from memcore_server.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from conftest import Service

WRITER, READER, OTHER = "writer-of-team-a-1", "reader-of-team-a-1", "writer-of-team-b-1"
UNKNOWN = "wrong-token-wrong-token"
TOKENS = Tokens.read(
    json.dumps(
        [
            {"token": WRITER, "namespace": "a", "access": "write"},
            {"token": READER, "namespace": "a", "access": "read"},
            {"token": OTHER, "namespace": "b", "access": "write"},
        ]
    ),
    source="the test",
)
HEADERS = {wire.PROTOCOL_HEADER: "1"}
TEA = MemoryItem(content="Ada prefers tea", tags=["ada"], metadata={"source": "chat"})


class Failing(InMemoryBackend):
    """A backend whose operations do what they are told."""

    def __init__(self, failure: BaseException | None = None) -> None:
        super().__init__()
        self.failure = failure
        self.may_end = asyncio.Event()
        self.begun = asyncio.Event()
        for name in ("store", "search", "retrieve"):
            setattr(self.items, name, self._fail)

    async def _fail(self, _argument: object) -> Any:
        self.begun.set()
        if self.failure is not None:
            raise self.failure
        await self.may_end.wait()
        return []


@pytest.fixture
def guarded(make_service: Callable[..., Service]) -> Service:
    return make_service(tokens=TOKENS)


class TestAccess:
    @pytest.mark.parametrize("authorization", [None, "Bearer wrong-token-wrong-token", f"Basic {WRITER}"])
    @pytest.mark.parametrize("path", ["/v1", "/v1/items/count", "/nothing"])
    async def test_without_a_known_token_nothing_is_told(
        self, guarded: Service, path: str, authorization: str | None
    ) -> None:
        headers = HEADERS | ({"authorization": authorization} if authorization else {})
        answer = await guarded.request("GET", path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert answer.headers["www-authenticate"] == "Bearer"

    async def test_a_client_with_a_wrong_token_gets_the_error_of_refused_credentials(self, guarded: Service) -> None:
        with pytest.raises(MemoryAdapterError) as caught:
            await guarded.connect(token=UNKNOWN).open()
        assert type(caught.value) is MemoryAdapterError

    async def test_a_token_opens_its_own_namespace_alone(self, guarded: Service) -> None:
        async with guarded.connect(token=WRITER) as a, guarded.connect(token=OTHER) as b:
            await a.items.store(TEA)
            assert await b.items.retrieve(TEA.id) is None
            assert await b.items.search(MemoryQuery()) == []
            await b.drop_namespace()
            assert await a.items.retrieve(TEA.id) == TEA

    async def test_a_token_does_not_open_a_namespace_that_is_asked_for(self, guarded: Service) -> None:
        with pytest.raises(MemoryAdapterError, match="another namespace"):
            await guarded.connect(token=OTHER, namespace="a").open()
        await guarded.connect(token=OTHER, namespace="b").open()

    async def test_a_token_for_reading_changes_nothing(self, guarded: Service) -> None:
        async with guarded.connect(token=WRITER) as writer, guarded.connect(token=READER) as reader:
            await writer.items.store(TEA)
            items: Any = reader.items
            for write in (
                items.store(MemoryItem(id=TEA.id)),
                items.store_many([MemoryItem(id=TEA.id)]),
                items.delete(TEA.id),
                items.delete_where({"source": "chat"}),
                reader.drop_namespace(),
            ):
                with pytest.raises(MemoryAdapterError, match="reading alone"):
                    await write
            assert await reader.items.retrieve(TEA.id) == TEA
            assert await items.count() == 1

    async def test_without_tokens_clients_choose_their_namespace(self, service: Service) -> None:
        async with service.connect(namespace="caf\xe9 / 1") as one, service.connect() as other:
            await one.items.store(TEA)
            assert await other.items.retrieve(TEA.id) is None
            assert await one.items.retrieve(TEA.id) == TEA

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", "10.0.0.1", ""])
    async def test_without_tokens_a_foreign_name_is_refused(self, service: Service, host: str) -> None:
        answer = await service.request("GET", "/v1", headers=HEADERS | {"host": host})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")

    @pytest.mark.parametrize("host", ["localhost", "localhost:8420", "127.0.0.1:8420", "[::1]:8420"])
    async def test_without_tokens_local_names_are_answered(self, service: Service, host: str) -> None:
        assert (await service.request("GET", "/v1", headers=HEADERS | {"host": host})).status_code == 200

    async def test_the_namespace_that_is_dropped_must_be_named(self, service: Service) -> None:
        ticket = {"client": str(uuid4()), "epoch": 0, "call": 0}
        body = {"ticket": ticket, "namespace": "other"}
        answer = await service.request("POST", "/v1/drop-namespace", json=body, headers=HEADERS)
        assert answer.status_code == 403


class TestClaims:
    async def test_a_client_learns_what_the_store_behind_claims(self, service: Service) -> None:
        async with service.connect() as client, memcore.connect("memory://") as behind:
            assert client.items.manifest.model_copy(update={"adapter": "memory"}) == behind.items.manifest
            assert client.capabilities == behind.capabilities.model_copy(update={"shared": True})

    async def test_maintenance_is_left_to_the_operator(
        self, make_service: Callable[..., Service], tmp_path: Any
    ) -> None:
        service = make_service(lambda name: memcore.connect(f"sqlite:///{tmp_path}/m.db", namespace=name))
        async with service.connect() as client:
            assert "maintenance" not in client.capabilities.extensions
            assert "managed" in client.capabilities.extensions
            assert client.capabilities.durable

    async def test_a_client_of_other_claims_is_told_to_connect_again(
        self, make_service: Callable[..., Service]
    ) -> None:
        limits = [{"tags": 5}, {"tags": 6}]
        one, other = (
            make_service(lambda _name, limit=limit: memcore.connect("memory://", limits=limit)) for limit in limits
        )
        async with one.connect() as backend:
            backend._transport._client = other.client  # type: ignore[attr-defined]  # the service was changed
            manifest = backend.items.manifest
            with pytest.raises(MemoryAdapterUnavailable, match="connect again"):
                await backend.items.retrieve(TEA.id)
            assert backend.items.manifest is manifest

    async def test_another_protocol_is_refused(self, service: Service) -> None:
        answer = await service.request("GET", "/v1", headers={wire.PROTOCOL_HEADER: "2"})
        assert (answer.status_code, answer.json()["code"]) == (400, "other_protocol")

    async def test_a_store_without_management_says_so(self, make_service: Callable[..., Service]) -> None:
        class Plain(InMemoryBackend):
            @property
            def items(self) -> Any:
                full = super().items

                class Items:
                    manifest = property(lambda _self: full.manifest)
                    store, retrieve, search = full.store, full.retrieve, full.search

                return Items()

        service = make_service(lambda _name: Plain())
        async with service.connect() as client:
            await client.items.store(TEA)
            assert await client.items.retrieve(TEA.id) == TEA
            assert "managed" not in client.capabilities.extensions
            assert not isinstance(client.items, ManagedMemoryStore)
        answer = await service.request("GET", wire.COUNT.path, headers=HEADERS)
        assert (answer.status_code, answer.json()["code"]) == (501, "configuration")


class TestBounds:
    async def test_a_request_that_is_too_long_is_refused_by_its_head(
        self, make_service: Callable[..., Service]
    ) -> None:
        service = make_service(limits=ServiceLimits(request_bytes=1024))
        answer = await service.request("POST", "/v1/items/retrieve", content=b" " * 1025, headers=HEADERS)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert service.log[-1]["bytes_in"] == 0

    async def test_a_request_without_a_length_is_refused_once_it_is_too_long(
        self, make_service: Callable[..., Service]
    ) -> None:
        sent = 0

        async def chunks() -> AsyncIterator[bytes]:
            nonlocal sent
            for _ in range(100):
                sent += 500
                yield b" " * 500

        service = make_service(limits=ServiceLimits(request_bytes=1024))
        headers = HEADERS | {"content-type": "application/json"}
        answer = await service.request("POST", "/v1/items/retrieve", content=chunks(), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert sent < 3000

    async def test_the_client_knows_how_long_a_request_may_be(self, make_service: Callable[..., Service]) -> None:
        service = make_service(limits=ServiceLimits(request_bytes=1024))
        async with service.connect() as client:
            requests = len(service.log)
            with pytest.raises(UnsupportedMemoryItem, match="1,024 bytes"):
                await client.items.store(MemoryItem(content="x" * 1024))
            assert len(service.log) == requests

    async def test_one_request_too_many_is_told_to_come_back(self, make_service: Callable[..., Service]) -> None:
        behind = Failing()
        service = make_service(lambda _name: behind, limits=ServiceLimits(requests=1))
        async with service.connect() as client:
            first = asyncio.ensure_future(client.items.search(MemoryQuery()))
            await behind.begun.wait()
            answer = await service.request("GET", "/v1", headers=HEADERS)
            assert (answer.status_code, answer.json()["code"]) == (503, "busy")
            assert answer.headers["retry-after"] == "1"
            assert (await service.request("GET", "/health")).status_code == 200
            behind.may_end.set()
            await first
        assert (await service.request("GET", "/v1", headers=HEADERS)).status_code == 200

    async def test_a_request_that_takes_too_long_is_ended(self, make_service: Callable[..., Service]) -> None:
        service = make_service(lambda _name: Failing(), limits=ServiceLimits(request_seconds=0.05))
        async with service.connect() as client:
            with pytest.raises(MemoryAdapterUnavailable, match="in time"):
                await client.items.store(TEA)

    async def test_one_namespace_too_many_is_refused_and_the_others_stay(
        self, make_service: Callable[..., Service]
    ) -> None:
        service = make_service(limits=ServiceLimits(namespaces=1))
        async with service.connect(namespace="a") as client:
            await client.items.store(TEA)
            with pytest.raises(MemoryAdapterUnavailable, match="too many namespaces"):
                await service.connect(namespace="b").open()
            assert await client.items.retrieve(TEA.id) == TEA


class TestFailures:
    @pytest.mark.parametrize(
        ("failure", "expected"),
        [
            (MemoryAdapterUnavailable("db.internal hunter2"), MemoryAdapterUnavailable),
            (MalformedMemoryPayload("row hunter2"), MalformedMemoryPayload),
            (MemoryAdapterError("role hunter2"), MemoryAdapterError),
            (KeyError("hunter2"), MemoryAdapterError),
            (TimeoutError("hunter2"), MemoryAdapterUnavailable),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else None,
    )
    async def test_what_failed_behind_is_told_by_its_kind_alone(
        self,
        make_service: Callable[..., Service],
        failure: Exception,
        expected: type[Exception],
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        service = make_service(lambda _name: Failing(failure))
        async with service.connect() as client:
            with pytest.raises(MemoryAdapterError) as caught:
                await client.items.retrieve(TEA.id)
        assert type(caught.value) is expected
        assert "hunter2" not in str(caught.value)
        assert str(service.log[-1]["request"]) in str(caught.value)
        assert capfd.readouterr().err == ""

    async def test_the_log_says_why_the_service_failed(self, make_service: Callable[..., Service]) -> None:
        service = make_service(lambda _name: Failing(MemoryAdapterUnavailable("db.internal is down")))
        async with service.connect() as client:
            with pytest.raises(MemoryAdapterUnavailable):
                await client.items.retrieve(TEA.id)
        assert service.log[-1]["reason"] == "MemoryAdapterUnavailable: db.internal is down"

    async def test_the_log_of_an_unexpected_error_has_its_place_and_not_its_text(
        self, make_service: Callable[..., Service]
    ) -> None:
        service = make_service(lambda _name: Failing(KeyError("hunter2")))
        async with service.connect() as client:
            with pytest.raises(MemoryAdapterError):
                await client.items.retrieve(TEA.id)
        assert service.log[-1]["reason"].startswith("KeyError at test_service.py:")
        assert "hunter2" not in json.dumps(service.log)

    async def test_what_the_store_refuses_is_refused_with_all_that_it_says(self, service: Service) -> None:
        item = wire.ItemBody(id=TEA.id, created_at=1.0, payload='{"content": 1e999, "metadata": {}, "tags": []}')
        ticket = wire.Ticket(client=uuid4(), epoch=0, call=0)
        body = wire.StoreRequest(ticket=ticket, item=item).model_dump(mode="json")
        answer = await service.request("POST", wire.STORE.path, json=body, headers=HEADERS)
        error = ErrorBody.model_validate(answer.json()).error()
        assert answer.status_code == 422
        assert isinstance(error, UnsupportedMemoryItem)
        assert (error.field, error.path) == ("content", "content")

    async def test_a_cursor_of_another_store_is_told(self, service: Service) -> None:
        async with service.connect() as client:
            items: Any = client.items
            with pytest.raises(UnsupportedMemoryQuery) as caught:
                await items.scan(after="other")
        assert caught.value.rejected_keys == ("after",)

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b"\xff",
            b"[" * 100_000,
            b'{"id": 5}',
            b'{"id": "hunter2"}',
            b'{"id": "%s", "hunter2": 1}' % str(TEA.id).encode(),
            b'{"id": ' + b"9" * 5000 + b"}",
        ],
        ids=["empty", "cut", "list", "no UTF-8", "deep", "number", "no UUID", "more", "long"],
    )
    async def test_a_request_that_is_none_is_refused_without_quoting_its_values(
        self, service: Service, body: bytes
    ) -> None:
        headers = HEADERS | {"content-type": "application/json"}
        answer = await service.request("POST", wire.RETRIEVE.path, content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
        assert '"hunter2"' not in answer.text

    @pytest.mark.parametrize("payload", ["{", "[]", "{}", '{"content": 1, "metadata": 2, "tags": 3}', "[" * 5000])
    async def test_a_payload_that_is_none_is_refused(self, service: Service, payload: str) -> None:
        ticket = {"client": str(uuid4()), "epoch": 0, "call": 0}
        item = {"id": str(uuid4()), "created_at": 1, "payload": payload}
        answer = await service.request("POST", wire.STORE.path, json={"ticket": ticket, "item": item}, headers=HEADERS)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")

    async def test_a_form_of_a_web_page_is_refused(self, service: Service) -> None:
        headers = HEADERS | {"content-type": "text/plain"}
        content = json.dumps({"id": str(TEA.id)})
        answer = await service.request("POST", wire.RETRIEVE.path, content=content, headers=headers)
        assert answer.status_code == 422

    @pytest.mark.parametrize(
        ("method", "path", "status"), [("GET", "/nothing", 404), ("PUT", "/v1", 405), ("GET", "/v1/items/store", 405)]
    )
    async def test_a_route_that_there_is_not_is_told_as_everything_else(
        self, service: Service, method: str, path: str, status: int
    ) -> None:
        answer = await service.request(method, path, headers=HEADERS)
        assert answer.status_code == status
        assert ErrorBody.model_validate(answer.json()).error().__class__ is MalformedMemoryPayload


class TestWatching:
    async def test_health_says_that_the_service_lives_and_ready_that_its_store_does(
        self, make_service: Callable[..., Service]
    ) -> None:
        class Down(InMemoryBackend):
            async def ping(self) -> Any:
                raise MemoryAdapterUnavailable("db.internal is down")

        service = make_service(lambda _name: Down(), tokens=TOKENS)
        assert (await service.request("GET", "/health")).json() == {"status": "ok"}
        answer = await service.request("GET", "/ready")
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")

    async def test_the_service_is_ready_when_its_store_is(self, guarded: Service) -> None:
        assert (await guarded.request("GET", "/ready")).json() == {"status": "ok"}

    async def test_one_line_is_logged_for_each_request_without_content_query_or_token(self, guarded: Service) -> None:
        async with guarded.connect(token=WRITER) as client:
            items: Any = client.items
            await items.store(TEA)
            await items.search(MemoryQuery(text="prefers", tags=["ada"], filters={"source": "chat"}))
            await items.retrieve(TEA.id)
        await guarded.request("GET", "/secret-path?query=secret", headers={"authorization": f"Bearer {WRITER}"})
        assert [(line["method"], line["route"], line["status"]) for line in guarded.log] == [
            ("GET", "/v1", 200),
            ("POST", "/v1/items/store", 200),
            ("POST", "/v1/items/search", 200),
            ("POST", "/v1/items/retrieve", 200),
            ("GET", None, 404),
        ]
        assert all(line["namespace"] == "a" for line in guarded.log[:4])
        assert all(line["bytes_out"] > 0 and line["seconds"] >= 0 for line in guarded.log)
        told = json.dumps(guarded.log)
        assert not [word for word in ("prefers", "ada", "chat", "secret", WRITER) if word in told]

    async def test_every_answer_names_protocol_and_request(self, service: Service) -> None:
        for path in ("/health", "/v1", "/nothing"):
            answer = await service.request("GET", path, headers=HEADERS)
            assert answer.headers[wire.PROTOCOL_HEADER] == "1"
            assert answer.headers[wire.REQUEST_HEADER] == service.log[-1]["request"]
