"""Searches that read texts wrongly: as commands, letter by letter, or not at all."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from memcore.kit.stopwords import STOP_WORDS
from memcore.kit.text import MAX_WORD_LENGTH, MAX_WORDS

from mutants import Items, mutant

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryItem, MemoryQuery


class Reworded(Items):
    """Searches for something else than was asked."""

    def reword(self, text: str) -> str:
        raise NotImplementedError

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        text = self.reword(query.text) if query.text else query.text
        return [] if query.text and not text else await super().search(query.model_copy(update={"text": text}))


@mutant("I-66d")
class KnowsOperators(Reworded):
    """What stands after NOT or a hyphen is left out."""

    def reword(self, text: str) -> str:
        return re.sub(r"(\bNOT |(?<!\w)-)\w+", " ", text)


@mutant("I-66d")
class QuotesTogether(Items):
    """A quote that is not closed is a syntax error."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        if (query.text or "").count('"') % 2:
            raise SyntaxError("unterminated string")
        return await super().search(query)


@mutant("I-66e")
class KnowsSpacedScripts(Reworded):
    """A run of Han, kana, Hangul or Thai is one word."""

    def reword(self, text: str) -> str:
        return "" if re.search("[\u0e00-\u0eff\u3040-\ud7ff]", text) else text


@mutant("I-66e")
class TakesEmojiForPunctuation(Reworded):
    """Symbols are no words."""

    def reword(self, text: str) -> str:
        return re.sub("[\U0001f000-\U0001ffff]", " ", text)


@mutant("I-66f")
class MindsComposition(Items):
    """Accents that stand apart from their letter are not the same."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        apart = any("\u0300" <= letter <= "\u036f" for letter in query.text or "")
        return [item for item in found if not apart or str(item.content).isascii()]


@mutant("I-66g")
class FindsParts(Items):
    """A tag is also found by any part of its text."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        every = await super().search(query.model_copy(update={"text": None})) if query.text else []
        parts = [item for item in every if any((query.text or "") in tag for tag in item.tags)]
        return list({item.id: item for item in [*found, *parts]}.values())[: query.limit]


@mutant("I-66h")
class KeysAreText(Items):
    """The words of keys are found as well."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        every = await super().search(query.model_copy(update={"text": None})) if query.text else []
        keyed = [item for item in every if f"'{query.text}':" in str(item.content)]
        return list({item.id: item for item in [*found, *keyed]}.values())[: query.limit]


@mutant("I-66i")
class DropsStopWords(Reworded):
    """Stop words are never looked for."""

    def reword(self, text: str) -> str:
        return " ".join(word for word in text.split() if word.strip("?").lower() not in STOP_WORDS)


@mutant("I-66j")
class SkipsLongWords(Reworded):
    """A word that is too long is left out."""

    def reword(self, text: str) -> str:
        return " ".join(word for word in text.split() if len(word) <= MAX_WORD_LENGTH)


@mutant("I-66k")
class RemembersOldTags(Items):
    """A replaced item is still found by the tags that it had."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)  # type: ignore[arg-type]
        self._tags: dict[UUID, set[str]] = defaultdict(set)

    async def store(self, item: MemoryItem) -> UUID:
        self._tags[item.id].update(item.tags)
        return await super().store(item)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query.model_copy(update={"tags": None}))
        return [item for item in found if not query.tags or self._tags[item.id].intersection(query.tags)]


@mutant("I-45m")
class HidesTags(Items):
    """A long text leaves no room for the words of the tags."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        return [item for item in found if str(item.content).count(" ") < MAX_WORDS - 2 or query.text not in item.tags]
