"""Records in a file that tell a failure wrongly, or lose what they acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

from memcore import Invalidation, MalformedMemoryPayload, MemoryAdapterUnavailable, MemoryWrite
from memcore_sqlite.records import SqliteRecords

from mutants import RECORD_EXTENSIONS, Elsewhere, FileRecords, KeptRecords, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryRecord

    Changes = Sequence[MemoryWrite | Invalidation]


@mutant("I-70ra")
class AnOutageIsNoRecord(FileRecords):
    """While the file is away, no record is there."""

    class Records(SqliteRecords):
        async def get(self, record_id: UUID) -> MemoryRecord | None:
            try:
                return await super().get(record_id)
            except MemoryAdapterUnavailable:
                return None


@mutant("I-70rb")
class MalformedIsUnavailable(FileRecords):
    """What is malformed is told as an outage."""

    class Records(SqliteRecords):
        async def count(self) -> int:
            try:
                return await super().count()
            except MalformedMemoryPayload as error:
                raise MemoryAdapterUnavailable("try again") from error


@mutant("I-70rc")
class TriesAgainAsAnother(FileRecords):
    """A write that fails is tried again with ids of its own."""

    class Records(SqliteRecords):
        async def write(self, changes: Changes) -> list[MemoryRecord]:
            try:
                return await super().write(changes)
            except MemoryAdapterUnavailable:
                return await super().write([change.model_copy(update={"id": uuid4()}) for change in changes])


@mutant("I-70rd")
class WritesTheRest(FileRecords):
    """When a write fails, what comes after its first change is written all the same."""

    class Records(SqliteRecords):
        async def write(self, changes: Changes) -> list[MemoryRecord]:
            try:
                return await super().write(changes)
            except MemoryAdapterUnavailable:
                await super().write(changes[1:])
                raise


@mutant("I-70re")
class PassesOverTheDamaged(FileRecords):
    """A record that cannot be read counts as missing."""

    class Records(SqliteRecords):
        async def get(self, record_id: UUID) -> MemoryRecord | None:
            try:
                return await super().get(record_id)
            except MalformedMemoryPayload:
                return None


class _Durable(KeptRecords):
    lifetime: ClassVar[dict[str, Any]] = {"extensions": RECORD_EXTENSIONS, "shared": False}


class _Killed(Elsewhere):
    backend_type = _Durable


@mutant("I-44ra")
class WritesRecordsInHalves(_Killed):
    """A batch of records is written in two halves."""

    mutant = "WritesRecordsInHalves"


@mutant("I-44rb")
class LinksLater(_Killed):
    """What a new record supersedes is ended some time after the new one was written."""

    mutant = "LinksLater"


@mutant("I-44rc")
class LosesTheLastRecord(_Durable):
    """Closing loses one of the records."""

    async def close(self) -> None:
        if self._lifecycle.is_open:
            for record in (await self.records.scan()).records[-1:]:
                await self.records.delete(record.id)
        await super().close()
