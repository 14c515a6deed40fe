"""The import of items: in batches, each bad piece told by its place, and safe to run again after an interruption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from memcore.errors import UnsupportedMemoryItem
from memcore.items.model import MemoryItem
from memcore.items.store import ManagedMemoryStore

from memcore_cli.output import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memcore_cli.connection import Connection
    from memcore_cli.item_json import Entry

BATCH_ITEMS: Final = 500
BATCH_BYTES: Final = 4 * 2**20
"""A batch ends at either bound: small enough to be held and to show progress, large enough to be quick."""


@dataclass(slots=True)
class Import:
    """One import, and what became of its input so far."""

    store: Connection
    read: int = 0
    stored: int = 0
    bad: int = 0

    def run(self, entries: Iterable[Entry], advance: Callable[[int], None]) -> None:
        """Store every item of the input; what is bad is told on stderr and left out.

        Args:
            entries: the input.
            advance: is told how many bytes of it are done.

        Raises:
            MemoryAdapterError: the store failed; what was counted as stored is stored.
        """
        limits = self.store.backend.capabilities.limits
        most = min(BATCH_ITEMS, limits.batch) if limits else BATCH_ITEMS
        batch: list[_Accepted] = []
        size = done = 0
        for entry in entries:
            self.read += 1
            done += entry.size
            if entry.item is None:
                self._reject(entry.place, str(entry.fault))
                continue
            batch.append(_Accepted(entry.place, entry.item))
            size += entry.size
            if len(batch) >= most or size >= BATCH_BYTES:
                self._store(batch)
                advance(done)
                batch, size = [], 0
        self._store(batch)

    def _store(self, batch: list[_Accepted]) -> None:
        store = self.store.items
        if not batch or not isinstance(store, ManagedMemoryStore):
            self._store_singly(batch)
            return
        try:
            self.stored += len(self.store.run(store.store_many([item for _, item in batch])))
        except UnsupportedMemoryItem:
            self._store_singly(batch)

    def _store_singly(self, batch: list[_Accepted]) -> None:
        """Find out which items of a batch are refused; the others are stored."""
        for place, item in batch:
            try:
                self.store.run(self.store.items.store(item))
            except UnsupportedMemoryItem as error:
                self._reject(place, f"{error.path}: {error.reason}")
            else:
                self.stored += 1

    def _reject(self, place: str, fault: str) -> None:
        self.bad += 1
        tell(f"bad {place}: {fault}")


class _Accepted(NamedTuple):
    place: str
    item: MemoryItem
