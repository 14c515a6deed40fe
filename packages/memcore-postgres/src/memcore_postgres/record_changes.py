"""What changes records: jobs for the `Writer`, each one transaction, in which the core decides about locked rows.

Rows are locked, and inserted, in order of id, so that no two clients block each other; erasing also takes a lock of its
own for the namespace, since it links rows that it finds by following others. The time is read after locking (R-18).
"""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

import asyncpg
from memcore.errors import MemoryConflict, MemoryNotFound
from memcore.records.chain import (
    NotValid,
    Thresholds,
    apply,
    archived,
    conflict,
    heirs,
    named_ids,
    refreshed,
    touched,
    valid,
)

from memcore_postgres.index import chunks, id_texts
from memcore_postgres.record_rows import (
    ALL,
    STATE,
    clock,
    insertion,
    insertion_values,
    record_row,
    shown_table,
    time,
    unexpired,
    update,
    update_values,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
    from uuid import UUID

    from memcore.records.chain import Outcome
    from memcore.records.model import Tier
    from memcore.records.rows import EncodedChange, EncodedWrite, RecordRow

    from memcore_postgres.database import Database
    from memcore_postgres.index import DerivedRecord
    from memcore_postgres.writer import Writer

    New = tuple[EncodedWrite, DerivedRecord]

_LOCK: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1))
    SELECT meta.schema_version, {clock} AS now, locked.* FROM fence, {schema}.meta LEFT JOIN (
        SELECT {columns} FROM {schema}.records WHERE namespace = $2 AND {condition} FOR UPDATE {patience}
    ) AS locked ON true
"""
_OF_IDS: Final = "id = ANY($3::text[]::uuid[]) ORDER BY id"
_OF_IDS_OR_BEFORE: Final = "(id = ANY($3::text[]::uuid[]) OR superseded_by = ANY($3::text[]::uuid[])) ORDER BY id"
# The tier is a constant of ours: only so the server sees that the index of what decays has them all.
_IDLE: Final = """
    invalid_at IS NULL AND tier = '{tier}' AND created_at <= $3::bigint
    AND greatest(created_at, last_hit_at, refreshed_at) <= $3::bigint AND {unexpired}
    ORDER BY created_at, id LIMIT $4::bigint
"""
_BUSY: Final = "SKIP LOCKED"  # what somebody uses right now is not idle
_ERASING: Final = "SELECT pg_advisory_xact_lock($1)"
_FIND: Final = "SELECT id FROM {schema}.records WHERE namespace = $1 AND {condition}"
_ERASE: Final = "DELETE FROM {schema}.records WHERE namespace = $1 AND id = ANY($2::text[]::uuid[])"
_LAST: Final = """
    WITH RECURSIVE step (id) AS (
        SELECT $2::uuid
        UNION
        SELECT superseded_by FROM step JOIN {schema}.records USING (id) WHERE namespace = $1
    )
    SELECT {columns} FROM {schema}.records
    WHERE namespace = $1 AND id = ANY((SELECT array_agg(id) FROM step)::uuid[]) AND superseded_by IS NULL
"""
_SHOWN: Final = """
    SELECT {columns}, payload FROM {schema}.records WHERE namespace = $1 AND id = ANY($2::text[]::uuid[])
