"""The protocols of the records contract: structural, as those of items are; each extension is one of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore.records.model import Invalidation, Kind, MemoryHit, MemoryRecord, MemoryWrite, RecordQuery, Tier

Idle = Annotated[timedelta, Field(gt=timedelta(0))]


class RecordCapabilities(BaseModel, frozen=True, extra="forbid"):
    """What a record store can do beyond the contract's core (R-17)."""

    search: Literal["keyword", "semantic", "hybrid"]
    """The modes of a search: `keyword` and `semantic` offer themselves and `auto`, `hybrid` offers all."""
    score_scale: Literal["backend", "similarity"] = "backend"
    """Whether scores lie between 0 and 1 and mean similarity, or mean something within one answer alone."""
    history: bool = False
    """It is a `RecordHistory` too; likewise the next two."""
    lifecycle: bool = False
    transfer: bool = False


@runtime_checkable
class RecordStore(Protocol):
    """Scoped facts with provenance and validity: superseded or invalidated, never overwritten (R-10 to R-19).

    Any number of tasks may call it at once. Whatever is not a model of this contract, or holds what cannot be given
    back exactly, is refused before anything is sent.
    """

    async def write(self, changes: Sequence[MemoryWrite | Invalidation]) -> list[MemoryRecord]:
        """Carry out all changes in one transaction, or none; return the records that they name, in the same order.

        A write whose id is stored already is the same write again: its record is returned, whatever became of it since.

        Raises:
            UnsupportedMemoryItem: a change cannot be kept exactly (its path starts with its place, as in
                `changes[3].payload`), there are too many, two supersede the same record, or one supersedes another.
            MemoryNotFound: a record to be superseded or invalidated is unknown or has expired.
            MemoryConflict: a record to be superseded is not valid any more (`.current` is the valid head of its chain,
                if there is one), or the id of a write is that of a different one (`.current` is that record).
            MemoryAdapterUnavailable: everything was applied or nothing.
        """
        ...

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        """Return at most `query.limit` hits: by relevance to the text, newest first without one (R-16).

        Fewer than the limit means that there are no more.

        Raises:
            UnsupportedMemoryQuery: the limit is negative, the mode is not offered, or `after` is no cursor or stands
                beside a text; nothing was sent.
            MemoryAdapterUnavailable: the service cannot be asked now; never reported as an empty result.
        """
        ...

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        """Return the record of that id, whether valid or not; `None` if it is unknown or has expired (R-15)."""
        ...

    async def invalidate(self, record_id: UUID, reason: str | None = None, actor: str | None = None) -> MemoryRecord:
        """End a record without a successor, and return it; one that has ended already stays as it is (R-13).

        Raises:
            MemoryNotFound: unknown, or expired.
        """
        ...

    async def delete(self, record_id: UUID) -> bool:
        """Erase a record and everything derived from it; tell whether it was there (R-14).

        Nothing is revived: what it superseded stays invalid, and is linked to its successor, if there is one.
        """
        ...

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        """Erase all records whose scope contains this one, of every kind unless some are named; return how many (R-19).

        Raises:
            UnsupportedMemoryQuery: the scope is empty: emptying everything is `backend.drop_namespace()`.
        """
        ...

    def capabilities(self) -> RecordCapabilities:
        """Return what this store can do; fixed when its backend opens.

        Raises:
            MemoryConfigurationError: the backend is not open yet.
        """
        ...


@dataclass(frozen=True, slots=True)
class RecordPage:
    """One page of a scan: its records, and the cursor of the next page or `None` at the end."""

    records: list[MemoryRecord]
    next: str | None


@runtime_checkable
class RecordHistory(RecordStore, Protocol):
    """A store that can also show what became of its records (R-20)."""

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        """Return all that is linked with a record by superseding, oldest first; nothing if it is unknown."""
        ...

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        """Return the next page of all records, valid or not, in order of id; as a scan of items (I-82).

        Raises:
            UnsupportedMemoryQuery: the limit is below 1, or `after` is no cursor of this store.
        """
        ...

    async def count(self) -> int:
        """Return how many records there are, valid or not."""
        ...


class SweepPolicy(BaseModel, frozen=True, extra="forbid"):
    """What a sweep takes; see `RecordLifecycle.sweep`."""

    short_idle: Idle = timedelta(days=7)
    """How long a record of tier `short` may lie idle."""
    long_idle: Idle = timedelta(days=30)
    """How long one of tier `long` may."""
    batch: int = Field(default=500, gt=0, le=10_000)
    """How many records one transaction takes."""


class SweepReport(BaseModel, frozen=True, extra="forbid"):
    """What a sweep did."""

    erased: int
    """Records that had expired."""
    archived: int
    """Records that were invalidated for being idle."""


@runtime_checkable
class RecordLifecycle(RecordStore, Protocol):
    """A store whose records rise with use, and decay without (R-21)."""

    async def touch(self, record_ids: Sequence[UUID]) -> int:
        """Count a use of each of these records, and return how many of them there are.

        At the thresholds of the settings a tier rises. Unknown and expired ids are passed over; `updated_at` stays.
        """
        ...

    async def refresh(self, record_id: UUID, tier: Tier | None = None) -> MemoryRecord:
        """Set back the idle clock of a record and raise its tier, if that is higher; counts nothing.

        A record without a tier stays without: it never decays.

        Raises:
            MemoryNotFound: unknown, or expired.
            MemoryConflict: not valid any more (`.current` is the valid head of its chain, if there is one).
        """
        ...

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        """Erase what has expired; archive what has lain idle for too long: invalidate it for the reason "idle".

        Idle since the latest of `created_at`, `last_hit_at` and `refreshed_at`. Records of tier `permanent` and those
        without a tier are never archived. Works in bounded batches; safe from several processes at once.
        """
        ...


@runtime_checkable
class Transfer(RecordStore, Protocol):
    """A store that takes records as they were: for copying and importing alone (R-22)."""

    async def restore(self, records: Sequence[MemoryRecord]) -> list[UUID]:
        """Write records with their ids, times, links and hits; all or none; again changes nothing.

        What is stored under one of the ids is replaced. Links may lead to records that have yet to come.

        Raises:
            UnsupportedMemoryItem: a record cannot be kept exactly, or there are too many.
        """
        ...
