"""The backend of `memory://`: everything in this process, gone when it ends; otherwise an adapter like any other.

Not loaded by `import memcore`: the plugin of the core imports it when somebody connects.
"""

from __future__ import annotations

import platform
import time
from typing import ClassVar, NoReturn, Self

from memcore.backend import Capabilities, Health, not_offered
from memcore.items.in_memory import InMemoryItems
from memcore.kit.lifecycle import Lifecycle
from memcore.records.chain import Thresholds
from memcore.records.clock import clock_of
from memcore.records.in_memory import InMemoryRecords
from memcore.settings import MemorySettings


class InMemoryBackend:
    """One store in this process; two of them share nothing."""

    name: ClassVar[str] = "memory"

    def __init__(self, settings: MemorySettings | None = None) -> None:
        self._settings = settings or MemorySettings()
        self._lifecycle = Lifecycle(repr(self), opening=_do_nothing, closing=_do_nothing)
        self._items = InMemoryItems(self._lifecycle, self._settings.limits, namespace=self._settings.namespace)
        self._records = InMemoryRecords(
            self._lifecycle,
            self._settings.limits,
            namespace=self._settings.namespace,
            clock=clock_of(self._settings.clock),
            thresholds=Thresholds(self._settings.long_after, self._settings.permanent_after),
        )
        self._capabilities = Capabilities(
            contracts=frozenset({"items", "records"}),
            analysed=True,
            search="keyword",
            extensions=frozenset({"managed", "history", "lifecycle", "transfer"}),
            limits=self._settings.limits,
        )

    @property
    def items(self) -> InMemoryItems:
        """The items, exact, indexed, and searched as the `analysed` profile says."""
        return self._items

    @property
    def records(self) -> InMemoryRecords:
        """The records, with every extension."""
        return self._records

    @property
    def conversations(self) -> NoReturn:
        """Not offered."""
        raise not_offered(self.name, "conversations")

    @property
    def capabilities(self) -> Capabilities:
        """The claims of this backend, once it is open."""
        self._lifecycle.require_open("the capabilities")
        return self._capabilities

    async def open(self) -> None:
        """Be open; nothing is connected."""
        await self._lifecycle.open()

    async def close(self) -> None:
        """Forget everything."""
        await self._lifecycle.close()
        self._items.clear()
        self._records.clear()

    async def ping(self) -> Health:
        """Answer at once."""
        started = time.perf_counter()
        await self.open()
        versions = {"python": platform.python_version()}
        return Health(status="ok", latency=time.perf_counter() - started, versions=versions)

    async def drop_namespace(self) -> None:
        """Forget every item and record."""
        await self.open()
        self._items.clear()
        self._records.clear()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<memory:// backend, namespace {self._settings.namespace!r}>"


async def _do_nothing() -> None:
    """Nothing to open or close."""
