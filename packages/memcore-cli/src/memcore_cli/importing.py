"""The import of items and records: in batches, each bad piece told by its place, and safe to run again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memcore.errors import UnsupportedMemoryItem
from memcore.items.store import ManagedMemoryStore
from memcore.records.model import MemoryRecord

from memcore_cli.losses import losses_of, refuse_losses
from memcore_cli.output import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterable
    from uuid import UUID

    from memcore.items.model import MemoryItem

    from memcore_cli.connection import Connection
    from memcore_cli.reading import Entry

    _Call = Callable[[list[Any]], Coroutine[Any, Any, list[UUID]]]

BATCH_ITEMS: Final = 500
BATCH_BYTES: Final = 4 * 2**20
"""A batch ends at either bound: small enough to be held and to show progress, large enough to be quick."""


@dataclass(slots=True)
class Import:
    """One import, and what became of its input so far."""

    store: Connection
    accepted: Collection[str] = ()
    """Losses that may be, by name."""
    read: int = 0
    stored: int = 0
    bad: int = 0
    left_out: int = 0
    """Records that the store does not keep, where that loss is accepted."""
    _losses: dict[type, list[str]] = field(default_factory=dict)

    def run(self, entries: Iterable[Entry], advance: Callable[[int], None]) -> None:
        """Store all of the input; what is bad is told on stderr and left out.

        Args:
            entries: the input.
            advance: is told how many bytes of it are done.

        Raises:
            CommandFailed: the store would lose something that is not accepted; what came before it is stored.
            MemoryAdapterError: the store failed; what was counted as stored is stored.
        """
        limits = self.store.backend.capabilities.limits
        most = min(BATCH_ITEMS, limits.batch) if limits else BATCH_ITEMS
        batch: list[_Accepted] = []
        size = done = 0
        for entry in entries:
            self.read += 1
            done += entry.size
            if entry.content is None:
                self._reject(entry.place, str(entry.fault))
                continue
            if batch and type(entry.content) is not type(batch[0].content):
                self._store(batch)
                batch, size = [], 0
            batch.append(_Accepted(entry.place, entry.content))
            size += entry.size
            if len(batch) >= most or size >= BATCH_BYTES:
                self._store(batch)
                advance(done)
                batch, size = [], 0
        self._store(batch)

    def refuse_losses(self, kind: type[MemoryItem | MemoryRecord]) -> None:
        """Refuse to store what would lose something that is not accepted.

        Raises:
            CommandFailed: it would.
        """
        if kind not in self._losses:
            losses = losses_of(self.store, kind)
            refuse_losses(f"a store of adapter {self.store.backend.name!r} does not keep", losses, self.accepted)
            self._losses[kind] = losses

    def _store(self, batch: list[_Accepted]) -> None:
        if not batch:
            return
        kind = type(batch[0].content)
        self.refuse_losses(kind)
        if kind is MemoryRecord:
            if self._losses[kind]:
                self.left_out += len(batch)
            else:
                self._keep(batch, self.store.transfer.restore)
        elif isinstance(self.store.items, ManagedMemoryStore):
            self._keep(batch, self.store.items.store_many)
        else:
            for single in batch:
                self._keep([single], self._store_one)

    def _keep(self, batch: list[_Accepted], call: _Call) -> None:
        """Store a batch; one that is refused is taken apart, to find out what of it is."""
        try:
            self.stored += len(self.store.run(call([content for _, content in batch])))
        except UnsupportedMemoryItem as error:
            if len(batch) == 1:
                path = error.path.removeprefix("items[0].").removeprefix("records[0].")
                self._reject(batch[0].place, f"{path}: {error.reason}")
                return
            for single in batch:
                self._keep([single], call)

    async def _store_one(self, items: list[Any]) -> list[UUID]:
        return [await self.store.items.store(items[0])]

    def _reject(self, place: str, fault: str) -> None:
        self.bad += 1
        tell(f"bad {place}: {fault}")


class _Accepted(NamedTuple):
    place: str
    content: MemoryItem | MemoryRecord
