"""Upkeep: rebuild, check and repair what is derived from the payloads, and remove the bytes of what was erased.

Nearly all of it is about the whole schema: the analysis that made the words is one for all of its namespaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memcore.backend import CheckReport
from memcore.errors import MalformedMemoryPayload, MemoryAdapterError
from memcore.kit.text import ANALYSIS_VERSION
from memcore.records.rows import decode_record

from memcore_postgres.faults import translated
from memcore_postgres.index import Derived, DerivedRecord, derive, derive_record
from memcore_postgres.item_search import PAGE, decode
from memcore_postgres.record_rows import ALL, record_row
from memcore_postgres.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    import asyncpg

    from memcore_postgres.database import Database
    from memcore_postgres.writer import Writer

    Progress = Callable[[int, int], None] | None

_COUNT: Final = """
    SELECT schema_version,
        (SELECT count(*) FROM {schema}.items) + (SELECT count(*) FROM {schema}.records) AS count
    FROM {schema}.meta
"""
_PAGE: Final = """
    SELECT meta.schema_version, found.* FROM {schema}.meta LEFT JOIN (
        SELECT namespace, {columns}, {words}, array_to_string(terms, ' ') AS terms, {version} AS version
        FROM {schema}.{name} WHERE (namespace, id) > ($1, $2::uuid) ORDER BY namespace, id LIMIT $3::bigint
    ) AS found ON true ORDER BY found.namespace, found.id
"""
_VERSION: Final = "hashtextextended(payload, 0)::text"
"""Of a row, as far as anything is derived from it: who replaced the payload since it was read brought its own words."""
_UPDATE: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1))
    UPDATE {schema}.{name} AS kept
    SET {changes}, terms = string_to_array(given.terms, ' ')
    FROM fence, unnest({places}) AS given (namespace, id, version, {names})
    WHERE kept.namespace = given.namespace AND kept.id = given.id::uuid AND {version} = given.version
"""
_BEGIN: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1))
    UPDATE {schema}.meta SET analysis = $2, is_complete = false FROM fence WHERE analysis < $2
"""
_FINISH: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1))
    UPDATE {schema}.meta SET is_complete = true FROM fence WHERE analysis = $2
"""
_DROP: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1)), items AS (
        DELETE FROM {schema}.items USING fence, {schema}.meta WHERE meta.schema_version = {version} AND namespace = $2
    ), records AS (
        DELETE FROM {schema}.records USING fence, {schema}.meta WHERE meta.schema_version = {version} AND namespace = $2
    )
    SELECT schema_version FROM {schema}.meta
"""
_OWNER: Final = """
    SELECT schema_version, pg_has_role(relowner, 'USAGE') AS may_purge, pg_get_userbyid(relowner)::text AS owner
    FROM {schema}.meta, pg_class WHERE pg_class.oid = to_regclass($1)
