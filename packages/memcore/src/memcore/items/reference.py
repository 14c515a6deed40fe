"""`InMemoryStore`: the three-method store that hosts get by default (I-20, I-21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.items.model import MemoryItem

if TYPE_CHECKING:
    from uuid import UUID

    from memcore.items.model import MemoryQuery


class InMemoryStore:
    """Keeps the live objects in insertion order, in this process alone.

    For exact payloads, ranked search, filters of any type and a manifest, use `memcore.connect("memory://")`.
    Safe for concurrent tasks of one event loop: no method awaits anything.
    """

    def __init__(self) -> None:
        self._items: dict[UUID, MemoryItem] = {}

    async def store(self, item: MemoryItem) -> UUID:
        """Keep the object itself; a known id is replaced in place without moving.

        Raises:
            TypeError: `item` is not a `MemoryItem`.
        """
        if not isinstance(item, MemoryItem):
            msg = f"InMemoryStore keeps MemoryItem objects, not {type(item).__name__}"
            raise TypeError(msg)
        self._items[item.id] = item
        return item.id

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Return the live object of that id, or `None`."""
        return self._items.get(item_id)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Return the live objects that contain the text, share a tag and equal every filter, in insertion order.

        Text is a case-insensitive substring of `str(content)`; a filter of `None` also matches a missing key;
        the limit is a Python slice, negative ones included.
        """
        found = list(self._items.values())
        if query.text:
            needle = query.text.lower()
            found = [item for item in found if needle in str(item.content).lower()]
        if query.tags:
            wanted = set(query.tags)
            found = [item for item in found if wanted.intersection(item.tags)]
        if query.filters:
            filters = query.filters.items()
            found = [item for item in found if all(item.metadata.get(key) == value for key, value in filters)]
        return found[: query.limit]
