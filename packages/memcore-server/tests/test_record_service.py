"""The service lets in who may change records, offers what its store offers, and tells nothing of what they hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import memcore
import pytest
from memcore import (
    MemoryAdapterError,
    MemoryConfigurationError,
    MemoryWrite,
    RecordHistory,
    RecordLifecycle,
    RecordQuery,
    RecordStore,
    Transfer,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore.in_memory import InMemoryBackend
from memcore_http import wire, wire_records
from memcore_http.wire_errors import ErrorBody
from memcore_server.limits import ServiceLimits
from memcore_server.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Service

WRITER, READER, OTHER = "writer-of-team-a-1", "reader-of-team-a-1", "writer-of-team-b-1"
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
TICKET = {"client": str(uuid4()), "epoch": 0, "call": 0}
TEA = MemoryWrite(content="Ada prefers tea", scope={"user": "ada"}, tags=["drinks"])


class ItemsAlone(InMemoryBackend):
    """A backend without records."""

    @property
    def capabilities(self) -> Any:
        return super().capabilities.model_copy(update={"contracts": frozenset({"items"})})

    @property
    def records(self) -> Any:
        raise AssertionError


class CoreAlone(InMemoryBackend):
    """A backend whose records have no extension."""

    @property
    def records(self) -> Any:
        full = super().records

        class Records:
            write, search, get = full.write, full.search, full.get
            invalidate, delete, delete_where = full.invalidate, full.delete, full.delete_where
            capabilities = full.capabilities

        return Records()


@pytest.fixture
def guarded(make_service: Callable[..., Service]) -> Service:
    return make_service(tokens=TOKENS)


async def test_a_token_for_reading_changes_no_record(guarded: Service) -> None:
    async with guarded.connect(token=WRITER) as writer, guarded.connect(token=READER) as reader:
        (tea,) = await writer.records.write([TEA])
        records: Any = reader.records
        for write in (
            records.write([MemoryWrite(content="x", supersedes=[tea.id])]),
            records.invalidate(tea.id),
            records.delete(tea.id),
            records.delete_where({"user": "ada"}),
            records.touch([tea.id]),
            records.refresh(tea.id),
            records.sweep(),
            records.restore([tea]),
        ):
            with pytest.raises(MemoryAdapterError, match="reading alone"):
                await write
        assert await records.history(tea.id) == [tea]
        assert await records.count() == 1
        assert [hit.record for hit in await records.search(RecordQuery(text="tea"))] == [tea]


async def test_a_token_opens_the_records_of_its_own_namespace_alone(guarded: Service) -> None:
    async with guarded.connect(token=WRITER) as a, guarded.connect(token=OTHER) as b:
        (tea,) = await a.records.write([TEA])
        assert await b.records.get(tea.id) is None
        assert await b.records.search(RecordQuery()) == []
        await b.drop_namespace()
        assert await a.records.get(tea.id) == tea
        await a.drop_namespace()
        assert await a.records.get(tea.id) is None


async def test_a_client_learns_what_the_records_behind_can_do(service: Service) -> None:
    async with service.connect() as client, memcore.connect("memory://") as behind:
        assert client.records.capabilities() == behind.records.capabilities()
        assert isinstance(client.records, (RecordHistory, RecordLifecycle, Transfer))


async def test_a_store_without_records_says_so(make_service: Callable[..., Service]) -> None:
    service = make_service(lambda _name: ItemsAlone())
    async with service.connect() as client:
        assert client.capabilities.contracts == {"items"}
        assert client.capabilities.extensions == {"managed"}
        with pytest.raises(MemoryConfigurationError, match="records"):
            _ = client.records
    answer = await service.request("GET", wire_records.COUNT.path, headers=HEADERS)
    assert (answer.status_code, answer.json()["code"]) == (501, "configuration")


async def test_records_without_extensions_have_none_over_http_either(make_service: Callable[..., Service]) -> None:
    service = make_service(lambda _name: CoreAlone())
    async with service.connect() as client:
        assert client.capabilities.extensions == {"managed"}
        assert isinstance(client.records, RecordStore)
        assert not isinstance(client.records, (RecordHistory, RecordLifecycle, Transfer))
        (tea,) = await client.records.write([TEA])
        assert await client.records.get(tea.id) == tea
    answer = await service.request("GET", wire_records.COUNT.path, headers=HEADERS)
    assert (answer.status_code, answer.json()["code"]) == (501, "configuration")


@pytest.mark.parametrize(
    ("route", "body"),
    [
        (wire_records.WRITE, {"changes": [{"change": "write", "id": str(uuid4()), "kind": "fact", "payload": "{}"}]}),
        (wire_records.WRITE, {"changes": [{"change": "invalidation", "id": str(uuid4()), "ending": "{}"}]}),
        (wire_records.WRITE, {"changes": [{"change": "other", "id": str(uuid4())}]}),
        (wire_records.WRITE, {"changes": [{"change": "invalidation", "id": str(uuid4()), "new": 1}]}),
        (wire_records.DELETE_WHERE, {"scope": '{"user":"ada"}'}),
        (wire_records.DELETE_WHERE, {"scope": "[]", "kinds": ["none"]}),
        (wire_records.REFRESH, {"id": str(uuid4()), "tier": "none"}),
        (wire_records.SWEEP, {"policy": {"short_idle": "P0D"}}),
        (wire_records.RESTORE, {"records": [{"id": str(uuid4()), "payload": "{}", "kind": "fact"}]}),
    ],
)
async def test_a_request_that_is_none_is_refused(service: Service, route: wire.Route, body: dict[str, Any]) -> None:
    answer = await service.request("POST", route.path, json={"ticket": TICKET, **body}, headers=HEADERS)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


async def test_a_query_that_is_none_is_refused(service: Service) -> None:
    answer = await service.request("POST", wire_records.SEARCH.path, json={"query": "{}"}, headers=HEADERS)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


async def test_what_the_store_refuses_is_refused_with_all_that_it_says(make_service: Callable[..., Service]) -> None:
    """From a client that checks less than ours."""
    service = make_service()
    for path, body, expected in (
        (wire_records.DELETE_WHERE.path, {"scope": "[]"}, UnsupportedMemoryQuery(["scope"])),
        (
            wire_records.WRITE.path,
            {"changes": [{"change": "write", "id": str(uuid4()), "kind": "fact", "payload": _payload("1e999")}]},
            UnsupportedMemoryItem(field="payload", path="changes[0].payload", reason="infinite"),
        ),
    ):
        answer = await service.request("POST", path, json={"ticket": TICKET, **body}, headers=HEADERS)
        error: Any = ErrorBody.model_validate(answer.json()).error()
        assert answer.status_code == 422
        assert type(error) is type(expected)
        carried = {name: value for name, value in vars(expected).items() if name != "reason"}
        assert {name: getattr(error, name) for name in carried} == carried


async def test_a_batch_that_is_larger_than_a_request_may_be_is_refused_before_it_is_sent(
    make_service: Callable[..., Service],
) -> None:
    service = make_service(limits=ServiceLimits(request_bytes=2000))
    async with service.connect() as client:
        with pytest.raises(UnsupportedMemoryItem, match="2,000 bytes"):
            await client.records.write([MemoryWrite(content="x" * 2000)])
        assert await client.records.search(RecordQuery()) == []
    assert wire_records.WRITE.path not in {line["route"] for line in service.log}


async def test_the_log_tells_nothing_of_what_records_hold(guarded: Service) -> None:
    async with guarded.connect(token=WRITER) as client:
        records: Any = client.records
        (tea,) = await records.write([TEA])
        await records.search(RecordQuery(text="prefers", scope={"user": "ada"}, tags=["drinks"]))
        await records.invalidate(tea.id, reason="wrong", actor="eve")
        with pytest.raises(memcore.MemoryConflict):
            await records.write([MemoryWrite(content="prefers", supersedes=[tea.id])])
        await records.delete_where({"user": "ada"})
    assert [(line["route"], line["status"], line["error"]) for line in guarded.log[1:]] == [
        (wire_records.WRITE.path, 200, None),
        (wire_records.SEARCH.path, 200, None),
        (wire_records.WRITE.path, 200, None),
        (wire_records.WRITE.path, 409, "conflict"),
        (wire_records.DELETE_WHERE.path, 200, None),
    ]
    told = json.dumps(guarded.log)
    assert not [word for word in ("prefers", "ada", "drinks", "wrong", "eve", str(tea.id)) if word in told]


def _payload(value: str) -> str:
    return '{"scope":{},"content":"x","payload":' + value + "}"
