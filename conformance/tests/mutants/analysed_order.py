"""Searches that find what they should, in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.kit.ranking import CANDIDATES
from memcore.kit.text import analyse_item, analyse_query, may_be_date

from mutants import Items, mutant

if TYPE_CHECKING:
    from memcore import MemoryItem, MemoryQuery

EVERYTHING = 1 << 20


@mutant("I-66l")
class CountsWords(Items):
    """The order is how often the words occur; neither rarity nor length counts."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        wanted = set(analyse_query(query.text or ""))
        return sorted(found, key=lambda item: -sum(word in wanted for word in analyse_item(item.content, item.tags)[0]))


@mutant("I-66m")
class TagsFirst(Items):
    """What has the words in its tags comes first."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        wanted = set(analyse_query(query.text or ""))
        return sorted(found, key=lambda item: wanted.isdisjoint(analyse_item(None, item.tags)[1]))


@mutant("I-66n")
class CountsEverybody(Items):
    """How rare a word is, is counted over the whole store."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        if not query.text:
            return await super().search(query)
        every = await super().search(query.model_copy(update={"tags": None, "limit": EVERYTHING}))
        return [item for item in every if not query.tags or set(query.tags).intersection(item.tags)][: query.limit]


@mutant("I-66o")
class LowerIdFirst(Items):
    """Of the same relevance and time, the lower id comes first."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        same = len({str(item.content) for item in found}) == 1
        return sorted(found, key=lambda item: (-item.created_at, item.id)) if query.text and same else found


@mutant("I-66p")
class IgnoresDates(Items):
    """The time of an item counts nothing."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        text = " ".join(word for word in analyse_query(query.text or "") if not may_be_date(word))
        return await super().search(query.model_copy(update={"text": text or query.text}))


@mutant("I-66q")
class FindsOnlyCandidates(Items):
    """What is beyond the candidates is not found."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return (await super().search(query))[:CANDIDATES]


@mutant("I-66q")
class RanksTheNewest(Items):
    """Of many matches only the newest are ranked."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        every = await super().search(query.model_copy(update={"limit": EVERYTHING}))
        newest = sorted(every, key=lambda item: (item.created_at, item.id), reverse=True)[:CANDIDATES]
        return [item for item in every if item in newest or query.limit > CANDIDATES][: query.limit]


@mutant("I-66r")
class RanksOnePage(Items):
    """As many as are asked for are taken as they come, and then ranked."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        every = await super().search(query.model_copy(update={"limit": EVERYTHING}))
        oldest = sorted(every, key=lambda item: item.created_at)[: query.limit]
        return [item for item in every if item in oldest]
