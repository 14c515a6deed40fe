"""Upkeep of what is derived from the payloads: rebuild, check and repair, and remove the bytes of what was erased.

Everything here is about the whole schema: the analysis that made the words is one for all of its namespaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memcore.backend import CheckReport
from memcore.errors import MalformedMemoryPayload, MemoryAdapterError
from memcore.kit.text import ANALYSIS_VERSION

from memcore_postgres.faults import translated
from memcore_postgres.index import derive
from memcore_postgres.search import PAGE, decode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    import asyncpg

    from memcore_postgres.database import Database
    from memcore_postgres.index import Derived
    from memcore_postgres.writer import Writer

    Progress = Callable[[int, int], None] | None

_COUNT: Final = "SELECT schema_version, (SELECT count(*) FROM {schema}.items) AS count FROM {schema}.meta"
_PAGE: Final = """
    SELECT meta.schema_version, found.* FROM {schema}.meta LEFT JOIN (
        SELECT namespace, id, created_at, payload, words, tag_words, array_to_string(terms, ' ') AS terms,
            xmin::text AS version
        FROM {schema}.items WHERE (namespace, id) > ($1, $2::uuid) ORDER BY namespace, id LIMIT $3::bigint
    ) AS found ON true ORDER BY found.namespace, found.id
"""
# A row that somebody replaced since it was read keeps what was derived from its new payload.
_UPDATE: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1))
    UPDATE {schema}.items
    SET words = given.words, tag_words = given.tag_words, terms = string_to_array(given.terms, ' ')
    FROM fence, unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
        AS given (namespace, id, version, words, tag_words, terms)
    WHERE items.namespace = given.namespace AND items.id = given.id::uuid AND items.xmin::text = given.version
"""
_BEGIN: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1))
    UPDATE {schema}.meta SET analysis = $2, is_complete = false FROM fence WHERE analysis < $2
"""
_FINISH: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($1))
    UPDATE {schema}.meta SET is_complete = true FROM fence WHERE analysis = $2
"""
_OWNER: Final = """
    SELECT schema_version, pg_has_role(relowner, 'USAGE') AS may_purge, pg_get_userbyid(relowner)::text AS owner
    FROM {schema}.meta, pg_class WHERE pg_class.oid = to_regclass($1)
"""
_LOWEST: Final = ("", "00000000-0000-0000-0000-000000000000")
_ENDLESS: Final = 7 * 86400.0
"""Seconds: rewriting a table takes as long as it takes."""


class Maintenance:
    """The upkeep of one schema, through the backend's own reads and writes."""

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database = database
        self._writer = writer

    async def reindex(self, progress: Progress) -> int:
        """Derive words and terms anew where they differ, and return how many items were looked at.

        Interrupted, it may simply be run again. A damaged payload is left to `check`.
        """
        await self._execute(_BEGIN, ANALYSIS_VERSION)
        done = 0
        async for rows in self._pages(progress):
            await self._update([(row, fresh) for row, fresh, _ in map(_compare, rows) if fresh is not None])
            done += len(rows)
        await self._execute(_FINISH, ANALYSIS_VERSION)
        return done

    async def check(self, progress: Progress, *, repair: bool) -> CheckReport:
        """Compare every item's words and terms with a fresh analysis; a damaged payload cannot be repaired."""
        checked, faults, is_repaired = 0, list[str](), repair
        async for rows in self._pages(progress):
            compared = [_compare(row) for row in rows]
            found = [fault for _, _, fault in compared if fault]
            if repair and found:
                await self._update([(row, fresh) for row, fresh, _ in compared if fresh is not None])
            is_repaired = is_repaired and all(fresh is not None for _, fresh, fault in compared if fault)
            faults += found
            checked += len(rows)
        return CheckReport(checked=checked, faults=tuple(faults), repaired=bool(faults) and is_repaired)

    async def purge(self) -> None:
        """Write the table anew: erased rows leave its files at once, and the server's log when that is recycled.

        Raises:
            MemoryAdapterError: the role does not own the table.
        """
        table = f"{self._database.schema}.items"
        (row,) = await self._database.fetch(_OWNER.format(schema=self._database.schema), table)
        if not row["may_purge"]:
            raise MemoryAdapterError(
                f"only the owner of the table may purge it: let role {row['owner']!r} do it, or execute "
                f"VACUUM (FULL, ANALYZE) {table};"
            )
        with translated(self._database.place):
            async with self._database.connection() as connection:
                await connection.execute(f"VACUUM (FULL, ANALYZE) {table}", timeout=_ENDLESS)

    async def _pages(self, progress: Progress) -> AsyncIterator[list[asyncpg.Record]]:
        statement = _PAGE.format(schema=self._database.schema)
        (total,) = await self._database.fetch(_COUNT.format(schema=self._database.schema))
        done, last = 0, _LOWEST
        while (rows := await self._database.fetch(statement, *last, PAGE))[0]["id"] is not None:
            yield rows
            done, last = done + len(rows), (rows[-1]["namespace"], str(rows[-1]["id"]))
            if progress:
                progress(done, max(done, total["count"]))

    async def _update(self, changes: Sequence[tuple[asyncpg.Record, Derived]]) -> None:
        if changes:
            values = [(row["namespace"], str(row["id"]), row["version"], *fresh) for row, fresh in changes]
            await self._execute(_UPDATE, *map(list, zip(*values, strict=True)))

    async def _execute(self, statement: str, *parameters: object) -> None:
        async def job(connection: asyncpg.Connection, lock: int) -> None:
            await connection.execute(statement.format(schema=self._database.schema), lock, *parameters)

        await self._writer.run(job)


def _compare(row: asyncpg.Record) -> tuple[asyncpg.Record, Derived | None, str]:
    """Return the row, what should be derived from it if that differs, and what is wrong."""
    place = f"item {row['id']} of namespace {row['namespace']!r}"
    try:
        fresh = derive(decode(row), namespace=row["namespace"])
    except MalformedMemoryPayload:
        return row, None, f"{place}: the payload is damaged"
    wrong = [name for name in fresh._fields if row[name] != getattr(fresh, name)]
    return (row, fresh, f"{place}: {', '.join(wrong)} differ") if wrong else (row, None, "")
