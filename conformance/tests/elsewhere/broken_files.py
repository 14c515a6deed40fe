"""`broken://`: `sqlite://` with one thing wrong, named by the setting `mutant`, for processes that the suite starts.

It counts as installed where this folder is on the path of Python.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from memcore import MemoryAdapterUnavailable, MemoryWrite
from memcore.plugins import Adapter, hookimpl
from memcore.records.chain import Thresholds
from memcore.records.clock import clock_of
from memcore_sqlite.backend import SqliteBackend
from memcore_sqlite.index import find, remove_terms, remove_words, stored_terms
from memcore_sqlite.items import ITEMS, SqliteItems
from memcore_sqlite.records import SqliteRecords
from memcore_sqlite.settings import SqliteSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import Invalidation, MemoryItem, MemoryRecord
    from memcore_sqlite.session import Session


class BrokenSettings(SqliteSettings):
    mutant: str


@hookimpl
def memcore_adapters() -> list[Adapter]:
    return [
        Adapter(
            name="broken",
            schemes=("broken",),
            summary="sqlite:// with one thing wrong",
            contracts=frozenset({"items", "records"}),
            connect=lambda settings: globals()[settings.mutant](settings),
            settings=BrokenSettings,
        )
    ]


class _Late(SqliteBackend):
    """Acknowledges at once, and does when it closes what its items have put off."""

    Items: ClassVar[type[_LateItems]]

    def __init__(self, settings: SqliteSettings) -> None:
        super().__init__(settings)
        self._items = self.Items(self._database, self._lifecycle, settings.limits, namespace=settings.namespace)

    async def close(self) -> None:
        if self._lifecycle.is_open:
            await self._items.catch_up()
        await super().close()


class _LateItems(SqliteItems):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._late: dict[UUID, MemoryItem] = {}
        self._gone: set[UUID] = set()

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        if item_id in self._gone:
            return None
        late = self._late.get(item_id)
        return late.model_copy(deep=True) if late else await super().retrieve(item_id)

    async def catch_up(self) -> None:
        await SqliteItems.store_many(self, list(self._late.values()))
        await SqliteItems.delete_many(self, list(self._gone))


class WritesWhenItCloses(_Late):
    class Items(_LateItems):
        async def store(self, item: MemoryItem) -> UUID:
            self._late[item.id] = item
            return item.id


class ReplacesWhenItCloses(_Late):
    class Items(_LateItems):
        async def store(self, item: MemoryItem) -> UUID:
            if await self.retrieve(item.id) is None:
                return await super().store(item)
            self._late[item.id] = item
            return item.id


class WritesBatchesInHalves(_Late):
    class Items(_LateItems):
        _batches = 0

        async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
            self._batches += 1
            wait = 0.05 * self._batches
            first = await super().store_many(items[: len(items) // 2])
            await asyncio.sleep(wait)
            return first + await super().store_many(items[len(items) // 2 :])


class DeletesWhenItCloses(_Late):
    class Items(_LateItems):
        async def delete(self, item_id: UUID) -> bool:
            if await self.retrieve(item_id) is None:
                return False
            self._gone.add(item_id)
            return True


class IndexesWhenItCloses(_Late):
    class Items(_LateItems):
        async def store(self, item: MemoryItem) -> UUID:
            stored = await super().store(item)
            await self._write(partial(_take_out, key=item.id.bytes))
            return stored


class _Records(SqliteBackend):
    """Has records that are written in a way of its own."""

    Records: ClassVar[type[SqliteRecords]]

    def __init__(self, settings: SqliteSettings) -> None:
        super().__init__(settings)
        self._records = self.Records(
            self._database,
            self._lifecycle,
            settings.limits,
            namespace=settings.namespace,
            clock=clock_of(settings.clock),
            thresholds=Thresholds(settings.long_after, settings.permanent_after),
        )


class WritesRecordsInHalves(_Records):
    class Records(SqliteRecords):
        _batches = 0

        async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
            self._batches += 1
            wait = 0.05 * self._batches
            first = await super().write(changes[: len(changes) // 2])
            await asyncio.sleep(wait)
            return first + await super().write(changes[len(changes) // 2 :])


class LinksLater(_Records):
    class Records(SqliteRecords):
        _written = 0

        async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
            (change, *others) = changes
            if others or not isinstance(change, MemoryWrite) or not change.supersedes:
                return await super().write(changes)
            self._written += 1
            wait = 0.02 * self._written
            (record,) = await super().write([change.model_copy(update={"supersedes": ()})])
            await asyncio.sleep(wait)
            old = await self.get(change.supersedes[0])
            if old and old.invalid_at is None:
                end = {"invalid_at": record.created_at, "updated_at": record.created_at, "superseded_by": record.id}
                await self.restore([old.model_copy(update=end)])
            return [record]


class ReadsEveryItemOnce(SqliteBackend):
    def __init__(self, settings: SqliteSettings) -> None:
        super().__init__(settings)
        self._items = self.Items(self._database, self._lifecycle, settings.limits, namespace=settings.namespace)

    class Items(SqliteItems):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._known: dict[UUID, MemoryItem | None] = {}

        async def retrieve(self, item_id: UUID) -> MemoryItem | None:
            if item_id not in self._known:
                self._known[item_id] = await super().retrieve(item_id)
            return self._known[item_id]

        async def store(self, item: MemoryItem) -> UUID:
            self._known.pop(item.id, None)
            return await super().store(item)


class OpensForOneProcess(SqliteBackend):
    async def open(self) -> None:
        if not self._lifecycle.is_open:
            try:
                os.close(os.open(f"{self._settings.path}.lock", os.O_CREAT | os.O_EXCL))
            except FileExistsError as error:
                raise MemoryAdapterUnavailable("another process has it") from error
        await super().open()


def _take_out(session: Session, key: bytes) -> None:
    row = find(session, ITEMS, key)
    if row:
        remove_words(session, ITEMS, row)
        remove_terms(session, ITEMS, stored_terms(session, ITEMS, row))
