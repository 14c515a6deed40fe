"""The records contract over a memory service: every call is checked here first, then one request (R-10 to R-22).

The ids of new records are made here, so that a write whose answer is lost is made again and is the same write (R-11).
Erasures, invalidations, a refresh and a sweep are made again too. Counting a use (`touch`) and restoring, which would
undo what others did meanwhile, are made again only where it is certain that they did not begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from memcore.backend import not_offered
from memcore.errors import MalformedMemoryPayload, MemoryConfigurationError
from memcore.kit.query import check_id, check_ids, check_page_limit
from memcore.records.query import (
    check_invalidation,
    check_policy,
    check_record_query,
    check_scope_erasure,
    check_tier,
)
from memcore.records.rows import encode_changes, encode_records
from memcore.records.store import RecordPage, SweepReport

from memcore_http import wire, wire_records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore.items.payload import SizeLimits
    from memcore.kit.lifecycle import Lifecycle
    from memcore.records.model import Invalidation, Kind, MemoryHit, MemoryRecord, MemoryWrite, RecordQuery, Tier
    from memcore.records.store import RecordCapabilities, SweepPolicy

    from memcore_http.transport import Transport
    from memcore_http.wire_records import RecordBody

Extension = Literal["history", "lifecycle", "transfer"]


class HttpRecords:
    """A `RecordStore` that keeps, finds and orders as the store behind the service does.

    Any number of tasks may call it at once. Times are those of that store (R-18).
    """

    def __init__(self, transport: Transport, lifecycle: Lifecycle) -> None:
        self._transport = transport
        self._lifecycle = lifecycle

    def claim(self, capabilities: RecordCapabilities | None, limits: SizeLimits) -> None:
        """Take over what the service offers, when the backend opens: no records, or some of the extensions (I-32)."""
        self._claimed = capabilities
        self._limits = limits
        offered = [kind for name, kind in _EXTENSIONS.items() if getattr(capabilities, name, False)]
        # the same object for the life of the backend, whose protocols are known from now on
        self.__class__ = type("HttpRecords", (*offered, HttpRecords), {})

    def capabilities(self) -> RecordCapabilities:
        """What the service said when the backend opened (R-17)."""
        self._lifecycle.require_open("the capabilities")
        return self._offered()

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        """Carry out all changes or none, in one request (R-10 to R-13)."""
        await self._ready()
        encoded = encode_changes(changes, self._limits)
        if not encoded:
            return []
        bodies = [wire_records.encode_change(change) for change in encoded]
        answer = await self._transport.write(
            wire_records.WRITE,
            lambda ticket: wire_records.WriteRequest(ticket=ticket, changes=bodies),
            wire_records.RecordsAnswer,
        )
        return _expect(answer.records, [change.id for change in encoded])

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        """Return the best matches, or the newest, as the store behind the service ranks them (R-16)."""
        capabilities = await self._ready()
        checked = check_record_query(query, capabilities.search)
        if checked.finds_nothing:
            return []
        request = wire_records.RecordSearchRequest(query=wire_records.encode_record_query(query))
        answer = await self._transport.ask(wire_records.SEARCH, request, wire_records.HitsAnswer)
        _check_number(answer.hits, most=checked.limit)
        return [hit.decode() for hit in answer.hits]

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        """Return the record, or `None` (R-15)."""
        await self._ready()
        key = check_id(record_id)
        request = wire_records.RecordRequest(id=key)
        answer = await self._transport.ask(wire_records.GET, request, wire_records.RecordAnswer)
        return None if answer.record is None else _expect([answer.record], [key])[0]

    async def invalidate(self, record_id: UUID, reason: str | None = None, actor: str | None = None) -> MemoryRecord:
        """End a record without a successor (R-13)."""
        (record,) = await self.write([check_invalidation(record_id, reason, actor)])
        return record

    async def delete(self, record_id: UUID) -> bool:
        """Erase a record; tell whether it was there (R-14)."""
        await self._ready()
        key = check_id(record_id)
        answer = await self._transport.write(
            wire_records.DELETE,
            lambda ticket: wire_records.RecordDeleteRequest(ticket=ticket, id=key),
            wire.CountAnswer,
        )
        return _at_most(answer, 1) == 1

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        """Erase what the scope contains (R-19)."""
        await self._ready()
        checked, wanted = check_scope_erasure(scope, kinds)
        text, named = wire_records.encode_scope(checked), None if wanted is None else sorted(wanted)
        answer = await self._transport.write(
            wire_records.DELETE_WHERE,
            lambda ticket: wire_records.RecordDeleteWhereRequest(ticket=ticket, scope=text, kinds=named),
            wire.CountAnswer,
        )
        return answer.count

    async def _ready(self, extension: Extension | None = None) -> RecordCapabilities:
        """Open on first use; whoever took the object before that may ask for what is not offered."""
        if not self._lifecycle.ready():
            await self._lifecycle.open()
        offered = self._offered()
        if extension is not None and not getattr(offered, extension):
            raise MemoryConfigurationError(f"the store behind the service does not offer the extension {extension!r}")
        return offered

    def _offered(self) -> RecordCapabilities:
        if self._claimed is None:
            raise not_offered("http", "records")
        return self._claimed


class HttpHistory(HttpRecords):
    """Where the service offers it, a `RecordHistory`."""

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        """Return all that is linked with a record, oldest first (R-20)."""
        await self._ready("history")
        request = wire_records.RecordRequest(id=check_id(record_id))
        answer = await self._transport.ask(wire_records.HISTORY, request, wire_records.RecordsAnswer)
        return _decode(answer.records)

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        """Return the next page in order of id (R-20)."""
        await self._ready("history")
        size = check_page_limit(limit)
        request = wire.ScanRequest(after=wire.check_cursor(after), limit=size)
        answer = await self._transport.ask(wire_records.SCAN, request, wire_records.RecordPageAnswer)
        _check_number(answer.records, most=size)
        return RecordPage(_decode(answer.records), answer.next)

    async def count(self) -> int:
        """Return how many records there are (R-20)."""
        await self._ready("history")
        return (await self._transport.ask(wire_records.COUNT, None, wire.CountAnswer)).count


class HttpLifecycle(HttpRecords):
    """Where the service offers it, a `RecordLifecycle`."""

    async def touch(self, record_ids: Sequence[UUID]) -> int:
        """Count a use of each record, in one request (R-21)."""
        await self._ready("lifecycle")
        ids = check_ids(record_ids, most=self._limits.batch)
        if not ids:
            return 0
        answer = await self._transport.write(
            wire_records.TOUCH,
            lambda ticket: wire_records.TouchRequest(ticket=ticket, ids=ids),
            wire.CountAnswer,
        )
        return _at_most(answer, len(ids))

    async def refresh(self, record_id: UUID, tier: Tier | None = None) -> MemoryRecord:
        """Set back the idle clock, and raise the tier (R-21)."""
        await self._ready("lifecycle")
        key, raised = check_id(record_id), check_tier(tier)
        answer = await self._transport.write(
            wire_records.REFRESH,
            lambda ticket: wire_records.RefreshRequest(ticket=ticket, id=key, tier=raised),
            wire_records.RecordsAnswer,
        )
        return _expect(answer.records, [key])[0]

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        """Erase what has expired, archive what lies idle (R-21).

        One that takes longer than the service gives a request is `MemoryAdapterUnavailable`; what it did stays done,
        and the next one goes on.
        """
        chosen = check_policy(policy)
        await self._ready("lifecycle")
        answer = await self._transport.write(
            wire_records.SWEEP,
            lambda ticket: wire_records.SweepRequest(ticket=ticket, policy=chosen),
            wire_records.SweepAnswer,
        )
        return SweepReport(erased=answer.erased, archived=answer.archived)


class HttpTransfer(HttpRecords):
    """Where the service offers it, a `Transfer`."""

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        """Write records as they were, in one request (R-22)."""
        await self._ready("transfer")
        bodies = [wire_records.RecordBody.of_row(row) for row in encode_records(records, self._limits)]
        if not bodies:
            return []
        answer = await self._transport.write(
            wire_records.RESTORE,
            lambda ticket: wire_records.RestoreRequest(ticket=ticket, records=bodies),
            wire.IdsAnswer,
        )
        return wire.expect_ids(answer, [body.id for body in bodies])


class HttpUnopenedRecords(HttpHistory, HttpLifecycle, HttpTransfer):
    """The records of a service that has not been asked yet what it offers: it may be everything."""


_EXTENSIONS: Final[dict[Extension, type[HttpRecords]]] = {
    "history": HttpHistory,
    "lifecycle": HttpLifecycle,
    "transfer": HttpTransfer,
}


def _decode(bodies: Sequence[RecordBody]) -> list[MemoryRecord]:
    return [body.decode() for body in bodies]


def _expect(bodies: Sequence[RecordBody], ids: list[UUID]) -> list[MemoryRecord]:
    """Return the records if they are those that were named: a success without the identity is a failure (I-43)."""
    if [body.id for body in bodies] != ids:
        raise MalformedMemoryPayload("the service answered other records than those that were named")
    return _decode(bodies)


def _check_number(found: Sequence[object], *, most: int) -> None:
    if len(found) > most:
        raise MalformedMemoryPayload("the service answered more records than it was asked for")


def _at_most(answer: wire.CountAnswer, most: int) -> int:
    if answer.count > most:
        raise MalformedMemoryPayload("the service counted more records than it was given")
    return answer.count