"""


class Locked(NamedTuple):
    """Rows that nobody else can change, and the time that was read after that was so."""

    rows: dict[UUID, RecordRow]
    now: int


class RecordChanges:
    """The changes of one namespace; jobs depend on nothing but the database, so that they may be done again."""

    def __init__(
        self,
        database: Database,
        writer: Writer,
        *,
        namespace: str,
        told: Callable[[], int | None],
        thresholds: Thresholds,
    ) -> None:
        self._database = database
        self._writer = writer
        self._namespace = namespace
        self._told = told
        self._thresholds = thresholds
        self._schema = database.schema
        self._insert = insertion(self._schema)
        self._replace = insertion(self._schema, replacing=True)
        self._update = update(self._schema)
        place = f"{self._schema} records {namespace}".encode()
        self._erasing = int.from_bytes(blake2b(place, digest_size=8).digest(), "big", signed=True)

    async def insert(
        self, calls: Sequence[Sequence[New]], connection: asyncpg.Connection, lock: int
    ) -> list[list[RecordRow] | None]:
        """Insert what each call writes, all in one statement, and return the rows of each; none if an id is taken."""
        rows = [(write.born(place), derived) for place, (write, derived) in enumerate(chain.from_iterable(calls))]
        try:
            now = await self._put(connection, lock, self._insert, rows, since=self._told())
        except asyncpg.UniqueViolationError:
            if len(calls) == 1:
                return [None]
            return [(await self.insert([call], connection, lock))[0] for call in calls]
        born = iter(rows)
        return [[_moved(row, now) for row, _ in islice(born, len(call))] for call in calls]

    async def write(
        self,
        changes: Sequence[EncodedChange],
        derived: Mapping[UUID, DerivedRecord],
        connection: asyncpg.Connection,
        lock: int,
    ) -> list[RecordRow]:
        """Carry out a call of `write`, and return the rows of its answer as they are shown."""
        async with _transaction(connection):
            outcome, now = await self._decide(connection, lock, changes)
            await self._put_all(connection, lock, self._insert, [(row, derived[row.id]) for _, row in outcome.inserted])
            await self._change(connection, outcome.changed)
            return await self._shown(connection, outcome.answer, now)

    async def restore(
        self, rows: Sequence[tuple[RecordRow, DerivedRecord]], connection: asyncpg.Connection, lock: int
    ) -> None:
        """Write rows as they are, in the place of those that are there."""
        async with self._erasure(connection):
            await self._lock(connection, lock, [row.id for row, _ in rows], columns=STATE)
            await self._put_all(connection, lock, self._replace, rows)

    async def touch(self, ids: Sequence[UUID], connection: asyncpg.Connection, lock: int) -> int:
        """Count a use of each record that is there; return how many are."""
        async with _transaction(connection):
            locked = await self._lock(connection, lock, ids, columns=STATE)
            rows = [row for row in locked.rows.values() if not row.is_expired(locked.now)]
            await self._change(connection, [touched(row, locked.now, self._thresholds) for row in rows])
            return len(rows)

    async def refresh(self, record_id: UUID, tier: Tier | None, connection: asyncpg.Connection, lock: int) -> RecordRow:
        """Set back the idle clock of a valid record."""
        async with _transaction(connection):
            locked = await self._lock(connection, lock, [record_id])
            try:
                row = refreshed(valid(locked.rows.get(record_id), record_id, locked.now), locked.now, tier)
            except NotValid as error:
                raise await self._conflict(connection, error.ended, locked.now) from None
            await self._change(connection, [row])
            return row

    async def archive(self, tier: Tier, idle_since: int, most: int, connection: asyncpg.Connection, lock: int) -> int:
        """Archive at most so many of a tier's records that lay idle since then; return how many."""
        async with _transaction(connection):
            condition = _IDLE.format(tier=tier, unexpired=unexpired(time("$5")))
            parameters = (idle_since, most, self._told())
            locked = await self._lock_rows(connection, lock, condition, parameters, columns=STATE, patience=_BUSY)
            await self._change(connection, [archived(row, locked.now) for row in locked.rows.values()])
            return len(locked.rows)

    async def erase(self, ids: Sequence[UUID], connection: asyncpg.Connection, lock: int) -> int:
        """Erase these records; return how many were there and had not expired."""
        async with self._erasure(connection):
            return await self._erase(connection, lock, ids)

    async def erase_found(
        self, condition: str, parameters: Sequence[object], connection: asyncpg.Connection, lock: int
    ) -> tuple[int, int]:
        """Erase what meets a condition, with places from `$2` on; return how many, and how many had not expired."""
        async with self._erasure(connection):
            statement = _FIND.format(schema=self._schema, condition=condition)
            ids = [row["id"] for row in await connection.fetch(statement, self._namespace, *parameters)]
            return len(ids), await self._erase(connection, lock, ids) if ids else 0

    async def _erase(self, connection: asyncpg.Connection, lock: int, ids: Sequence[UUID]) -> int:
        """Erase rows, and link their predecessors to their successors (R-14)."""
        locked = await self._lock(connection, lock, ids, columns=STATE, condition=_OF_IDS_OR_BEFORE)
        erased = {key: locked.rows[key] for key in set(ids) & locked.rows.keys()}
        successors = heirs({key: row.superseded_by for key, row in erased.items()})
        await connection.execute(_ERASE.format(schema=self._schema), self._namespace, id_texts(erased))
        await self._change(
            connection,
            [
                row._replace(superseded_by=successors[row.superseded_by])
                for key, row in locked.rows.items()
                if key not in erased and row.superseded_by in successors
            ],
        )
        return sum(not row.is_expired(locked.now) for row in erased.values())

    async def _decide(
        self, connection: asyncpg.Connection, lock: int, changes: Sequence[EncodedChange]
    ) -> tuple[Outcome, int]:
        """Return what a call of `write` does, and the time at which it was decided.

        A refusal is believed when a second look gives it too: the first one may have waited for a row until this very
        write was done by somebody else, and a statement sees no record that was inserted after it began (R-11).
        """
        ids = named_ids(changes)
        with suppress(MemoryConflict, MemoryNotFound):
            locked = await self._lock(connection, lock, ids)
            return apply(changes, locked.rows, locked.now), locked.now
        locked = await self._lock(connection, lock, ids)
        try:
            return apply(changes, locked.rows, locked.now), locked.now
        except NotValid as error:
            raise await self._conflict(connection, error.ended, locked.now) from None

    @asynccontextmanager
    async def _erasure(self, connection: asyncpg.Connection) -> AsyncIterator[None]:
        """Keep out who else erases or restores: a chain must not change while it is followed."""
        async with _transaction(connection):
            await connection.execute(_ERASING, self._erasing)
            yield

    async def _lock(
        self,
        connection: asyncpg.Connection,
        lock: int,
        ids: Iterable[UUID],
        *,
        columns: str = ALL,
        condition: str = _OF_IDS,
    ) -> Locked:
        return await self._lock_rows(connection, lock, condition, [id_texts(ids)], columns=columns)

    async def _lock_rows(
        self,
        connection: asyncpg.Connection,
        lock: int,
        condition: str,
        parameters: Sequence[object],
        *,
        columns: str,
        patience: str = "",
    ) -> Locked:
        statement = _LOCK.format(
            schema=self._schema, clock=clock("clock_timestamp"), columns=columns, condition=condition, patience=patience
        )
        rows = self._database.accept(await connection.fetch(statement, lock, self._namespace, *parameters))
        found = [record_row(row) for row in rows if row["id"] is not None]
        # The server reads its clock for each row as it is locked: the last one was read when all of them were.
        told, now = self._told(), max(row["now"] for row in rows)
        return Locked({row.id: row for row in found}, now if told is None else told)

    async def _put_all(
        self, connection: asyncpg.Connection, lock: int, statement: str, rows: Sequence[tuple[RecordRow, DerivedRecord]]
    ) -> None:
        for chunk in chunks(sorted(rows, key=_id), lambda pair: len(pair[0].payload)) if rows else ():
            await self._put(connection, lock, statement, chunk, since=0)

    async def _put(
        self,
        connection: asyncpg.Connection,
        lock: int,
        statement: str,
        rows: Sequence[tuple[RecordRow, DerivedRecord]],
        *,
        since: int | None,
    ) -> int:
        """Write rows by one statement, in order of id, and return from when their times were counted."""
        parameters = (self._namespace, lock, since, *insertion_values(sorted(rows, key=_id)))
        (answer,) = self._database.accept(await connection.fetch(statement, *parameters))
        if await self._writer.claim_analysis(answer["analysis"], connection):
            (answer,) = self._database.accept(await connection.fetch(statement, *parameters))
        self._writer.check(answer["count"], len(rows))
        return int(answer["now"])

    async def _change(self, connection: asyncpg.Connection, rows: Sequence[RecordRow]) -> None:
        if rows:
            await connection.execute(self._update, self._namespace, *update_values(rows))

    async def _shown(self, connection: asyncpg.Connection, rows: Sequence[RecordRow], now: int) -> list[RecordRow]:
        """Return the rows as they are shown; most are as they are stored."""
        linked = {row.id for row in rows if row.superseded_by is not None}
        if not linked:
            return list(rows)
        table = shown_table(self._schema, "$3::bigint")
        statement = _SHOWN.format(schema=self._schema, columns=table.columns)
        found = map(record_row, await connection.fetch(statement, self._namespace, id_texts(linked), now))
        shown = {row.id: row for row in found}
        return [shown.get(row.id, row) for row in rows]

    async def _conflict(self, connection: asyncpg.Connection, ended: RecordRow, now: int) -> Exception:
        """Return the error to raise for a record that has ended, perhaps in this very call."""
        if ended.superseded_by is None:
            return conflict(ended, ended, now)
        statement = _LAST.format(schema=self._schema, columns=ALL)
        last = await connection.fetchrow(statement, self._namespace, ended.superseded_by)
        return conflict(ended, last and record_row(last), now)


def _id(pair: tuple[RecordRow, DerivedRecord]) -> UUID:
    return pair[0].id


def _moved(row: RecordRow, by: int) -> RecordRow:
    return row._replace(created_at=row.created_at + by, updated_at=row.updated_at + by)


def _transaction(connection: asyncpg.Connection) -> asyncpg.transaction.Transaction:
    """Return a transaction in which every statement sees what was committed before it, whatever the default is."""
    return connection.transaction(isolation="read_committed")
