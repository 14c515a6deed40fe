"""Which calls about records are made again when it is unknown what became of them (R-11), and which are not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from memcore import MemoryAdapterUnavailable, MemoryConflict, MemoryRecord, MemoryWrite, RecordQuery
from memcore_http import wire, wire_records
from memcore_http.wire_errors import ErrorBody
from memcore_http.wire_records import RecordBody

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Service
    from memcore_http.backend import HttpBackend

NOW = datetime(2026, 1, 2, tzinfo=UTC)
WRITE = MemoryWrite(content="tea")
RECORD = MemoryRecord(id=WRITE.id, content="tea", created_at=NOW, updated_at=NOW)
BODY = RecordBody.of(RECORD)
RECORDS = wire_records.RecordsAnswer(records=[BODY])
COUNT = wire.CountAnswer(count=1)
LOST = httpx.ReadTimeout("slow")

READS: dict[str, tuple[wire.Route, Any, Callable[[Any], Any]]] = {
    "search": (wire_records.SEARCH, wire_records.HitsAnswer(hits=[]), lambda r: r.search(RecordQuery())),
    "get": (wire_records.GET, wire_records.RecordAnswer(record=BODY), lambda r: r.get(WRITE.id)),
    "history": (wire_records.HISTORY, RECORDS, lambda r: r.history(WRITE.id)),
    "scan": (wire_records.SCAN, wire_records.RecordPageAnswer(records=[], next=None), lambda r: r.scan()),
    "count": (wire_records.COUNT, COUNT, lambda r: r.count()),
}
IDEMPOTENT: dict[str, tuple[wire.Route, Any, Callable[[Any], Any]]] = {
    "write": (wire_records.WRITE, RECORDS, lambda r: r.write([WRITE])),
    "invalidate": (wire_records.WRITE, RECORDS, lambda r: r.invalidate(WRITE.id)),
    "delete": (wire_records.DELETE, COUNT, lambda r: r.delete(WRITE.id)),
    "delete_where": (wire_records.DELETE_WHERE, COUNT, lambda r: r.delete_where({"user": "ada"})),
    "refresh": (wire_records.REFRESH, RECORDS, lambda r: r.refresh(WRITE.id)),
    "sweep": (wire_records.SWEEP, wire_records.SweepAnswer(erased=1, archived=0), lambda r: r.sweep()),
}
OTHER: dict[str, tuple[wire.Route, Any, Callable[[Any], Any]]] = {
    "touch": (wire_records.TOUCH, COUNT, lambda r: r.touch([WRITE.id])),
    "restore": (wire_records.RESTORE, wire.IdsAnswer(ids=[WRITE.id]), lambda r: r.restore([RECORD])),
}


@pytest.mark.parametrize("name", READS)
async def test_a_read_is_made_again(service: Service, backend: HttpBackend, name: str) -> None:
    route, answer, call = READS[name]
    asked = service.answers(route, LOST, service.answer(answer))
    await call(backend.records)
    assert asked.call_count == 2


@pytest.mark.parametrize("name", IDEMPOTENT)
async def test_an_idempotent_write_is_made_again_by_its_number_behind_its_first_attempt(
    service: Service, backend: HttpBackend, name: str
) -> None:
    route, answer, call = IDEMPOTENT[name]
    asked = service.answers(route, LOST, service.answer(answer))
    await call(backend.records)
    assert service.tickets(asked) == [(0, 0), (1, 0)]


@pytest.mark.parametrize("name", OTHER)
async def test_counting_a_use_and_restoring_are_not_made_again_when_they_may_have_begun(
    service: Service, backend: HttpBackend, name: str
) -> None:
    route, answer, call = OTHER[name]
    asked = service.answers(route, LOST, service.answer(answer))
    with pytest.raises(MemoryAdapterUnavailable):
        await call(backend.records)
    assert service.tickets(asked) == [(0, 0)]


@pytest.mark.parametrize("name", [*IDEMPOTENT, *OTHER])
async def test_every_write_that_did_not_begin_is_made_again(service: Service, backend: HttpBackend, name: str) -> None:
    route, answer, call = (IDEMPOTENT | OTHER)[name]
    asked = service.answers(route, httpx.ConnectError("refused"), service.answer(answer))
    await call(backend.records)
    assert service.tickets(asked) == [(0, 0), (0, 0)]


async def test_a_write_that_is_made_again_is_the_same_write(service: Service, backend: HttpBackend) -> None:
    asked = service.answers(wire_records.WRITE, LOST, service.answer(RECORDS))
    assert await backend.records.write([WRITE]) == [RECORD]
    first, second = (wire_records.WriteRequest.model_validate_json(call.request.content) for call in asked.calls)
    assert first.changes == second.changes


async def test_a_conflict_is_final(service: Service, backend: HttpBackend) -> None:
    body = ErrorBody.of(MemoryConflict("ended", current=RECORD))
    asked = service.answers(wire_records.WRITE, service.answer(body, body.status))
    with pytest.raises(MemoryConflict) as caught:
        await backend.records.write([WRITE])
    assert repr(caught.value.current) == repr(RECORD)
    assert asked.call_count == 1
