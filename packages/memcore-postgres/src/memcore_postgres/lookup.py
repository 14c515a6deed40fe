"""`Lookup`: one row by its id; all that are asked for at the same time share a round trip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memcore_postgres.faults import translated
from memcore_postgres.index import id_texts
from memcore_postgres.lanes import Lane

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    import asyncpg

    from memcore_postgres.database import Database
    from memcore_postgres.search import Table

_GET: Final = """
    SELECT meta.schema_version, {columns}, payload
    FROM {schema}.meta LEFT JOIN {schema}.{name} ON namespace = $1 AND {condition}
"""
_ONE: Final = "id = $2::uuid"  # planned once a session; the server plans a list of ids anew each time
_SOME: Final = "id = ANY($2::text[]::uuid[])"
_READERS: Final = 2
"""Groups under way at once: a second one need not wait for large rows of the first."""


class Lookup:
    """Reads rows of one table and namespace by their ids.

    Args:
        database: whose connections are used.
        table: what is read.
        namespace: the first parameter.
        condition: what else must hold, with places from `$3` on.
        parameters: returns the values for these, at the time of asking.
    """

    def __init__(
        self,
        database: Database,
        table: Table,
        namespace: str,
        *,
        condition: str = "true",
        parameters: Callable[[], tuple[object, ...]] = tuple,
    ) -> None:
        self._database = database
        self._namespace = namespace
        self._parameters = parameters
        self._one, self._some = (
            _GET.format(
                schema=table.schema, name=table.name, columns=table.columns, condition=f"{named} AND {condition}"
            )
            for named in (_ONE, _SOME)
        )
        self._lane: Lane[UUID, asyncpg.Record | None] = Lane(database.connection, self._find, workers=_READERS)
        database.drain_on_close(self._lane)

    async def get(self, key: UUID) -> asyncpg.Record | None:
        """Return the row of that id, if there is one."""
        with translated(self._database.place):
            return await self._lane.submit(key)

    async def _find(self, connection: asyncpg.Connection, ids: list[UUID]) -> list[asyncpg.Record | None]:
        further = self._parameters()
        if len(ids) == 1:
            rows = await connection.fetch(self._one, self._namespace, ids[0], *further)
        else:
            rows = await connection.fetch(self._some, self._namespace, id_texts(set(ids)), *further)
        found = {row["id"]: row for row in self._database.accept(rows)}
        return [found.get(key) for key in ids]
