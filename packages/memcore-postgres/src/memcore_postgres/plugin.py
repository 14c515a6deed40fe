"""What memcore finds when this distribution is installed; loads no driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.plugins import Adapter, hookimpl

from memcore_postgres.settings import PostgresSettings

if TYPE_CHECKING:
    from memcore.backend import Backend

    from memcore_postgres.testing import PostgresHarness


@hookimpl
def memcore_adapters() -> list[Adapter]:
    """Offer `postgresql://`, and `postgres://` as the driver does."""
    return [
        Adapter(
            name="postgres",
            schemes=("postgresql", "postgres"),
            summary="PostgreSQL: one server or a cluster, shared by many machines",
            contracts=frozenset({"items", "records"}),
            connect=_connect,
            settings=PostgresSettings,
        )
    ]


@hookimpl
def memcore_harnesses() -> list[type[PostgresHarness]]:
    """Offer the harness of `postgresql://`."""
    from memcore_postgres.testing import PostgresHarness  # noqa: PLC0415 - loads the driver

    return [PostgresHarness]


def _connect(settings: PostgresSettings) -> Backend:
    from memcore_postgres.backend import PostgresBackend  # noqa: PLC0415 - loads the driver

    return PostgresBackend(settings)
