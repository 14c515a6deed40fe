"""The items contract as a case sees it: every call is a recorded step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from memcore import MemoryItem, MemoryQuery

from memcore_conformance import expect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from uuid import UUID

    from memcore import ManagedMemoryStore, MemoryStore, Page

    from memcore_conformance.trial import Trial

T = TypeVar("T")


class Items:
    """The items of one store under test."""

    def __init__(self, store: MemoryStore, trial: Trial) -> None:
        self.raw = store
        self._trial = trial

    @property
    def _managed(self) -> ManagedMemoryStore:
        return cast("ManagedMemoryStore", self.raw)

    async def keep(self, *given: MemoryItem) -> None:
        """Store items, prove that the store retains them, and wait for the index: how every search case begins."""
        for item in given:
            expect.equal(await self.store(item), item.id, what="the id that store() returns")
            expect.same_item(await self.retrieve(item.id), item, fields=self._trial.claims.exact_fields)
        await self._trial.show_index()

    async def find(self, text: str | None = None, **axes: Any) -> list[MemoryItem]:  # noqa: ANN401 - as MemoryQuery
        """Search by the axes of a `MemoryQuery`."""
        return await self.search(MemoryQuery(text=text, **axes))

    async def store(self, item: MemoryItem) -> UUID:
        """Call `store`."""
        return await self._does(f"store({expect.describe(item)})", lambda: self.raw.store(item))

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Call `retrieve`."""
        return await self._does(f"retrieve({str(item_id)[:8]})", lambda: self.raw.retrieve(item_id))

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Call `search`."""
        asked = {name: value for name in query.model_fields_set if (value := getattr(query, name)) is not None}
        text = ", ".join(f"{name}={expect.describe(value)}" for name, value in sorted(asked.items()))
        return await self._does(f"search({text})", lambda: self.raw.search(query))

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        """Call `store_many`."""
        return await self._does(f"store_many({expect.describe(list(items))})", lambda: self._managed.store_many(items))

    async def delete(self, item_id: UUID) -> bool:
        """Call `delete`."""
        return await self._does(f"delete({str(item_id)[:8]})", lambda: self._managed.delete(item_id))

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        """Call `delete_many`."""
        text = ", ".join(str(item_id)[:8] for item_id in item_ids)
        return await self._does(f"delete_many([{text}])", lambda: self._managed.delete_many(item_ids))

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        """Call `delete_where`."""
        return await self._does(
            f"delete_where({expect.describe(filters)})", lambda: self._managed.delete_where(filters)
        )

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        """Call `scan`."""
        text = f"scan(after={expect.describe(after)}, limit={limit})"
        return await self._does(text, lambda: self._managed.scan(after=after, limit=limit))

    async def scan_all(self, *, limit: int = 500) -> list[MemoryItem]:
        """Scan page after page to the end; a cursor that comes again would never lead there."""
        page = await self.scan(limit=limit)
        found, cursors = list(page.items), set[str]()
        while page.next is not None:
            expect.that(page.next not in cursors, expected="a cursor that leads on", got="one that was there before")
            cursors.add(page.next)
            page = await self.scan(after=page.next, limit=limit)
            found += page.items
        return found

    async def count(self) -> int:
        """Call `count`."""
        return await self._does("count()", self._managed.count)

    async def _does(self, text: str, call: Callable[[], Awaitable[T]]) -> T:
        return await self._trial.does(text, call())
