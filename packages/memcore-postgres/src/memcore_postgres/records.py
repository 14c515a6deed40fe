"""The records contract over one schema, with every extension."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from memcore.kit.query import check_id, check_ids, check_page_limit, decode_cursor, encode_cursor
from memcore.kit.terms import scope_terms
from memcore.records.chain import Thresholds, component, idle_bounds
from memcore.records.clock import clock_of
from memcore.records.query import (
    check_invalidation,
    check_policy,
    check_record_query,
    check_scope_erasure,
    check_tier,
)
from memcore.records.rows import EncodedWrite, decode_record, encode_changes, encode_records
from memcore.records.store import RecordCapabilities, RecordPage, SweepReport

from memcore_postgres import record_search, search
from memcore_postgres.index import derive_record, term_texts
from memcore_postgres.lookup import Lookup
from memcore_postgres.record_changes import RecordChanges
from memcore_postgres.record_rows import ALL, record_row, shown_table, time, unexpired
from memcore_postgres.search import Clauses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore.kit.lifecycle import Lifecycle
    from memcore.records.model import Invalidation, Kind, MemoryHit, MemoryRecord, MemoryWrite, RecordQuery, Tier
    from memcore.records.store import SweepPolicy

    from memcore_postgres.database import Database
    from memcore_postgres.settings import PostgresSettings
    from memcore_postgres.writer import Writer

# Ids are gathered before their rows are read: the server expects more steps of a recursion than there ever are.
_HISTORY: Final = """
    WITH RECURSIVE linked (id) AS (
        SELECT $2::uuid
        UNION
        SELECT neighbour.id FROM linked CROSS JOIN LATERAL (
            SELECT superseded_by AS id FROM {schema}.records
            WHERE namespace = $1 AND records.id = linked.id AND superseded_by IS NOT NULL
            UNION ALL
            SELECT records.id FROM {schema}.records WHERE namespace = $1 AND superseded_by = linked.id
        ) AS neighbour
    )
    SELECT meta.schema_version, {now} AS now, found.* FROM {schema}.meta LEFT JOIN (
        SELECT {columns} FROM {schema}.records
        WHERE namespace = $1 AND id = ANY((SELECT array_agg(id) FROM linked)::uuid[])
    ) AS found ON true
"""
_COUNT: Final = """
    SELECT schema_version, (SELECT count(*) FROM {schema}.records WHERE namespace = $1 AND {unexpired}) AS count
    FROM {schema}.meta
