"""The canaries: adapters that are known to be bad. A suite that does not find exactly that judges nothing.

`mute` claims everything and keeps nothing; `wild` keeps what it is given and answers every question with everything
that it has. Together they fail through every word of `expect`. The cases that each fails stand in `canaries.json`,
which `python -m memcore_conformance.canary` writes and which is reviewed like code.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from memcore import Capabilities, MemoryHit, MemoryWrite, Page, RecordPage
from memcore.in_memory import InMemoryBackend
from memcore.items.in_memory import InMemoryItems
from memcore.records.chain import Thresholds
from memcore.records.clock import clock_of
from memcore.records.in_memory import InMemoryRecords

from memcore_conformance.claims import CAPABILITIES
from memcore_conformance.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore import (
        Backend,
        Invalidation,
        MemoryItem,
        MemoryQuery,
        MemoryRecord,
        RecordQuery,
        SizeLimits,
    )
    from memcore.kit.lifecycle import Lifecycle

    from memcore_conformance.harness import HarnessFactory

_PATIENCE: Final = 0.25
"""Canaries keep everything in this process: what is slow hangs."""


class SuiteBroken(Exception):
    """The suite does not find what it must find: what it says of any other adapter is void."""


def check() -> dict[str, int]:
    """Try the canaries and return how many cases each failed.

    Raises:
        SuiteBroken: the failing set of a canary is not the known one.
    """
    known: dict[str, list[str]] = json.loads(_file().read_text(encoding="utf-8"))
    for name, found in failing_sets().items():
        other = sorted(set(found) ^ set(known[name]))
        if other:
            msg = f"the canary {name!r} fails other cases than it must; they differ in: {', '.join(other)}"
            raise SuiteBroken(msg)
    return {name: len(failing) for name, failing in known.items()}


def failing_sets() -> dict[str, list[str]]:
    """Try the canaries and return the cases that each failed."""
    factories: tuple[HarnessFactory, ...] = (_Mute, _Wild)
    reports = {factory.name: run(factory, patience=_PATIENCE) for factory in factories}
    return {name: [verdict.case for verdict in report.ended("failed")] for name, report in reports.items()}


class _MuteItems(InMemoryItems):
    """Says yes and keeps nothing."""

    async def store(self, item: MemoryItem) -> UUID:
        return item.id

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        return [item.id for item in items]


class _WildItems(InMemoryItems):
    """Takes anything, gives everything."""

    def __init__(self, lifecycle: Lifecycle, limits: SizeLimits, *, namespace: str) -> None:
        super().__init__(lifecycle, limits, namespace=namespace)
        self._kept: dict[UUID, MemoryItem] = {}

    async def store(self, item: MemoryItem) -> UUID:
        self._kept[item.id] = item.model_copy()
        return item.id

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        return self._kept.get(item_id) or next(iter(self._kept.values()), None)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return list(self._kept.values())

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        return [await self.store(item) for item in items]

    async def delete(self, item_id: UUID) -> bool:
        return True

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        return len(item_ids)

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        return len(self._kept)

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        return Page(list(self._kept.values()), None)

    async def count(self) -> int:
        return 0


class _MuteRecords(InMemoryRecords):
    """Says yes and keeps nothing."""

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        written = await super().write(changes)
        self.clear()
        return written


class _WildRecords(InMemoryRecords):
    """Takes all but the tags, gives everything."""

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        taken = [
            change.model_copy(update={"tags": ()}) if isinstance(change, MemoryWrite) else change for change in changes
        ]
        return await super().write(taken)

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        return await super().get(record_id) or next(iter(await self._everything()), None)

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        return [MemoryHit(record=record, score=1.0) for record in await self._everything()]

    async def delete(self, record_id: UUID) -> bool:
        return True

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        return await self._everything()

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        return RecordPage(await self._everything(), None)

    async def count(self) -> int:
        return 0

    async def _everything(self) -> list[MemoryRecord]:
        return (await super().scan(limit=10_000)).records


class _Boaster(InMemoryBackend):
    """Claims everything that can be claimed."""

    kind: ClassVar[type[InMemoryItems]]
    records_kind: ClassVar[type[InMemoryRecords]]

    def __init__(self) -> None:
        super().__init__()
        self._items = self.kind(self._lifecycle, self._settings.limits, namespace=self._settings.namespace)
        self._records = self.records_kind(
            self._lifecycle,
            self._settings.limits,
            namespace=self._settings.namespace,
            clock=clock_of(None),
            thresholds=Thresholds(self._settings.long_after, self._settings.permanent_after),
        )
        self._capabilities = Capabilities(
            contracts=frozenset({"items", "records", "conversations"}),
            durable=True,
            power_safe=True,
            shared=True,
            analysed=True,
            search="hybrid",
            extensions=frozenset(CAPABILITIES),
            limits=self._settings.limits,
        )

    async def close(self) -> None:
        """Stay as it is."""


class _MuteBackend(_Boaster):
    kind = _MuteItems
    records_kind = _MuteRecords


class _WildBackend(_Boaster):
    kind = _WildItems
    records_kind = _WildRecords


class _Mute:
    """The harness of a canary: nothing that it is asked to do has an effect."""

    name: ClassVar[str] = "mute"
    backend: ClassVar[type[_Boaster]] = _MuteBackend

    async def make_backend(self, **_settings: object) -> Backend:
        return self.backend()

    async def reset(self) -> None: ...

    async def make_search_index_visible(self) -> None: ...

    async def make_transport_unavailable(self) -> None: ...

    async def restore_transport(self) -> None: ...

    async def close(self) -> None: ...


class _Wild(_Mute):
    name = "wild"
    backend = _WildBackend


def _file() -> Path:
    return Path(str(resources.files("memcore_conformance") / "canaries.json"))


if __name__ == "__main__":
    _file().write_text(json.dumps(failing_sets(), indent=2) + "\n", encoding="utf-8")
