"""`broken://`: `sqlite://` with one thing wrong, named by the setting `mutant`, for processes that the suite starts.

It counts as installed where this folder is on the path of Python.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from memcore import MemoryAdapterUnavailable
from memcore.plugins import Adapter, hookimpl
from memcore_sqlite.backend import SqliteBackend
from memcore_sqlite.index import find, remove_terms, remove_words, stored_terms
from memcore_sqlite.items import ITEMS, SqliteItems
from memcore_sqlite.settings import SqliteSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryItem
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
            contracts=frozenset({"items"}),
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
