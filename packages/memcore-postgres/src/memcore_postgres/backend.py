"""The backend of `postgresql://`."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn, Self

import asyncpg
from memcore.backend import Capabilities, Health, not_offered
from memcore.kit.lifecycle import Lifecycle
from memcore.kit.text import ANALYSIS_VERSION

from memcore_postgres.database import Database
from memcore_postgres.items import PostgresItems
from memcore_postgres.maintenance import Maintenance
from memcore_postgres.records import PostgresRecords
from memcore_postgres.schema import SCHEMA_VERSION, prepare
from memcore_postgres.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore.backend import CheckReport

    from memcore_postgres.schema import Server
    from memcore_postgres.settings import PostgresSettings

_PING: Final = """
    SELECT schema_version, analysis, is_complete, current_setting('server_version') AS version,
        pg_is_in_recovery() AS is_standby
    FROM {schema}.meta
"""


class PostgresBackend:
    """One pool of connections to one schema; any number of clients may share it.

    Args:
        settings: where it is and how long to wait.
        connection_class: what a connection is made of; another one may inject faults.
    """

    name: ClassVar[str] = "postgres"

    def __init__(
        self, settings: PostgresSettings, *, connection_class: type[asyncpg.Connection] = asyncpg.Connection
    ) -> None:
        self._settings = settings
        self._database = Database(settings, connection_class=connection_class)
        self._lifecycle = Lifecycle(repr(self), opening=self._open, closing=self._database.close)
        writer = Writer(self._database, namespace=settings.namespace)
        self._items = PostgresItems(
            self._database, writer, self._lifecycle, settings.limits, namespace=settings.namespace
        )
        self._records = PostgresRecords(self._database, writer, self._lifecycle, settings)
        self._maintenance = Maintenance(self._database, writer)

    @property
    def items(self) -> PostgresItems:
        """The items, exact, indexed, and searched as the `analysed` profile says."""
        return self._items

    @property
    def records(self) -> PostgresRecords:
        """The records, with every extension."""
        return self._records

    @property
    def conversations(self) -> NoReturn:
        """Not offered."""
        raise not_offered(self.name, "conversations")

    @property
    def capabilities(self) -> Capabilities:
        """The claims of this backend with this server, once it is open."""
        self._lifecycle.require_open("the capabilities")
        return self._capabilities

    async def open(self) -> None:
        """Connect, and bring the schema up to date."""
        await self._lifecycle.open()

    async def close(self) -> None:
        """Finish what was accepted and close every connection."""
        await self._lifecycle.close()

    async def ping(self) -> Health:
        """Ask the server for its version, in one round trip."""
        await self.open()
        started = time.perf_counter()
        (row,) = await self._database.fetch(_PING.format(schema=self._database.schema))
        latency = time.perf_counter() - started
        faults = [
            *(["the server is a standby: nothing can be written"] if row["is_standby"] else []),
            *(["text search waits for `memcore reindex URL`"] if _lags(row["analysis"], row["is_complete"]) else []),
        ]
        versions = {
            "memcore-postgres": version("memcore-postgres"),
            "asyncpg": version("asyncpg"),
            "postgresql": row["version"],
            "schema": str(SCHEMA_VERSION),
        }
        return Health(
            status="degraded" if faults else "ok",
            latency=latency,
            versions=versions,
            detail="; ".join(faults) or None,
        )

    async def drop_namespace(self) -> None:
        """Erase every item and record of this namespace, in one transaction."""
        await self.open()
        await self._maintenance.drop(self._settings.namespace)

    async def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Rebuild what is derived from the items and records of the whole schema; safe while others read and write."""
        await self.open()
        return await self._maintenance.reindex(progress)

    async def check(self, *, repair: bool = True, progress: Callable[[int, int], None] | None = None) -> CheckReport:
        """Compare what is derived in the whole schema with a fresh analysis, and repair what differs."""
        await self.open()
        return await self._maintenance.check(progress, repair=repair)

    async def purge(self) -> None:
        """Write the tables anew without what was erased; others wait for that long."""
        await self.open()
        await self._maintenance.purge()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<postgresql:// backend, namespace {self._settings.namespace!r}, {self._settings.place}>"

    async def _open(self) -> None:
        server = await self._database.open(self._prepare)
        self._capabilities = Capabilities(
            contracts=frozenset({"items", "records"}),
            durable=True,
            power_safe=server.flushes,
            shared=True,
            analysed=True,
            search="keyword",
            extensions=frozenset({"managed", "maintenance", "history", "lifecycle", "transfer"}),
            limits=self._settings.limits,
        )

    async def _prepare(self, connection: asyncpg.Connection) -> Server:
        return await prepare(connection, self._database.schema)


def _lags(analysis: int, is_complete: bool) -> bool:  # noqa: FBT001 - two columns of a row
    return analysis != ANALYSIS_VERSION or not is_complete
