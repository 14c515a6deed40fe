"""What memcore finds when this distribution is installed; loads no HTTP client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.plugins import Adapter, hookimpl

from memcore_http.settings import HttpSettings

if TYPE_CHECKING:
    from memcore.backend import Backend

    from memcore_http.testing import HttpHarnesses


@hookimpl
def memcore_adapters() -> list[Adapter]:
    """Offer `http://` and `https://`."""
    return [
        Adapter(
            name="http",
            schemes=("http", "https"),
            summary="a memory service over HTTP, shared by any number of clients",
            contracts=frozenset({"items", "records"}),
            connect=_connect,
            settings=HttpSettings,
        )
    ]


@hookimpl
def memcore_harnesses() -> list[HttpHarnesses]:
    """Offer the harnesses of `http://`: the service over SQLite, and over PostgreSQL."""
    from memcore_http.testing import HttpHarnesses  # noqa: PLC0415 - loads the HTTP client

    return [
        HttpHarnesses("http", store="sqlite", limits_files=True, busy_timeout=0.5),
        HttpHarnesses("http-postgres", store="postgres", command_timeout=2),
    ]


def _connect(settings: HttpSettings) -> Backend:
    from memcore_http.backend import HttpBackend  # noqa: PLC0415 - loads the HTTP client

    return HttpBackend(settings)
