"""`Writer`: all writes of one backend, in the order of their calls.

Writes of one kind that wait at the same time become one statement and one commit. A write runs to its end whatever
becomes of its caller, and the next one starts when it has ended. If its outcome is unknown, since the connection broke
under it, the server may still be at it: every write holds an advisory lock of this backend until its transaction ends,
and the next one waits for that lock first (I-70).
"""

from __future__ import annotations

import asyncio
import random
import secrets
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

import asyncpg
from memcore.errors import MalformedMemoryPayload, MemoryAdapterUnavailable
from memcore.kit.text import ANALYSIS_VERSION

from memcore_postgres.faults import CONTENDED, NATIVE, translate, translated
from memcore_postgres.lanes import Lane
from memcore_postgres.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from memcore_postgres.database import Database
    from memcore_postgres.index import Row

    Job = Callable[[asyncpg.Connection, int], Awaitable["T"]]
    JointJob = Callable[[Sequence["P"], asyncpg.Connection, int], Awaitable[Sequence["T"]]]

P = TypeVar("P")
T = TypeVar("T")

LOCK: Final = "SELECT pg_advisory_xact_lock($1)"
"""Waits until what this backend wrote before has ended; every statement that writes does so too, as its first step."""
_UPSERT: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1)), stored AS (
        INSERT INTO {schema}.items (namespace, id, created_at, payload, words, tag_words, terms)
        SELECT $2, given.id::uuid, given.created_at::double precision, given.payload, given.words, given.tag_words,
            string_to_array(given.terms, ' ')
        FROM fence, {schema}.meta, unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
            AS given (id, created_at, payload, words, tag_words, terms)
        WHERE meta.schema_version = {version} AND meta.analysis = {analysis}
        ON CONFLICT (namespace, id) DO UPDATE SET created_at = excluded.created_at, payload = excluded.payload,
            words = excluded.words, tag_words = excluded.tag_words, terms = excluded.terms
        RETURNING 1
    )
    SELECT schema_version, analysis, (SELECT count(*) FROM stored) AS count FROM {schema}.meta
"""
_MARK_INCOMPLETE: Final = "UPDATE {schema}.meta SET analysis = $1, is_complete = false WHERE analysis < $1"
_LOOK_AGAIN: Final = "ANALYZE (SKIP_LOCKED) {schema}.items, {schema}.records"
_COUNTED: Final = """
    SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint AS rows FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE '"' || nspname || '"' = $1 AND relname IN ('items', 'records')
