"""The records contract over one SQLite file, with every extension."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from memcore.kit.query import check_id, check_ids, check_page_limit, decode_cursor, encode_cursor
from memcore.kit.terms import scope_terms
from memcore.records.query import (
    check_invalidation,
    check_policy,
    check_record_query,
    check_scope_erasure,
    check_tier,
)
from memcore.records.rows import EncodedWrite, encode_changes, encode_records
from memcore.records.store import RecordCapabilities, RecordPage, SweepReport

from memcore_sqlite import record_changes as changing
from memcore_sqlite import record_reads as reading
from memcore_sqlite.record_table import derive_part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from memcore.items.payload import SizeLimits
    from memcore.kit.lifecycle import Lifecycle
    from memcore.records.chain import Thresholds
    from memcore.records.model import (
        CallersPart,
        Invalidation,
        Kind,
        MemoryHit,
        MemoryRecord,
        MemoryWrite,
        RecordQuery,
        Tier,
    )
    from memcore.records.store import SweepPolicy

    from memcore_sqlite.database import Database, Job
    from memcore_sqlite.index import Derived

T = TypeVar("T")

_SLICE: Final = 100
"""Records of a batch that are analysed at once: the event loop breathes between slices."""


class SqliteRecords:
    """A `RecordStore` with every extension.

    Any number of tasks and processes may call it at once. Writes take effect one after the other: of many that
    supersede one record, the first wins.
    """

    def __init__(
        self,
        database: Database,
        lifecycle: Lifecycle,
        limits: SizeLimits,
        *,
        namespace: str,
        clock: Callable[[], int],
        thresholds: Thresholds,
    ) -> None:
        self._database = database
        self._lifecycle = lifecycle
        self._limits = limits
        self._namespace = namespace
        self._clock = clock
        self._thresholds = thresholds
        self._capabilities = RecordCapabilities(search="keyword", history=True, lifecycle=True, transfer=True)

    def capabilities(self) -> RecordCapabilities:
        """Words are searched, and every extension is here (R-17)."""
        self._lifecycle.require_open("the capabilities")
        return self._capabilities

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        """Carry out all changes or none, in a commit that they may share with others (R-10 to R-13)."""
        encoded = encode_changes(changes, self._limits)
        writes = [change for change in encoded if isinstance(change, EncodedWrite)]
        derived = await self._derive([write.source for write in writes])
        by_id = dict(zip((write.id for write in writes), derived, strict=True))
        if not encoded:
            self._lifecycle.ready()
            return []
        return await self._write(partial(changing.write, changes=encoded, derived=by_id, clock=self._clock))

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        """Return the best matches, or the newest, all from one snapshot (R-16)."""
        checked = check_record_query(query)
        if checked.finds_nothing:
            self._lifecycle.ready()
            return []
        find = reading.find_best if checked.words else reading.find_newest
        return await self._read(partial(find, query=checked, clock=self._clock), long=bool(checked.words))

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        """Return the record, or `None` (R-15)."""
        return await self._read(partial(reading.get, record_id=check_id(record_id), clock=self._clock))

    async def invalidate(self, record_id: UUID, reason: str | None = None, actor: str | None = None) -> MemoryRecord:
        """End a record without a successor (R-13)."""
        (record,) = await self.write([check_invalidation(record_id, reason, actor)])
        return record

    async def delete(self, record_id: UUID) -> bool:
        """Erase a record and all that was derived from it; tell whether it was there (R-14)."""
        return await self._write(partial(changing.delete, record_id=check_id(record_id), clock=self._clock))

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        """Erase what the scope contains, in one commit (R-19)."""
        checked, wanted = check_scope_erasure(scope, kinds)
        terms = scope_terms(self._namespace, checked)
        return await self._write(partial(changing.delete_where, scope=terms, kinds=wanted, clock=self._clock))

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        """Return all that is linked with a record, oldest first (R-20)."""
        return await self._read(partial(reading.history, record_id=check_id(record_id), clock=self._clock), long=True)

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        """Return the next page in order of id (R-20)."""
        size = check_page_limit(limit)
        start = b"" if after is None else decode_cursor(self._namespace, after).bytes
        records = await self._read(partial(reading.page, after=start, size=size + 1, clock=self._clock), long=True)
        more = len(records) > size
        return RecordPage(records[:size], encode_cursor(self._namespace, records[size - 1].id) if more else None)

    async def count(self) -> int:
        """Return how many records there are (R-20)."""
        return await self._read(partial(reading.count, clock=self._clock), long=True)

    async def touch(self, record_ids: Sequence[UUID]) -> int:
        """Count a use of each record (R-21)."""
        checked = check_ids(record_ids, most=self._limits.batch)
        if not checked:
            self._lifecycle.ready()
            return 0
        job = partial(changing.touch, record_ids=checked, thresholds=self._thresholds, clock=self._clock)
        return await self._write(job)

    async def refresh(self, record_id: UUID, tier: Tier | None = None) -> MemoryRecord:
        """Set back the idle clock, and raise the tier (R-21)."""
        checked, raised = check_id(record_id), check_tier(tier)
        return await self._write(partial(changing.refresh, record_id=checked, tier=raised, clock=self._clock))

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        """Erase what has expired, archive what lies idle, a commit for each batch (R-21)."""
        chosen = check_policy(policy)
        erased = archived = 0
        while True:
            batch = await self._write(partial(changing.sweep, policy=chosen, clock=self._clock))
            erased += batch.erased
            archived += batch.archived
            if batch.erased + batch.archived < chosen.batch:
                return SweepReport(erased=erased, archived=archived)

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        """Write records as they were, in one commit; of one id, the last counts (R-22)."""
        rows = encode_records(records, self._limits)
        if not rows:
            self._lifecycle.ready()
            return []
        derived = await self._derive(records)
        last = {row.id: (row, found) for row, found in zip(rows, derived, strict=True)}
        await self._write(partial(changing.restore, rows=list(last.values())))
        return [row.id for row in rows]

    async def _derive(self, parts: Sequence[CallersPart]) -> list[Derived]:
        derived: list[Derived] = []
        for start in range(0, len(parts), _SLICE):
            if start:
                await asyncio.sleep(0)
            derived += [derive_part(part, namespace=self._namespace) for part in parts[start : start + _SLICE]]
        return derived

    async def _read(self, job: Job[T], *, long: bool = False) -> T:
        if not self._lifecycle.ready():
            await self._lifecycle.open()
        return await self._database.read(job, long=long)

    async def _write(self, job: Job[T]) -> T:
        if not self._lifecycle.ready():
            await self._lifecycle.open()
        return await self._database.write(job)
