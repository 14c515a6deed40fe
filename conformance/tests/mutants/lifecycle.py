"""Backends that open, close or report wrongly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from memcore import Health, MemoryAdapterUnavailable

from mutants import Backend, Items, RemoteBackend, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import Capabilities, MemoryItem, MemoryQuery


@mutant("B-02j")
class OpensForOne(Backend):
    """Whoever calls while it opens is turned away."""

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self._opening = False
        self._lifecycle._opening = self._connect

    async def _connect(self) -> None:
        self._opening = True
        await asyncio.sleep(0)
        self._opening = False

    class items_type(Items):  # noqa: N801 - the part that the backend exchanges
        async def store(self, item: MemoryItem) -> UUID:
            if self._lifecycle._lock and self._lifecycle._lock.locked():
                raise RuntimeError("it is being opened")
            return await super().store(item)


@mutant("B-02k")
class DropsWhatWaits(Items):
    """A write that waits while the backend closes fails with an error of its own."""

    async def store(self, item: MemoryItem) -> UUID:
        await self._lifecycle.open()
        for _ in range(5):
            await asyncio.sleep(0)
        if not self._lifecycle.is_open:
            raise RuntimeError("cannot schedule new futures after shutdown")
        return await super().store(item)


@mutant("B-02l")
class ClosesTwice(Backend):
    """A second call of `close` while the first one runs fails."""

    _closes = False

    async def close(self) -> None:
        if self._closes:
            raise RuntimeError("it is being closed")
        self._closes = True
        await asyncio.sleep(0)
        await super().close()
        self._closes = False


@mutant("B-02m")
class SearchesAfterClose(Items):
    """A search of a closed backend finds nothing."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return [] if self._lifecycle._is_closed else await super().search(query)


@mutant("B-02n")
class SwallowsErrors(Backend):
    """An error in the block is not raised."""

    async def __aexit__(self, *_error: object) -> Any:
        await self.close()
        return True


@mutant("B-02n")
class StaysOpen(Backend):
    """The block leaves the backend open."""

    async def __aexit__(self, *_error: object) -> None: ...


@mutant("B-02o")
class OpensOnce(RemoteBackend):
    """After a failure to open it never opens."""

    _failed = False

    async def _connect(self) -> None:
        if self._failed:
            raise MemoryAdapterUnavailable("it failed before") from OSError()
        self._failed = True
        await super()._connect()
        self._failed = False


@mutant("B-02p")
class AlwaysWell(RemoteBackend):
    """The ping asks nobody."""

    async def ping(self) -> Health:
        await self.open()
        return Health(status="ok", latency=0.0, versions={"schema": "1"})


@mutant("B-02q")
class TellsNoVersion(Backend):
    """The ping names no version."""

    async def ping(self) -> Health:
        return (await super().ping()).model_copy(update={"versions": {}})


@mutant("B-02r")
class PowerSafeInMemory(Backend):
    """Claims to survive a power loss, though not the end of the process."""

    @property
    def capabilities(self) -> Capabilities:
        return super().capabilities.model_copy(update={"power_safe": True})


@mutant("B-02s")
class WritesFromAnyLoop(Items):
    """A batch from another event loop is stored."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        if not self._lifecycle._is_closed:
            self._lifecycle._loop = asyncio.get_running_loop()
        return await super().store_many(items)


@mutant("B-02t")
class OpensHalf(RemoteBackend):
    """An opening that was cancelled is never finished."""

    _started = False

    async def _connect(self) -> None:
        if self._started:
            raise MemoryAdapterUnavailable("it is being opened") from OSError()
        self._started = True
        try:
            await super()._connect()
        except Exception:
            self._started = False
            raise
