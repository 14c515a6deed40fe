"""Stores that give back something else than what they were given."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from memcore import MemoryItem

from mutants import Items, KeptBackend, mutant

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryQuery


class _Changes(Items):
    """Gives back items that were changed a little."""

    def change(self, item: MemoryItem) -> MemoryItem:
        raise NotImplementedError

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        found = await super().retrieve(item_id)
        return found and self.change(found)


class _ChangesHits(_Changes):
    """Gives back hits that were changed a little."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        return await Items.retrieve(self, item_id)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return [self.change(item) for item in await super().search(query)]


@mutant("I-41a")
class SortsKeys(_Changes):
    """Mappings come back with their keys sorted."""

    def change(self, item: MemoryItem) -> MemoryItem:
        content = item.content
        return item.model_copy(update={"content": dict(sorted(content.items()))}) if type(content) is dict else item


@mutant("I-41a")
class Normalises(_Changes):
    """Texts come back in one of the forms of Unicode."""

    def change(self, item: MemoryItem) -> MemoryItem:
        content = item.content
        text = unicodedata.normalize("NFC", content) if isinstance(content, str) else content
        return item.model_copy(update={"content": text})


@mutant("I-41a")
class EndsAtNul(_Changes):
    """A text ends where C ends it."""

    def change(self, item: MemoryItem) -> MemoryItem:
        content = item.content
        return item.model_copy(update={"content": content.split("\0")[0] if isinstance(content, str) else content})


@mutant("I-41e")
class SetOfTags(_Changes):
    """Repeated tags come back once."""

    def change(self, item: MemoryItem) -> MemoryItem:
        return item.model_copy(update={"tags": list(dict.fromkeys(item.tags))})


@mutant("I-41e")
class StripsTags(_Changes):
    """Tags come back without the blanks around them."""

    def change(self, item: MemoryItem) -> MemoryItem:
        return item.model_copy(update={"tags": [tag.strip() for tag in item.tags]})


@mutant("I-51d")
class TimesOfACalendar(_Changes):
    """Times go through a calendar, which knows neither their fractions nor every year."""

    def change(self, item: MemoryItem) -> MemoryItem:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=item.created_at)
        return item.model_copy(update={"created_at": moment.timestamp()})


@mutant("I-60c")
class PreviewsOfHits(_ChangesHits):
    """Long contents are cut in hits."""

    def change(self, item: MemoryItem) -> MemoryItem:
        content = item.content
        return item.model_copy(update={"content": content[:20] if isinstance(content, str) else content})


@mutant("I-60d")
class ScoresInHits(_ChangesHits):
    """Hits have their score as an attribute."""

    def change(self, item: MemoryItem) -> MemoryItem:
        vars(item)["score"] = 1.0
        return item


@mutant("I-11b")
class GivesTheSameObject(Items):
    """What was retrieved once is given out again, as the caller left it."""

    _given: dict[UUID, MemoryItem | None]

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        self._given = getattr(self, "_given", {})
        if item_id not in self._given or self._given[item_id] is None:
            self._given[item_id] = await super().retrieve(item_id)
        return self._given[item_id]

    async def store(self, item: MemoryItem) -> UUID:
        self._given = {}
        return await super().store(item)


@mutant("I-11b")
class SharesTagsOfHits(_ChangesHits):
    """The tags of a hit are those of the store."""

    def change(self, item: MemoryItem) -> MemoryItem:
        vars(item)["tags"] = self._index.entries[item.id.int].tags
        return item


@mutant("I-11c")
class AsksForAMemoryItem(Items):
    """Items of another class are refused, unless they have a dictionary to be read from."""

    async def store(self, item: Any) -> UUID:
        return await super().store(item if hasattr(item, "model_copy") else MemoryItem(**vars(item)))


@mutant("I-11c")
class KeepsTheClass(Items):
    """Items come back as instances of the class that was stored."""

    async def store(self, item: MemoryItem) -> UUID:
        self._kind = type(item) if isinstance(item, MemoryItem) else MemoryItem
        return await super().store(item)

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        found = await super().retrieve(item_id)
        return found and self._kind(**vars(found))


@mutant("I-51e")
class RemembersExactly(KeptBackend):
    """Only the backend that stored a value has it exactly; the file has integers as floats."""

    class Items(KeptBackend.Items):
        """Give back the file's value of what others stored."""

        _stored: frozenset[UUID] = frozenset()

        async def store(self, item: MemoryItem) -> UUID:
            self._stored |= {item.id}
            return await super().store(item)

        async def retrieve(self, item_id: UUID) -> MemoryItem | None:
            found = await super().retrieve(item_id)
            if found and item_id not in self._stored and type(found.content) is int:
                return found.model_copy(update={"content": float(found.content % 2**53)})
            return found
