"""The routes of records: take a request apart, ask the backend, put the answer together.

A write that is made again is answered by the store, which knows it by its ids (R-11). An erasure or a sweep that is
made again gets the answer of its first attempt, if that arrived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from fastapi import APIRouter, Response, Security
from fastapi.security import HTTPBearer
from memcore.errors import MalformedMemoryPayload
from memcore_http import wire, wire_records

from memcore_server.calls import ERRORS, Begun, answer
from memcore_server.faults import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memcore.records.model import MemoryRecord

Decoded = TypeVar("Decoded")

router: Final = APIRouter(responses=ERRORS, dependencies=[Security(HTTPBearer(auto_error=False))])


@router.post(
    wire_records.WRITE.path, response_model=wire_records.RecordsAnswer, summary="Write, supersede and invalidate"
)
async def write(body: wire_records.WriteRequest, call: Begun) -> Response:
    """Carry out all changes or none; return the records that they name."""
    changes = _decode(lambda: [change.decode() for change in body.changes], "changes")

    async def work() -> wire_records.RecordsAnswer:
        return _records(await call.records.write(changes))

    return await call.write(body.ticket, work)


@router.post(wire_records.SEARCH.path, response_model=wire_records.HitsAnswer, summary="Return the best records")
async def search_records(body: wire_records.RecordSearchRequest, call: Begun) -> Response:
    """Return the best matches of a query, or the newest."""
    query = _decode(lambda: wire_records.decode_record_query(body.query), "query")
    hits = await call.records.search(query)
    return answer(wire_records.HitsAnswer(hits=[wire_records.HitBody.of(hit) for hit in hits]))


@router.post(wire_records.GET.path, response_model=wire_records.RecordAnswer, summary="Return a record")
async def get(body: wire_records.RecordRequest, call: Begun) -> Response:
    """Return the record of that id, or null."""
    record = await call.records.get(body.id)
    return answer(wire_records.RecordAnswer(record=None if record is None else wire_records.RecordBody.of(record)))


@router.post(wire_records.DELETE.path, response_model=wire.CountAnswer, summary="Erase a record")
async def delete_record(body: wire_records.RecordDeleteRequest, call: Begun) -> Response:
    """Erase a record; return 1 if it was there."""

    async def work() -> wire.CountAnswer:
        return wire.CountAnswer(count=await call.records.delete(body.id))

    return await call.write(body.ticket, work, remember=wire_records.DELETE)


@router.post(wire_records.DELETE_WHERE.path, response_model=wire.CountAnswer, summary="Erase the records of a scope")
async def delete_records_where(body: wire_records.RecordDeleteWhereRequest, call: Begun) -> Response:
    """Erase all records whose scope contains this one; return how many did."""
    scope = _decode(lambda: wire_records.decode_scope(body.scope), "scope")

    async def work() -> wire.CountAnswer:
        return wire.CountAnswer(count=await call.records.delete_where(scope, kinds=body.kinds))

    return await call.write(body.ticket, work, remember=wire_records.DELETE_WHERE)


@router.post(
    wire_records.HISTORY.path, response_model=wire_records.RecordsAnswer, summary="Return what became of a record"
)
async def history(body: wire_records.RecordRequest, call: Begun) -> Response:
    """Return all that is linked with a record by superseding, oldest first."""
    return answer(_records(await call.extended("history").history(body.id)))


@router.post(wire_records.SCAN.path, response_model=wire_records.RecordPageAnswer, summary="Return the next page")
async def scan_records(body: wire.ScanRequest, call: Begun) -> Response:
    """Return the next page of records in order of id."""
    page = await call.extended("history").scan(after=body.after, limit=body.limit)
    return answer(wire_records.RecordPageAnswer(records=_records(page.records).records, next=page.next))


@router.get(wire_records.COUNT.path, response_model=wire.CountAnswer, summary="Count the records")
async def count_records(call: Begun) -> Response:
    """Return how many records there are."""
    return answer(wire.CountAnswer(count=await call.extended("history").count()))


@router.post(wire_records.TOUCH.path, response_model=wire.CountAnswer, summary="Count a use of records")
async def touch(body: wire_records.TouchRequest, call: Begun) -> Response:
    """Count a use of each record; return how many of them there are."""

    async def work() -> wire.CountAnswer:
        return wire.CountAnswer(count=await call.extended("lifecycle").touch(body.ids))

    return await call.write(body.ticket, work)


@router.post(wire_records.REFRESH.path, response_model=wire_records.RecordsAnswer, summary="Keep a record from decay")
async def refresh(body: wire_records.RefreshRequest, call: Begun) -> Response:
    """Set back the idle clock of a record and raise its tier; return it."""

    async def work() -> wire_records.RecordsAnswer:
        return _records([await call.extended("lifecycle").refresh(body.id, body.tier)])

    return await call.write(body.ticket, work)


@router.post(wire_records.SWEEP.path, response_model=wire_records.SweepAnswer, summary="Erase and archive what is over")
async def sweep(body: wire_records.SweepRequest, call: Begun) -> Response:
    """Erase what has expired, archive what lies idle."""

    async def work() -> wire_records.SweepAnswer:
        report = await call.extended("lifecycle").sweep(body.policy)
        return wire_records.SweepAnswer(erased=report.erased, archived=report.archived)

    return await call.write(body.ticket, work, remember=wire_records.SWEEP)


@router.post(wire_records.RESTORE.path, response_model=wire.IdsAnswer, summary="Write records as they were")
async def restore(body: wire_records.RestoreRequest, call: Begun) -> Response:
    """Write records with their ids, times, links and hits; all or none."""
    records = _decode(lambda: [record.decode() for record in body.records], "records")

    async def work() -> wire.IdsAnswer:
        return wire.IdsAnswer(ids=await call.extended("transfer").restore(records))

    return await call.write(body.ticket, work)


def _records(records: Iterable[MemoryRecord]) -> wire_records.RecordsAnswer:
    return wire_records.RecordsAnswer(records=[wire_records.RecordBody.of(record) for record in records])


def _decode(decode: Callable[[], Decoded], what: str) -> Decoded:
    try:
        return decode()
    except MalformedMemoryPayload as error:
        raise Refused("invalid_request", f"{what}: not what the protocol says") from error
