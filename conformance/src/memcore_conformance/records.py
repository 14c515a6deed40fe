"""The records contract as a case sees it: every call is a recorded step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from memcore import MemoryHit, RecordQuery

from memcore_conformance import expect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from uuid import UUID

    from memcore import (
        Invalidation,
        MemoryRecord,
        MemoryWrite,
        RecordHistory,
        RecordLifecycle,
        RecordPage,
        RecordStore,
        SweepPolicy,
        SweepReport,
        Transfer,
    )
    from memcore.records.model import Kind, Tier

    from memcore_conformance.trial import Trial

T = TypeVar("T")


class Records:
    """The records of one store under test."""

    def __init__(self, store: RecordStore, trial: Trial) -> None:
        self.raw = store
        self._trial = trial

    async def keep(self, *given: MemoryWrite) -> list[MemoryRecord]:
        """Write records in one call, prove that the store retains them, and wait for the index.

        How every search case begins.
        """
        records = await self.write(*given)
        for record, write in zip(records, given, strict=True):
            expect.written(record, write)
            expect.same_record(await self.get(record.id), record)
        await self._trial.show_index()
        return records

    async def chain(self, *contents: str, **fields: Any) -> list[MemoryRecord]:  # noqa: ANN401 - as MemoryWrite
        """Write records that each supersede the one before, in calls of their own, and return all as they are then."""
        old: tuple[UUID, ...] = ()
        ids = []
        for content in contents:
            (record,) = await self.keep(self._trial.write(content, supersedes=old, **fields))
            old = (record.id,)
            ids.append(record.id)
        return [await self.known(record_id) for record_id in ids]

    async def known(self, record_id: UUID) -> MemoryRecord:
        """Return a record that has to be there."""
        record = await self.get(record_id)
        expect.that(record is not None, expected=f"the record {str(record_id)[:8]}", got=record)
        return cast("MemoryRecord", record)

    async def find(self, text: str | None = None, **axes: Any) -> list[MemoryRecord]:  # noqa: ANN401 - as RecordQuery
        """Search by the axes of a `RecordQuery`, and return the records of the hits."""
        return [hit.record for hit in await self.search(RecordQuery(text=text, **axes))]

    async def write(self, *changes: MemoryWrite | Invalidation) -> list[MemoryRecord]:
        """Call `write`."""
        return await self._does(f"write({expect.describe(list(changes))})", lambda: self.raw.write(changes))

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        """Call `get`."""
        return await self._does(f"get({str(record_id)[:8]})", lambda: self.raw.get(record_id))

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        """Call `search`."""
        asked = {name: getattr(query, name) for name in sorted(query.model_fields_set)}
        text = ", ".join(f"{name}={expect.describe(value)}" for name, value in asked.items() if value is not None)
        hits = await self._does(f"search({text})", lambda: self.raw.search(query))
        strangers = [hit for hit in hits if type(hit) is not MemoryHit]
        expect.that(type(hits) is list and not strangers, expected="a list of MemoryHit", got=strangers or hits)
        return hits

    async def invalidate(self, record_id: UUID, reason: str | None = None, actor: str | None = None) -> MemoryRecord:
        """Call `invalidate`."""
        text = f"invalidate({str(record_id)[:8]}, {expect.describe(reason)}, {expect.describe(actor)})"
        return await self._does(text, lambda: self.raw.invalidate(record_id, reason, actor))

    async def delete(self, record_id: UUID) -> bool:
        """Call `delete`."""
        return await self._does(f"delete({str(record_id)[:8]})", lambda: self.raw.delete(record_id))

    async def delete_where(self, scope: Mapping[str, str], *, kinds: Sequence[Kind] | None = None) -> int:
        """Call `delete_where`."""
        text = f"delete_where({expect.describe(scope)}, kinds={kinds!r})"
        return await self._does(text, lambda: self.raw.delete_where(scope, kinds=kinds))

    async def history(self, record_id: UUID) -> list[MemoryRecord]:
        """Call `history`."""
        return await self._does(f"history({str(record_id)[:8]})", lambda: self._with_history.history(record_id))

    async def scan(self, *, after: str | None = None, limit: int = 500) -> RecordPage:
        """Call `scan`."""
        text = f"scan(after={expect.describe(after)}, limit={limit})"
        return await self._does(text, lambda: self._with_history.scan(after=after, limit=limit))

    async def scan_all(self, *, limit: int = 500) -> list[MemoryRecord]:
        """Scan page after page to the end; a cursor that comes again would never lead there."""
        page = await self.scan(limit=limit)
        found, cursors = list(page.records), set[str]()
        while page.next is not None:
            expect.that(page.next not in cursors, expected="a cursor that leads on", got="one that was there before")
            cursors.add(page.next)
            page = await self.scan(after=page.next, limit=limit)
            found += page.records
        return found

    async def count(self) -> int:
        """Call `count`."""
        return await self._does("count()", self._with_history.count)

    async def touch(self, *record_ids: UUID) -> int:
        """Call `touch`."""
        text = ", ".join(str(record_id)[:8] for record_id in record_ids)
        return await self._does(f"touch([{text}])", lambda: self._with_lifecycle.touch(record_ids))

    async def refresh(self, record_id: UUID, tier: Tier | None = None) -> MemoryRecord:
        """Call `refresh`."""
        text = f"refresh({str(record_id)[:8]}, {tier!r})"
        return await self._does(text, lambda: self._with_lifecycle.refresh(record_id, tier))

    async def sweep(self, policy: SweepPolicy | None = None) -> SweepReport:
        """Call `sweep`."""
        text = f"sweep({'' if policy is None else policy})"
        return await self._does(text, lambda: self._with_lifecycle.sweep(policy))

    async def restore(self, *records: MemoryRecord) -> list[UUID]:
        """Call `restore`."""
        text = f"restore({expect.describe(list(records))})"
        return await self._does(text, lambda: cast("Transfer", self.raw).restore(records))

    @property
    def _with_history(self) -> RecordHistory:
        return cast("RecordHistory", self.raw)

    @property
    def _with_lifecycle(self) -> RecordLifecycle:
        return cast("RecordLifecycle", self.raw)

    async def _does(self, text: str, call: Callable[[], Awaitable[T]]) -> T:
        return await self._trial.does(text, call())
