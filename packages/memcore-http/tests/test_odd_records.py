"""What a service may answer about records, and what it may offer: the error that fits, before or after it is asked."""

from __future__ import annotations

import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from memcore import (
    MalformedMemoryPayload,
    MemoryConfigurationError,
    MemoryRecord,
    MemoryWrite,
    RecordCapabilities,
    RecordHistory,
    RecordLifecycle,
    RecordQuery,
    RecordStore,
    SizeLimits,
    Transfer,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore_http import wire, wire_records
from memcore_http.wire_errors import ErrorBody
from memcore_http.wire_records import HitBody, RecordBody

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Service
    from memcore_http.backend import HttpBackend

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RECORD = MemoryRecord(id=uuid4(), content="tea", created_at=NOW, updated_at=NOW)
BODY = RecordBody.of(RECORD)
OTHER = BODY.model_copy(update={"id": uuid4()})
NONE = BODY.model_copy(update={"payload": '{"content":"tea"}'})
PROTOCOLS = {"history": RecordHistory, "lifecycle": RecordLifecycle, "transfer": Transfer}


def offers(service: Service, records: RecordCapabilities | None) -> None:
    """Let the service say that its records can do this, or that there are none."""
    contracts = frozenset({"items", "records"} if records else {"items"})
    claims = service.opening.capabilities.model_copy(update={"contracts": contracts})
    opening = wire.Opening.of("default", service.opening.manifest, claims, records, max_request_bytes=1_000_000)
    service.answers(wire.OPEN, service.answer(opening))


@pytest.mark.parametrize("bodies", [[], [OTHER], [BODY, BODY], [NONE]], ids=["none", "another", "two", "broken"])
async def test_a_success_without_the_record_that_was_named_is_a_failure(
    service: Service, backend: HttpBackend, bodies: list[RecordBody]
) -> None:
    records: Any = backend.records
    service.answers(wire_records.WRITE, service.answer(wire_records.RecordsAnswer(records=bodies)))
    service.answers(wire_records.REFRESH, service.answer(wire_records.RecordsAnswer(records=bodies)))
    for call in (
        records.write([MemoryWrite(id=RECORD.id, content="tea")]),
        records.invalidate(RECORD.id),
        records.refresh(RECORD.id),
    ):
        with pytest.raises(MalformedMemoryPayload):
            await call


@pytest.mark.parametrize("body", [OTHER, NONE], ids=["another", "broken"])
async def test_a_record_that_is_another_or_none_is_malformed(
    service: Service, backend: HttpBackend, body: RecordBody
) -> None:
    service.answers(wire_records.GET, service.answer(wire_records.RecordAnswer(record=body)))
    with pytest.raises(MalformedMemoryPayload):
        await backend.records.get(RECORD.id)


@pytest.mark.parametrize("part", ['"tags":"hunter2"', '"context":["hunter2"]', '"hunter2":1', '"payload":"hunter2'])
async def test_a_broken_record_is_not_quoted(service: Service, backend: HttpBackend, part: str) -> None:
    body = BODY.model_copy(update={"payload": '{"scope":{"user":"hunter2"},"content":"hunter2",' + part + "}"})
    service.answers(wire_records.GET, service.answer(wire_records.RecordAnswer(record=body)))
    conflict = ErrorBody.stating("conflict").model_copy(update={"data": {"record": body.model_dump(mode="json")}})
    service.answers(wire_records.WRITE, service.answer(conflict, conflict.status))
    for call in (backend.records.get(RECORD.id), backend.records.invalidate(RECORD.id)):
        with pytest.raises(MalformedMemoryPayload) as caught:
            await call
        assert "hunter2" not in "".join(traceback.format_exception(caught.value)).replace(part, "")


async def test_a_broken_record_among_many_is_malformed(service: Service, backend: HttpBackend) -> None:
    records: Any = backend.records
    hits = [HitBody(record=body) for body in (BODY, NONE)]
    service.answers(wire_records.SEARCH, service.answer(wire_records.HitsAnswer(hits=hits)))
    service.answers(wire_records.HISTORY, service.answer(wire_records.RecordsAnswer(records=[BODY, NONE])))
    service.answers(wire_records.SCAN, service.answer(wire_records.RecordPageAnswer(records=[BODY, NONE], next=None)))
    for call in (records.search(RecordQuery()), records.history(RECORD.id), records.scan()):
        with pytest.raises(MalformedMemoryPayload):
            await call


async def test_more_than_was_asked_for_is_malformed(service: Service, backend: HttpBackend) -> None:
    records: Any = backend.records
    hits = [HitBody(record=BODY), HitBody(record=OTHER)]
    service.answers(wire_records.SEARCH, service.answer(wire_records.HitsAnswer(hits=hits)))
    service.answers(wire_records.SCAN, service.answer(wire_records.RecordPageAnswer(records=[BODY, OTHER], next=None)))
    service.answers(wire_records.DELETE, service.answer(wire.CountAnswer(count=2)))
    service.answers(wire_records.TOUCH, service.answer(wire.CountAnswer(count=2)))
    service.answers(wire_records.RESTORE, service.answer(wire.IdsAnswer(ids=[RECORD.id, RECORD.id])))
    for call in (
        records.search(RecordQuery(limit=1)),
        records.scan(limit=1),
        records.delete(RECORD.id),
        records.touch([RECORD.id]),
        records.restore([RECORD]),
    ):
        with pytest.raises(MalformedMemoryPayload):
            await call


async def test_what_the_door_refuses_is_never_sent(service: Service, connect: Callable[..., HttpBackend]) -> None:
    backend = connect(limits=SizeLimits(batch=1))
    records: Any = backend.records
    await backend.open()
    twice = [MemoryWrite(content="x"), MemoryWrite(content="y")]
    for call, kind in (
        (records.write([MemoryWrite(content="x", payload=float("nan"))]), UnsupportedMemoryItem),
        (records.write(twice), UnsupportedMemoryItem),
        (records.search(RecordQuery(limit=-1)), UnsupportedMemoryQuery),
        (records.search(RecordQuery(mode="semantic")), UnsupportedMemoryQuery),
        (records.search(RecordQuery(after="no cursor")), UnsupportedMemoryQuery),
        (records.get("no id"), UnsupportedMemoryQuery),
        (records.delete("no id"), UnsupportedMemoryQuery),
        (records.delete_where({}), UnsupportedMemoryQuery),
        (records.delete_where({"a": "b"}, kinds=["none"]), UnsupportedMemoryQuery),
        (records.history("no id"), UnsupportedMemoryQuery),
        (records.scan(limit=0), UnsupportedMemoryQuery),
        (records.scan(after="\ud800"), UnsupportedMemoryQuery),
        (records.touch([RECORD.id, uuid4()]), UnsupportedMemoryItem),
        (records.refresh(RECORD.id, "none"), UnsupportedMemoryQuery),
        (records.restore([RECORD, RECORD]), UnsupportedMemoryItem),
    ):
        with pytest.raises(kind):
            await call
    assert [str(call.request.url) for call in service.router.calls] == [service.url + "/v1"]


async def test_what_needs_no_answer_is_not_asked(service: Service, backend: HttpBackend) -> None:
    records: Any = backend.records
    assert await records.write([]) == []
    assert await records.touch([]) == 0
    assert await records.restore([]) == []
    for query in (RecordQuery(limit=0), RecordQuery(kinds=()), RecordQuery(tiers=()), RecordQuery(text="?!")):
        assert await records.search(query) == []
    assert len(service.router.calls) == 1


async def test_a_service_that_knows_no_records_offers_none(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    older = service.opening.model_dump(mode="json", exclude={"records"})
    older["capabilities"]["contracts"] = ["items"]
    service.answers(wire.OPEN, service.answer(older))
    backend = connect()
    early = backend.records
    with pytest.raises(MemoryConfigurationError, match="records"):
        await early.get(RECORD.id)
    for read in (lambda: backend.records, early.capabilities):
        with pytest.raises(MemoryConfigurationError, match="records"):
            read()
    assert backend.capabilities.contracts == {"items"}


@pytest.mark.parametrize("contracts", [["items"], ["items", "records"]])
async def test_an_opening_that_contradicts_itself_is_malformed(
    service: Service, connect: Callable[..., HttpBackend], contracts: list[str]
) -> None:
    opening = service.opening.model_dump(mode="json")
    opening["capabilities"]["contracts"] = contracts
    opening["records"] = opening["records"] if contracts == ["items"] else None
    service.answers(wire.OPEN, service.answer(opening))
    with pytest.raises(MalformedMemoryPayload):
        await connect().open()


@pytest.mark.parametrize("offered", [set(), {"history"}, {"lifecycle", "transfer"}, set(PROTOCOLS)])
async def test_the_records_satisfy_the_protocols_that_the_service_offers_and_no_other(
    service: Service, connect: Callable[..., HttpBackend], offered: set[str]
) -> None:
    offers(service, RecordCapabilities(search="keyword", **dict.fromkeys(offered, True)))
    async with connect() as backend:
        records = backend.records
        assert isinstance(records, RecordStore)
        assert {name for name, protocol in PROTOCOLS.items() if isinstance(records, protocol)} == offered


async def test_an_extension_that_turns_out_not_to_be_offered_is_a_wrong_set_up(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    offers(service, RecordCapabilities(search="keyword", history=True))
    for call in (
        lambda records: records.touch([RECORD.id]),
        lambda records: records.restore([RECORD]),
    ):
        with pytest.raises(MemoryConfigurationError, match="not offer"):
            await call(connect().records)


async def test_what_the_records_can_do_is_known_once_it_is_open_and_the_same_object_then(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    claimed = RecordCapabilities(search="hybrid", score_scale="similarity")
    offers(service, claimed)
    backend = connect()
    records = backend.records
    with pytest.raises(MemoryConfigurationError):
        records.capabilities()
    await backend.open()
    assert backend.records is records
    assert records.capabilities() == claimed
    assert records.capabilities() is records.capabilities()


async def test_a_closed_backend_tells_that_it_is_closed(connect: Callable[..., HttpBackend]) -> None:
    backend = connect()
    await backend.open()
    await backend.close()
    with pytest.raises(MemoryConfigurationError, match="closed"):
        await backend.records.get(RECORD.id)


async def test_a_name_beyond_ascii_is_emptied_by_its_name(
    service: Service, connect: Callable[..., HttpBackend]
) -> None:
    opening = service.opening.model_copy(update={"namespace": "caf\xe9"})
    service.answers(wire.OPEN, service.answer(opening))
    route = service.answers(wire.DROP_NAMESPACE, service.answer({}))
    await connect().drop_namespace()
    assert "caf\xe9" in route.calls.last.request.content.decode()