"""
_FEW: Final = 1_000
"""Rows; what an index saves among fewer is nothing that anybody would notice."""
_TRIES: Final = 6
_LONGEST_PAUSE: Final = 0.05


class _Part(NamedTuple):
    do: JointJob[Any, Any]
    part: Any


class Writer:
    """Does what is asked in turn, each in one transaction; jobs get a connection and the key of the lock.

    A job that lost against another client's is done again, so it must depend on nothing but the database.
    """

    def __init__(self, database: Database, *, namespace: str) -> None:
        self._database = database
        self._namespace = namespace
        self._lock = secrets.randbits(63)
        self._is_uncertain = False
        self._written = 0
        self._looked_at = _FEW
        self._look_again = _LOOK_AGAIN.format(schema=database.schema)
        self._upsert = _UPSERT.format(schema=database.schema, version=SCHEMA_VERSION, analysis=ANALYSIS_VERSION)
        self._mark_incomplete = _MARK_INCOMPLETE.format(schema=database.schema)
        self._lane: Lane[_Part | Job[Any], Any] = Lane(
            database.connection, self._work, kind=lambda job: job.do if isinstance(job, _Part) else None
        )
        database.drain_on_close(self._lane)

    async def put(self, row: Row) -> None:
        """Create or replace one item, in one commit that it may share with others."""
        await self.join(self.upsert, row)

    async def join(self, do: JointJob[P, T], part: P) -> T:
        """Do a part of a job that takes the parts of all who wait for the same, in one statement and commit."""
        result: T = await self._submit(_Part(do, part))
        return result

    async def run(self, job: Job[T]) -> T:
        """Do a job by itself."""
        result: T = await self._submit(job)
        return result

    async def upsert(self, rows: Sequence[Row], connection: asyncpg.Connection, lock: int) -> Sequence[None]:
        """Create or replace items by one statement, in order of id: in other orders two clients could block each other.

        Raises:
            MemoryAdapterUnavailable: the tables or the words are of a newer version by now.
            MalformedMemoryPayload: the server says that it stored less.
        """
        last = {row.id: row for row in rows}  # one statement cannot write a row twice
        columns = zip(*(last[key] for key in sorted(last)), strict=True)
        parameters = (lock, self._namespace, *map(list, columns))
        (answer,) = self._database.accept(await connection.fetch(self._upsert, *parameters))
        if await self.claim_analysis(answer["analysis"], connection):
            (answer,) = self._database.accept(await connection.fetch(self._upsert, *parameters))
        self.check(answer["count"], len(last))
        return [None] * len(rows)

    async def claim_analysis(self, found: int, connection: asyncpg.Connection) -> bool:
        """Make sure that our words may be written where those of `found` are; tell whether that changed anything.

        Raises:
            MemoryAdapterUnavailable: these are of a newer version.
        """
        if found > ANALYSIS_VERSION:
            raise MemoryAdapterUnavailable(
                f"the words are of a newer analysis by now: upgrade memcore to write here ({self._database.place})"
            )
        if found < ANALYSIS_VERSION:
            # Words that are there already are not found by ours: text search waits for `reindex`.
            await connection.execute(self._mark_incomplete, ANALYSIS_VERSION)
        return found < ANALYSIS_VERSION

    def check(self, count: int, wanted: int) -> None:
        """Check that everything was stored; what was not is no success (I-43).

        Raises:
            MalformedMemoryPayload: the server says that it stored less.
        """
        if count != wanted:
            raise MalformedMemoryPayload(
                f"the server stored {count} of {wanted} rows: a trigger or a rule? ({self._database.place})"
            )
        self._written += count

    async def _submit(self, job: _Part | Job[Any]) -> Any:  # noqa: ANN401 - what the job returns
        with translated(self._database.place):
            return await self._lane.submit(job)

    async def _work(self, connection: asyncpg.Connection, group: list[_Part | Job[Any]]) -> Sequence[Any]:
        results = await self._do(connection, group)
        if self._written >= self._looked_at:
            await self._count_again(connection)
        return results

    async def _count_again(self, connection: asyncpg.Connection) -> None:
        """Let the server learn how much there is now, if this backend has written as much as it knows of.

        By itself it does so a minute late; until then it takes a table for as good as empty, and reads the whole
        namespace for what one scope or tag would lead to. If it refuses, nothing is lost.
        """
        self._looked_at = 2 * self._written
        with suppress(*NATIVE):
            (counted,) = await connection.fetch(_COUNTED, self._database.schema)
            if counted["rows"] <= self._written:
                await connection.execute(self._look_again)
            self._looked_at = self._written + max(counted["rows"], self._written)

    async def _do(self, connection: asyncpg.Connection, group: list[_Part | Job[Any]]) -> Sequence[Any]:
        parts = [job for job in group if isinstance(job, _Part)]
        if not parts:
            return [await self._insist(connection, cast("Job[Any]", group[0]))]
        try:
            return await self._do_together(connection, parts)
        except asyncpg.PostgresError as error:
            is_passing = isinstance(translate(error, self._database.place), MemoryAdapterUnavailable)
            if is_passing or len(parts) == 1:
                raise
            return [await self._do_alone(connection, part) for part in parts]

    async def _do_together(self, connection: asyncpg.Connection, parts: Sequence[_Part]) -> Sequence[Any]:
        return await self._insist(connection, partial(parts[0].do, [part.part for part in parts]))

    async def _do_alone(self, connection: asyncpg.Connection, part: _Part) -> Any:  # noqa: ANN401 - its result or error
        """Do one part of a group that was refused, so that only those fail that must."""
        try:
            (result,) = await self._do_together(connection, [part])
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to the caller
            return error
        return result

    async def _insist(self, connection: asyncpg.Connection, job: Job[T]) -> T:
        for pause in range(1, _TRIES):
            try:
                return await self._attempt(connection, job)
            except CONTENDED:
                await asyncio.sleep(random.uniform(0, _LONGEST_PAUSE) * pause)  # noqa: S311 - no secret hangs on it
        return await self._attempt(connection, job)

    async def _attempt(self, connection: asyncpg.Connection, job: Job[T]) -> T:
        if self._is_uncertain:
            await connection.execute(LOCK, self._lock)  # by itself: what follows must see what was done before
        self._is_uncertain = True
        result = await job(connection, self._lock)
        self._is_uncertain = False
        return result
