"""Stores that lose or change a part of a record."""

from __future__ import annotations

import unicodedata
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Any

from mutants import Records, RecordsBackend, mutant
from mutants.records_parts import Asks, Shows, Writes

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryHit, MemoryRecord, MemoryWrite, RecordCapabilities, RecordQuery


@mutant("R-02a")
class LosesItsSupports(Writes):
    """What else supports a record is not kept."""

    def given(self, write: MemoryWrite) -> dict[str, Any]:
        return {"supports": ()}


@mutant("R-02b")
class WholeNumbersAreIntegers(Shows):
    """A payload of 1.0 comes back as 1."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        whole = type(record.payload) is float and record.payload.is_integer()
        return {"payload": int(record.payload)} if whole else {}


@mutant("R-02c")
class TrimsReasons(Shows):
    """Blanks around a reason are lost."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        return {"invalid_reason": record.invalid_reason and record.invalid_reason.strip()}


@mutant("R-02d")
class ComposesContent(Shows):
    """The content comes back in its composed form."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        return {"content": unicodedata.normalize("NFC", record.content)}


@mutant("R-02e")
class TellsLocalTimes(Shows):
    """Times are aware, and not in UTC."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        return {"created_at": record.created_at.astimezone(timezone(timedelta(hours=2)))}


@mutant("R-02f")
class ExpiresAtWholeSeconds(Shows):
    """The fraction of a second is lost from a time of expiry."""

    def show(self, record: MemoryRecord) -> dict[str, Any]:
        return {"expires_at": record.expires_at and record.expires_at.replace(microsecond=0)}


@mutant("R-02g")
class HidesTheInvalidated(Asks):
    """What was invalidated without a successor is found by no search."""

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        return [hit for hit in hits if hit.record.invalid_at is None or hit.record.superseded_by]


@mutant("R-04a")
class NilIsNoRecord(Records):
    """An id of zeros counts as none."""

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        return await super().get(record_id) if record_id.int else None


@mutant("R-17a")
class KeepsItsHistoryToItself(Records):
    """The history is there, and the capabilities do not say so."""

    def capabilities(self) -> RecordCapabilities:
        return super().capabilities().model_copy(update={"history": False})


@mutant("R-17b")
class TellsTooEarly(Records):
    """What it can do is told before its backend is open."""

    def capabilities(self) -> RecordCapabilities:
        return self._capabilities


@mutant("B-02c")
class ClaimsAHistory(RecordsBackend):
    """Records without any extension, of which the backend claims that they have all."""

    @property
    def records(self) -> Any:  # type: ignore[override]
        return _Plain(self._records)


class _Plain:
    def __init__(self, store: Records) -> None:
        self.write, self.search, self.get = store.write, store.search, store.get
        self.invalidate, self.delete, self.delete_where = store.invalidate, store.delete, store.delete_where
        self.capabilities = store.capabilities