"""
_LOWEST: Final = ("", "00000000-0000-0000-0000-000000000000")
_ENDLESS: Final = 7 * 86400.0
"""Seconds: rewriting a table takes as long as it takes."""


class _Source(NamedTuple):
    """A table of which something is derived: what it holds, the columns that a row is read from, and how."""

    noun: str
    columns: str
    derived: tuple[str, ...]
    derive: Callable[[asyncpg.Record], Derived | DerivedRecord]

    @property
    def table(self) -> str:
        return f"{self.noun}s"


def _derive_item(row: asyncpg.Record) -> Derived:
    return derive(decode(row), namespace=row["namespace"])


def _derive_record(row: asyncpg.Record) -> DerivedRecord:
    return derive_record(decode_record(record_row(row)), namespace=row["namespace"])


_SOURCES: Final = (
    _Source("item", "id, created_at, payload", Derived._fields, _derive_item),
    _Source("record", ALL, DerivedRecord._fields, _derive_record),
)


class Maintenance:
    """The upkeep of one schema, through the backend's own reads and writes."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    async def reindex(self, progress: Progress) -> int:
        """Derive words and terms anew where they differ, and return how many items and records were looked at.

        Interrupted, it may simply be run again. A damaged payload is left to `check`.
        """
        await self._execute(_BEGIN, ANALYSIS_VERSION)
        done = 0
        async for source, rows in self._pages(progress):
            compared = [_compare(source, row) for row in rows]
            await self._update(source, [(row, fresh) for row, fresh, _ in compared if fresh is not None])
            done += len(rows)
        await self._execute(_FINISH, ANALYSIS_VERSION)
        return done

    async def check(self, progress: Progress, *, repair: bool) -> CheckReport:
        """Compare all words and terms with a fresh analysis; a damaged payload cannot be repaired."""
        checked, faults, is_repaired = 0, list[str](), repair
        async for source, rows in self._pages(progress):
            compared = [_compare(source, row) for row in rows]
            found = [fault for _, _, fault in compared if fault]
            if repair and found:
                await self._update(source, [(row, fresh) for row, fresh, _ in compared if fresh is not None])
            is_repaired = is_repaired and all(fresh is not None for _, fresh, fault in compared if fault)
            faults += found
            checked += len(rows)
        return CheckReport(checked=checked, faults=tuple(faults), repaired=bool(faults) and is_repaired)

    async def purge(self) -> None:
        """Write the tables anew: erased rows leave their files at once, and the server's log when that is recycled.

        Raises:
            MemoryAdapterError: the role does not own a table.
        """
        tables = [f"{self._database.schema}.{source.table}" for source in _SOURCES]
        for table in tables:
            (row,) = await self._database.fetch(_OWNER.format(schema=self._database.schema), table)
            if not row["may_purge"]:
                raise MemoryAdapterError(
                    f"only the owner of the tables may purge them: let role {row['owner']!r} do it, or execute "
                    f"VACUUM (FULL, ANALYZE) {', '.join(tables)};"
                )
        with translated(self._database.place):
            async with self._database.connection() as connection:
                for table in tables:
                    await connection.execute(f"VACUUM (FULL, ANALYZE) {table}", timeout=_ENDLESS)

    async def drop(self, namespace: str) -> None:
        """Erase everything of a namespace, in one transaction."""
        statement = _DROP.format(schema=self._database.schema, version=SCHEMA_VERSION)

        async def job(connection: asyncpg.Connection, lock: int) -> None:
            self._database.accept(await connection.fetch(statement, lock, namespace))

        await self._writer.run(job)

    async def _pages(self, progress: Progress) -> AsyncIterator[tuple[_Source, list[asyncpg.Record]]]:
        (total,) = await self._database.fetch(_COUNT.format(schema=self._database.schema))
        done = 0
        for source in _SOURCES:
            statement = _PAGE.format(
                schema=self._database.schema,
                name=source.table,
                columns=source.columns,
                words=", ".join(source.derived[:-1]),
                version=_VERSION,
            )
            last = _LOWEST
            while (rows := await self._database.fetch(statement, *last, PAGE))[0]["id"] is not None:
                yield source, rows
                done, last = done + len(rows), (rows[-1]["namespace"], str(rows[-1]["id"]))
                if progress:
                    progress(done, max(done, total["count"]))

    async def _update(self, source: _Source, changes: Sequence[tuple[asyncpg.Record, Derived | DerivedRecord]]) -> None:
        if not changes:
            return
        values = [(row["namespace"], str(row["id"]), row["version"], *fresh) for row, fresh in changes]
        statement = _UPDATE.format(
            schema=self._database.schema,
            name=source.table,
            changes=", ".join(f"{name} = given.{name}" for name in source.derived[:-1]),
            names=", ".join(source.derived),
            places=", ".join(f"${place}::text[]" for place in range(2, len(values[0]) + 2)),
            version=_VERSION,
        )
        await self._execute(statement, *map(list, zip(*values, strict=True)))

    async def _execute(self, statement: str, *parameters: object) -> None:
        async def job(connection: asyncpg.Connection, lock: int) -> None:
            await connection.execute(statement.format(schema=self._database.schema), lock, *parameters)

        await self._writer.run(job)


def _compare(source: _Source, row: asyncpg.Record) -> tuple[asyncpg.Record, Derived | DerivedRecord | None, str]:
    """Return the row, what should be derived from it if that differs, and what is wrong."""
    place = f"{source.noun} {row['id']} of namespace {row['namespace']!r}"
    try:
        fresh = source.derive(row)
    except MalformedMemoryPayload:
        return row, None, f"{place}: the payload is damaged"
    wrong = [name for name in fresh._fields if row[name] != getattr(fresh, name)]
    return (row, fresh, f"{place}: {', '.join(wrong)} differ") if wrong else (row, None, "")
