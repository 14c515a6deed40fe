"""What memcore finds when this distribution is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import Adapter, hookimpl

from memcore_jsonfiles.settings import JsonFilesSettings

if TYPE_CHECKING:
    from memcore import Backend

    from memcore_jsonfiles.testing import JsonFilesHarness


@hookimpl
def memcore_adapters() -> list[Adapter]:
    """Offer `jsonfiles://`."""
    return [
        Adapter(
            name="jsonfiles",
            schemes=("jsonfiles",),
            summary="a folder of JSON files, one an item",
            contracts=frozenset({"items"}),
            connect=_connect,
            settings=JsonFilesSettings,
        )
    ]


@hookimpl
def memcore_harnesses() -> list[type[JsonFilesHarness]]:
    """Offer what the suite judges it by."""
    from memcore_jsonfiles.testing import JsonFilesHarness  # noqa: PLC0415 - only where it is judged

    return [JsonFilesHarness]


def _connect(settings: JsonFilesSettings) -> Backend:
    from memcore_jsonfiles.backend import JsonFilesBackend  # noqa: PLC0415 - only where it is used

    return JsonFilesBackend(settings)
