"""Everything that a store holds, a page at a time: records in order of id, then items in order of id.

Records come first, so that an input which a store cannot take whole is refused before any of it is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from memcore_cli.losses import RECORDS, refuse_losses

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterator

    from memcore import Page, RecordPage
    from memcore.items.model import MemoryItem
    from memcore.records.model import MemoryRecord

    from memcore_cli.connection import Connection

T = TypeVar("T")
P = TypeVar("P", bound="Page | RecordPage")

_PAGE: Final = 500


class Contents:
    """All that a store can list of what it holds.

    Raises:
        CommandFailed: it holds what it cannot list, and that loss is not among those accepted.
    """

    def __init__(self, store: Connection, *, accepted: Collection[str] = ()) -> None:
        self._store = store
        claims = store.backend.capabilities
        self._has_items = "items" in claims.contracts
        has_records = "records" in claims.contracts
        self._lists_records = has_records and "history" in claims.extensions
        if has_records and not self._lists_records:
            refuse_losses(f"a store of adapter {store.backend.name!r} cannot list", [RECORDS], accepted)

    def count_records(self) -> int:
        """Return how many records there are to list."""
        return self._store.run(self._store.chronicle.count()) if self._lists_records else 0

    def count_items(self) -> int:
        """Return how many items there are to list.

        Raises:
            MemoryConfigurationError: the store cannot list its items.
        """
        return self._store.run(self._store.managed.count()) if self._has_items else 0

    def pages(self) -> Iterator[list[MemoryRecord] | list[MemoryItem]]:
        """Yield all of it."""
        if self._lists_records:
            yield from record_pages(self._store)
        if self._has_items:
            yield from item_pages(self._store)


def item_pages(store: Connection) -> Iterator[list[MemoryItem]]:
    """Yield every item of a store in order of id, a page at a time."""
    yield from _pages(store, store.managed.scan, lambda page: page.items)


def record_pages(store: Connection) -> Iterator[list[MemoryRecord]]:
    """Yield every record of a store in order of id, whatever became of it, a page at a time."""
    yield from _pages(store, store.chronicle.scan, lambda page: page.records)


def _pages(
    store: Connection, scan: Callable[..., Coroutine[Any, Any, P]], entries_of: Callable[[P], list[T]]
) -> Iterator[list[T]]:
    cursor: str | None = None
    while True:
        page = store.run(scan(after=cursor, limit=_PAGE))
        if entries := entries_of(page):
            yield entries
        if page.next is None:
            return
        cursor = page.next