"""
_TIME: Final = "SELECT schema_version, {now} AS now FROM {schema}.meta"
_IN_SCOPE: Final = "terms @> $2::text[] AND ($3::text[] IS NULL OR kind = ANY($3::text[]))"
_EXPIRED: Final = "expires_at <= $2::bigint ORDER BY expires_at LIMIT $3::bigint"


_MOST_JOINED: Final = 50
"""New records of one call that may share a statement and a commit with other calls; of more, nobody should wait."""


class PostgresRecords:
    """A `RecordStore` with every extension; any number of tasks, processes and machines may call it at once."""

    def __init__(self, database: Database, writer: Writer, lifecycle: Lifecycle, settings: PostgresSettings) -> None:
        self._database = database
        self._writer = writer
        self._lifecycle = lifecycle
        self._limits = settings.limits
        self._namespace = settings.namespace
        self._clock = None if settings.clock is None else clock_of(settings.clock)
        self._schema = database.schema
        self._capabilities = RecordCapabilities(search="keyword", history=True, lifecycle=True, transfer=True)
        self._changes = RecordChanges(
            database,
            writer,
            namespace=settings.namespace,
            told=self._told,
            thresholds=Thresholds(settings.long_after, settings.permanent_after),
        )
        now = time("$3")
        self._lookup = Lookup(
            database,
            shown_table(self._schema, now),
            self._namespace,
            condition=unexpired(now),
            parameters=lambda: (self._told(),),
        )

    def capabilities(self) -> RecordCapabilities:
        """Words are searched, and every extension is here (R-17)."""
        self._lifecycle.require_open("the capabilities")
        return self._capabilities

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        """Carry out all changes or none, in one transaction (R-10 to R-13)."""
        encoded = encode_changes(changes, self._limits)
        await self._ready()
        if not encoded:
            return []
        writes = [change for change in encoded if isinstance(change, EncodedWrite)]
        derived = {write.id: derive_record(write.source, namespace=self._namespace) for write in writes}
        rows = None
        if len(derived) == len(encoded) <= _MOST_JOINED and not any(write.supersedes for write in writes):
            rows = await self._writer.join(self._changes.insert, [(write, derived[write.id]) for write in writes])
        if rows is None:  # it is about records that are there
            rows = await self._writer.run(partial(self._changes.write, encoded, derived))
        return list(map(decode_record, rows))

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        """Return the best matches, or the newest (R-16)."""
        checked = check_record_query(query)
        await self._ready()
        if checked.finds_nothing:
            return []
        return await record_search.find(
            self._database.fetch, self._schema, checked, namespace=self._namespace, told=self._told()
        )

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        """Return the record, or `None`; one round trip, which all that wait share (R-15)."""
        key = check_id(record_id)
        await self._ready()
        row = await self._lookup.get(key)
        return None if row is None else decode_record(record_row(row))

    async def invalidate(self, record_id: UUID, reason: str | None = None, actor: str | None = None) -> MemoryRecord:
        """End a record without a successor (R-13)."""
        (record,) = await self.write([check_invalidation(record_id, reason, actor)])
        return record

    async def delete(self, record_id: UUID) -> bool:
        """Erase a record; tell whether it was there (R-14)."""
        key = check_id(record_id)
        await self._ready()
        return await self._writer.run(partial(self._changes.erase, [key])) == 1

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        """Erase what the scope contains, in one transaction (R-19)."""
        checked, wanted = check_scope_erasure(scope, kinds)
        await self._ready()
        terms = term_texts(scope_terms(self._namespace, checked))
        _, count = await self._erase_found(_IN_SCOPE, terms, None if wanted is None else sorted(wanted))
        return count

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        """Return all that is linked with a record, oldest first (R-20)."""
        key = check_id(record_id)
        await self._ready()
        statement = _HISTORY.format(schema=self._schema, columns=ALL, now=time("$3"))
        rows = await self._database.fetch(statement, self._namespace, key, self._told())
        found = [record_row(row) for row in rows if row["id"] is not None]
        return list(map(decode_record, component(key, found, rows[0]["now"])))

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        """Return the next page in order of id (R-20)."""
        size = check_page_limit(limit)
        clauses = Clauses(self._namespace)
        now = time(clauses.bind(self._told()))
        clauses.add(unexpired(now))
        if after is not None:
            clauses.add("id > {}::uuid", decode_cursor(self._namespace, after))
        await self._ready()
        rows = await search.page(self._database.fetch, shown_table(self._schema, now), clauses, size + 1)
        records = [decode_record(record_row(row)) for row in rows[:size]]
        return RecordPage(records, encode_cursor(self._namespace, records[-1].id) if len(rows) > size else None)

    async def count(self) -> int:
        """Return how many records there are (R-20)."""
        await self._ready()
        statement = _COUNT.format(schema=self._schema, unexpired=unexpired(time("$2")))
        (row,) = await self._database.fetch(statement, self._namespace, self._told())
        return int(row["count"])

    async def touch(self, record_ids: Sequence[UUID]) -> int:
        """Count a use of each record (R-21)."""
        ids = check_ids(record_ids, most=self._limits.batch)
        await self._ready()
        return await self._writer.run(partial(self._changes.touch, ids)) if ids else 0

    async def refresh(self, record_id: UUID, tier: Tier | None = None) -> MemoryRecord:
        """Set back the idle clock, and raise the tier (R-21)."""
        key, raised = check_id(record_id), check_tier(tier)
        await self._ready()
        return decode_record(await self._writer.run(partial(self._changes.refresh, key, raised)))

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        """Erase what has expired, archive what lies idle, in bounded transactions (R-21)."""
        chosen = check_policy(policy)
        await self._ready()
        (row,) = await self._database.fetch(_TIME.format(schema=self._schema, now=time("$1")), self._told())
        erased = archived = 0
        count = chosen.batch
        while count == chosen.batch:
            count, _ = await self._erase_found(_EXPIRED, row["now"], chosen.batch)
            erased += count
        for tier, idle_since in idle_bounds(chosen, row["now"]).items():
            count = chosen.batch
            while count == chosen.batch:
                count = await self._writer.run(partial(self._changes.archive, tier, idle_since, chosen.batch))
                archived += count
        return SweepReport(erased=erased, archived=archived)

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        """Write records as they were, all or none (R-22)."""
        rows = encode_records(records, self._limits)
        await self._ready()
        last = {
            row.id: (row, derive_record(record, namespace=self._namespace))
            for row, record in zip(rows, records, strict=True)
        }
        if last:
            await self._writer.run(partial(self._changes.restore, list(last.values())))
        return [row.id for row in rows]

    async def _ready(self) -> None:
        if not self._lifecycle.ready():
            await self._lifecycle.open()

    async def _erase_found(self, condition: str, *parameters: object) -> tuple[int, int]:
        return await self._writer.run(partial(self._changes.erase_found, condition, parameters))

    def _told(self) -> int | None:
        """Return the time if the settings tell it; otherwise the server does, so that all clients agree (R-18)."""
        return None if self._clock is None else self._clock()
