"""What memcore finds when this distribution is installed; loads no driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.plugins import Adapter, hookimpl

from memcore_sqlite.settings import SqliteSettings

if TYPE_CHECKING:
    from memcore.backend import Backend

    from memcore_sqlite.testing import SqliteHarness


@hookimpl
def memcore_adapters() -> list[Adapter]:
    """Offer `sqlite://`."""
    return [
        Adapter(
            name="sqlite",
            schemes=("sqlite",),
            summary="one SQLite file, shared by any number of processes; the embedded default",
            contracts=frozenset({"items", "records"}),
            connect=_connect,
            settings=SqliteSettings,
        )
    ]


@hookimpl
def memcore_harnesses() -> list[type[SqliteHarness]]:
    """Offer the harness of `sqlite://`."""
    from memcore_sqlite.testing import SqliteHarness  # noqa: PLC0415 - loads the driver

    return [SqliteHarness]


def _connect(settings: SqliteSettings) -> Backend:
    from memcore_sqlite.backend import SqliteBackend  # noqa: PLC0415 - loads the driver

    return SqliteBackend(settings)
