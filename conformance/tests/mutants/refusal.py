"""Stores that take what they cannot keep, or refuse badly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import MemoryAdapterError, MemoryItem, UnsupportedMemoryItem

from mutants import Backend, Items, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import Capabilities


class _Lenient(Items):
    """Takes an item in another form where it should refuse it."""

    def adapt(self, item: MemoryItem) -> MemoryItem | None:
        raise NotImplementedError

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except UnsupportedMemoryItem:
            adapted = self.adapt(item)
            if adapted is None:
                raise
            return await super().store(adapted)


@mutant("I-41b")
class ConvertsKeys(_Lenient):
    """Keys that are no strings become strings."""

    def adapt(self, item: MemoryItem) -> MemoryItem | None:
        value = item.content[0] if isinstance(item.content, list) else None
        if not isinstance(value, dict) or all(isinstance(key, str) for key in value):
            return None
        return item.model_copy(update={"content": [{str(key): part for key, part in value.items()}]})


@mutant("I-41b")
class NullsForNaN(_Lenient):
    """What is no number becomes null in metadata."""

    def adapt(self, item: MemoryItem) -> MemoryItem | None:
        value = item.metadata.get("k")
        return item.model_copy(update={"metadata": {"k": None}}) if isinstance(value, float) else None


@mutant("I-41c")
class TextsForTags(_Lenient):
    """The tags of a host's item become texts, whatever they are."""

    def adapt(self, item: MemoryItem) -> MemoryItem | None:
        if not isinstance(item.tags, list) or all(type(tag) is str for tag in item.tags):
            return None
        return MemoryItem(id=item.id, content=item.content, tags=list(map(str, item.tags)))


@mutant("I-41d")
class Terse(Items):
    """A refusal says that something is wrong, and not what."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except UnsupportedMemoryItem as error:
            raise UnsupportedMemoryItem(field=error.field, path=error.path, reason="it is not supported") from None


@mutant("I-40c")
class ClearsBeforeItChecks(Items):
    """The item that is to be replaced is gone before the new one is checked."""

    async def store(self, item: MemoryItem) -> UUID:
        await self.delete(item.id)
        return await super().store(item)


@mutant("I-40c")
class KeepsWhatItRefused(Items):
    """A refused item stays behind without its content."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except UnsupportedMemoryItem:
            if await self.retrieve(item.id) is None:
                await super().store(item.model_copy(update={"content": None}))
            raise


@mutant("I-40d")
class ShowsWhatItRefused(Items):
    """The message of a refusal quotes the item."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except UnsupportedMemoryItem as error:
            text = str(item.tags)
            raise UnsupportedMemoryItem(field=error.field, path=error.path, reason=f"{error.reason}: {text}") from None


@mutant("I-40d")
class CausedByContent(Items):
    """The error that a refusal comes from quotes the item."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except UnsupportedMemoryItem as error:
            raise error from TypeError(f"cannot encode {item.metadata}")


@mutant("I-40e")
class SortsTheTagsOfItsCaller(Items):
    """The tags of the object that is given are sorted in place."""

    async def store(self, item: MemoryItem) -> UUID:
        stored = await super().store(item)
        item.tags.sort()
        return stored


@mutant("I-45b")
class LimitsContentAlone(Items):
    """Metadata may be of any size, whatever the limits say."""

    async def store(self, item: MemoryItem) -> UUID:
        self._limits = self._limits.model_copy(update={"metadata": 10**9})
        return await super().store(item)


@mutant("I-45b")
class StatesOtherLimits(Backend):
    """States the usual limits, whatever was set."""

    @property
    def capabilities(self) -> Capabilities:
        claimed = super().capabilities
        return claimed.model_copy(update={"limits": type(self._settings.limits)()})


@mutant("I-45c")
class MemoryEnds(Items):
    """A value that is too large to be written out ends in an error of the interpreter."""

    async def store(self, item: MemoryItem) -> UUID:
        try:
            return await super().store(item)
        except UnsupportedMemoryItem as error:
            if "over the size limit" in error.reason and isinstance(item.content, list):
                raise MemoryError from error
            raise


@mutant("I-45d")
class RefusesLongTexts(Items):
    """A text that the index cannot hold is not kept."""

    async def store(self, item: MemoryItem) -> UUID:
        if isinstance(item.content, str) and len(item.content) > 65_536:
            raise MemoryAdapterError("string is too long for the index")
        return await super().store(item)


@mutant("I-45e")
class TakesAnyBatch(Items):
    """A batch has no limit."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        self._limits = self._limits.model_copy(update={"batch": 10**9})
        return await super().store_many(items)
