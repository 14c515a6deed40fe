"""Backends that live wrongly, or claim what is not there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from memcore import Health, MemoryConfigurationError
from memcore.items.in_memory import InMemoryItems
from memcore.settings import MemorySettings

from mutants import Backend, Harness, Items, RemoteBackend, RemoteHarness, mutant

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import Capabilities, MemoryItem


@mutant("B-01a")
class TakesAnySetting(Harness):
    """Settings that nobody knows are ignored."""

    async def make_backend(self, **settings: object) -> Backend:
        known = {name: value for name, value in settings.items() if name in MemorySettings.model_fields}
        return await super().make_backend(**known)


@mutant("B-02a")
class DegradedForEver(Backend):
    """The ping is never ok."""

    async def ping(self) -> Health:
        return (await super().ping()).model_copy(update={"status": "degraded"})


@mutant("B-02b")
class ClaimsRecords(Backend):
    """Claims records, and has none."""

    @property
    def capabilities(self) -> Capabilities:
        return super().capabilities.model_copy(update={"contracts": frozenset({"items", "records"})})


@mutant("B-02b")
class RecordsAreNone(Backend):
    """A contract that is not offered is `None`."""

    @property
    def records(self) -> Any:
        return None


@mutant("B-02c")
class ClaimsMaintenance(Backend):
    """Claims maintenance, and cannot do it."""

    @property
    def capabilities(self) -> Capabilities:
        return super().capabilities.model_copy(update={"extensions": frozenset({"managed", "maintenance"})})


@mutant("B-02c")
class ClaimsHistory(Backend):
    """Claims an extension that has no protocol here."""

    @property
    def capabilities(self) -> Capabilities:
        return super().capabilities.model_copy(update={"extensions": frozenset({"managed", "history"})})


@mutant("B-02c")
class ClaimsNothing(Backend):
    """Claims nothing beyond the core, and has all of it."""

    @property
    def capabilities(self) -> Capabilities:
        none: dict[str, Any] = {"extensions": frozenset(), "analysed": False, "search": None, "limits": None}
        return super().capabilities.model_copy(update=none)


@mutant("B-02d")
class ClaimsToBeShared(Backend):
    """Lives in this process, and claims that others share it."""

    @property
    def capabilities(self) -> Capabilities:
        return super().capabilities.model_copy(update={"shared": True})


@mutant("B-02i")
class WritesAFile(Items):
    """Says that it has no transport, and keeps a log."""

    async def store(self, item: MemoryItem) -> UUID:
        with Path(os.devnull).open("a") as log:
            log.write("stored")
        return await super().store(item)


@mutant("B-02e")
class WantsToBeOpened(Items):
    """Use before opening is an error."""

    async def store(self, item: MemoryItem) -> UUID:
        if not self._lifecycle.is_open:
            raise MemoryConfigurationError("open it first")
        return await super().store(item)


@mutant("B-02f")
class OpensAgain(Backend):
    """A closed backend opens again when it is used."""

    async def close(self) -> None:
        self._items.clear()


@mutant("B-02g")
class AnyLoop(Items):
    """A call from another event loop is served."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        entry = self._index.entries.get(item_id.int)
        return entry and await super().retrieve(item_id)  # type: ignore[return-value]


@mutant("B-02h")
class DropsNothing(Backend):
    """`drop_namespace` leaves the items."""

    async def drop_namespace(self) -> None:
        await self.open()


@mutant("B-04a")
class OneForAll(Harness):
    """Namespaces that differ in case share their items."""

    _items: ClassVar[dict[str, InMemoryItems]] = {}

    def __init__(self) -> None:
        self._made: dict[str, InMemoryItems] = {}

    async def make_backend(self, **settings: object) -> Backend:
        backend = await super().make_backend(**settings)
        backend._items._index = self._made.setdefault(str(settings.get("namespace")).lower(), backend._items)._index
        return backend


@mutant("B-05a")
class ReadsNewerData(RemoteHarness):
    """Data of a newer version are opened."""

    class _Backend(RemoteBackend):
        async def _connect(self) -> None: ...

    backend_type = _Backend
