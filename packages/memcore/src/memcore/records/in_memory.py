"""The records of `memory://`: rows in a dictionary; search, chains and lifecycle as on every other backend."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from memcore.kit.index import Conditions, Index
from memcore.kit.query import check_id, check_ids, check_page_limit, decode_cursor, encode_cursor
from memcore.kit.ranking import RECORD_WEIGHTS
from memcore.kit.terms import scope_terms, tag_term
from memcore.kit.text import analyse_record
from memcore.records.chain import (
    Link,
    NotValid,
    Thresholds,
    apply,
    archived,
    component,
    conflict,
    heirs,
    idle_bounds,
    named_ids,
    refreshed,
    shown,
    touched,
    unknown_links,
    valid,
)
from memcore.records.model import MemoryHit
from memcore.records.query import (
    check_invalidation,
    check_policy,
    check_record_query,
    check_scope_erasure,
    check_tier,
)
from memcore.records.rows import decode_record, encode_changes, encode_records, from_micros
from memcore.records.store import RecordCapabilities, RecordPage, SweepReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from uuid import UUID

    from memcore.items.payload import SizeLimits
    from memcore.kit.lifecycle import Lifecycle
    from memcore.records.model import CallersPart, Invalidation, Kind, MemoryRecord, MemoryWrite, RecordQuery, Tier
    from memcore.records.query import CheckedRecordQuery
    from memcore.records.rows import RecordRow
    from memcore.records.store import SweepPolicy


class InMemoryRecords:
    """A `RecordStore` with every extension; safe for concurrent tasks, as no method yields in the middle."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        limits: SizeLimits,
        *,
        namespace: str,
        clock: Callable[[], int],
        thresholds: Thresholds,
    ) -> None:
        self._lifecycle = lifecycle
        self._limits = limits
        self._namespace = namespace
        self._clock = clock
        self._thresholds = thresholds
        self._capabilities = RecordCapabilities(search="keyword", history=True, lifecycle=True, transfer=True)
        self.clear()

    def capabilities(self) -> RecordCapabilities:
        """Words are searched, and every extension is here (R-17)."""
        self._lifecycle.require_open("the capabilities")
        return self._capabilities

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        """Carry out all changes or none (R-10 to R-13)."""
        encoded = encode_changes(changes, self._limits)
        await self._ready()
        now = self._clock()
        try:
            outcome = apply(encoded, self._rows(named_ids(encoded)), now)
        except NotValid as error:
            raise self._conflict(error.ended, now) from None
        for row in outcome.changed:
            self._change(row)
        for write, row in outcome.inserted:
            self._put(row, write.source)
        return self._decode(outcome.answer, now)

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        """Return the best matches, or the newest (R-16)."""
        checked = check_record_query(query)
        await self._ready()
        if checked.finds_nothing:
            return []
        now = self._clock()
        conditions = self._conditions(checked, now)
        found: list[tuple[_Entry, float | None]]
        if checked.words:
            found = list(self._index.ranked(checked.words, conditions, checked.limit))
        else:
            found = [(entry, None) for entry in islice(self._index.newest(conditions), checked.limit)]
        records = self._decode([entry.row for entry, _ in found], now)
        return [MemoryHit(record=record, score=score) for record, (_, score) in zip(records, found, strict=True)]

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        """Return the record, or `None` (R-15)."""
        checked = check_id(record_id)
        await self._ready()
        now = self._clock()
        rows = [row for row in self._rows([checked]).values() if not row.is_expired(now)]
        return next(iter(self._decode(rows, now)), None)

    async def invalidate(self, record_id: UUID, reason: str | None = None, actor: str | None = None) -> MemoryRecord:
        """End a record without a successor (R-13)."""
        (record,) = await self.write([check_invalidation(record_id, reason, actor)])
        return record

    async def delete(self, record_id: UUID) -> bool:
        """Erase a record; tell whether it was there (R-14)."""
        checked = check_id(record_id)
        await self._ready()
        return self._erase(self._rows([checked]).values(), self._clock()) == 1

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        """Erase what the scope contains (R-19)."""
        checked, wanted = check_scope_erasure(scope, kinds)
        await self._ready()
        groups = tuple(frozenset([term]) for term in scope_terms(self._namespace, checked))
        rows = [entry.row for entry in self._index.newest(Conditions(groups))]
        return self._erase([row for row in rows if wanted is None or row.kind in wanted], self._clock())

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        """Return all that is linked with a record, oldest first (R-20)."""
        checked = check_id(record_id)
        await self._ready()
        return [decode_record(row) for row in component(checked, self._linked(checked), self._clock())]

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        """Return the next page in order of id (R-20)."""
        size = check_page_limit(limit)
        start = -1 if after is None else decode_cursor(self._namespace, after).int
        await self._ready()
        now = self._clock()
        there = (key for key, entry in self._index.entries.items() if key > start and not entry.row.is_expired(now))
        keys = heapq.nsmallest(size + 1, there)
        records = self._decode([self._index.entries[key].row for key in keys[:size]], now)
        return RecordPage(records, encode_cursor(self._namespace, records[-1].id) if len(keys) > size else None)

    async def count(self) -> int:
        """Return how many records there are (R-20)."""
        await self._ready()
        now = self._clock()
        return sum(not entry.row.is_expired(now) for entry in self._index.entries.values())

    async def touch(self, record_ids: Sequence[UUID]) -> int:
        """Count a use of each record (R-21)."""
        checked = check_ids(record_ids, most=self._limits.batch)
        await self._ready()
        now = self._clock()
        rows = [row for row in self._rows(checked).values() if not row.is_expired(now)]
        for row in rows:
            self._change(touched(row, now, self._thresholds))
        return len(rows)

    async def refresh(self, record_id: UUID, tier: Tier | None = None) -> MemoryRecord:
        """Set back the idle clock, and raise the tier (R-21)."""
        checked, raised = check_id(record_id), check_tier(tier)
        await self._ready()
        now = self._clock()
        try:
            row = refreshed(valid(self._rows([checked]).get(checked), checked, now), now, raised)
        except NotValid as error:
            raise self._conflict(error.ended, now) from None
        self._change(row)
        return decode_record(row)

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        """Erase what has expired, archive what lies idle (R-21)."""
        checked = check_policy(policy)
        await self._ready()
        now = self._clock()
        bounds = idle_bounds(checked, now)
        rows = [entry.row for entry in self._index.entries.values()]
        expired = [row for row in rows if row.is_expired(now)]
        self._erase(expired, now)
        idle = [
            row
            for row in rows
            if row.invalid_at is None
            and not row.is_expired(now)
            and row.tier in bounds
            and row.idle_since() <= bounds[row.tier]
        ]
        for row in idle:
            self._change(archived(row, now))
        return SweepReport(erased=len(expired), archived=len(idle))

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        """Write records as they were (R-22)."""
        rows = encode_records(records, self._limits)
        await self._ready()
        for row, record in zip(rows, records, strict=True):
            self._put(row, record)
        return [row.id for row in rows]

    def clear(self) -> None:
        """Forget everything."""
        self._index: Index[_Entry] = Index(RECORD_WEIGHTS)
        self._predecessors: dict[UUID, set[UUID]] = {}

    async def _ready(self) -> None:
        if not self._lifecycle.ready():
            await self._lifecycle.open()

    def _conditions(self, query: CheckedRecordQuery, now: int) -> Conditions[_Entry]:
        groups = [frozenset([term]) for term in scope_terms(self._namespace, query.scope)]
        tags = frozenset(tag_term(self._namespace, tag) for tag in query.tags)
        groups += [frozenset([tag]) for tag in tags] if query.all_tags else [tags] if tags else []
        return Conditions(tuple(groups), lambda entry: query.is_met_by(entry.row, now))

    def _rows(self, ids: Iterable[UUID]) -> dict[UUID, RecordRow]:
        entries = self._index.entries
        return {record_id: entries[record_id.int].row for record_id in ids if record_id.int in entries}

    def _decode(self, rows: Sequence[RecordRow], now: int) -> list[MemoryRecord]:
        known: dict[UUID, Link | None] = {}
        while unknown := unknown_links(rows, known, now):
            found = self._rows(unknown)
            known.update((key, Link(found[key].superseded_by, found[key].expires_at)) for key in found)
            known.update(dict.fromkeys(unknown - found.keys()))
        return [decode_record(shown(row, known, now)) for row in rows]

    def _conflict(self, ended: RecordRow, now: int) -> Exception:
        last, seen = ended, {ended.id}
        while last.superseded_by is not None and (after := self._rows([last.superseded_by])):
            (last,) = after.values()
            if last.id in seen:
                break
            seen.add(last.id)
        return conflict(ended, last, now)

    def _linked(self, record_id: UUID) -> list[RecordRow]:
        """Return the rows that links lead to and from, in any number of steps, its own among them."""
        found: dict[UUID, RecordRow] = {}
        waiting = {record_id}
        while waiting:
            rows = self._rows(waiting)
            found |= rows
            waiting = {row.superseded_by for row in rows.values() if row.superseded_by is not None}
            waiting.update(*(self._predecessors.get(known, ()) for known in rows))
            waiting -= found.keys()
        return list(found.values())

    def _put(self, row: RecordRow, source: CallersPart) -> None:
        if (known := self._index.entries.get(row.id.int)) is not None:
            self._unlink(known.row)
        self._index.put(self._entry(row, source))
        self._link(row)

    def _change(self, row: RecordRow) -> None:
        """Replace a row whose words, terms and time stay."""
        entry = self._index.entries[row.id.int]
        self._unlink(entry.row)
        self._index.entries[row.id.int] = replace(entry, row=row)
        self._link(row)

    def _link(self, row: RecordRow) -> None:
        if row.superseded_by is not None:
            self._predecessors.setdefault(row.superseded_by, set()).add(row.id)

    def _unlink(self, row: RecordRow) -> None:
        if row.superseded_by is not None:
            others = self._predecessors[row.superseded_by]
            others.remove(row.id)
            if not others:
                del self._predecessors[row.superseded_by]

    def _erase(self, rows: Iterable[RecordRow], now: int) -> int:
        """Erase rows, link their predecessors to their successors, and return how many had not expired."""
        erased = {row.id: row for row in rows}
        successors = heirs({row.id: row.superseded_by for row in erased.values()})
        for row in erased.values():
            self._index.remove(row.id.int)
            self._unlink(row)
        for record_id, successor in successors.items():
            for row in self._rows(self._predecessors.get(record_id, ())).values():
                self._change(row._replace(superseded_by=successor))
        return sum(not row.is_expired(now) for row in erased.values())

    def _entry(self, row: RecordRow, source: CallersPart) -> _Entry:
        words, tag_words, context_words = analyse_record(source.content, source.tags, source.context)
        terms = {*scope_terms(self._namespace, source.scope), *(tag_term(self._namespace, tag) for tag in source.tags)}
        fields = (" ".join(words), " ".join(tag_words), " ".join(context_words))
        return _Entry(row.id, from_micros(row.created_at).timestamp(), fields, frozenset(terms), row)


@dataclass(frozen=True, slots=True)
class _Entry:
    id: UUID
    created_at: float
    fields: tuple[str, str, str]
    terms: frozenset[bytes]
    row: RecordRow
