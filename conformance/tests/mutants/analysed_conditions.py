"""Searches that apply their conditions loosely, late or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memcore.kit.query import matches_filters

from mutants import Items, mutant

if TYPE_CHECKING:
    from memcore import MemoryItem, MemoryQuery


class Filtering(Items):
    """Applies the filters itself, after the search."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        every = await super().search(query.model_copy(update={"filters": None, "limit": 1 << 20}))
        return [item for item in every if self.matches(item.metadata, query.filters or {})][: query.limit]

    def matches(self, metadata: dict[str, Any], filters: dict[str, Any]) -> bool:
        raise NotImplementedError


@mutant("I-67c")
class ComparesJsonText(Filtering):
    """Values are equal if their JSON is written alike, with sorted keys."""

    def matches(self, metadata: dict[str, Any], filters: dict[str, Any]) -> bool:
        return all(self.text(metadata.get(key)) == self.text(value) for key, value in filters.items())

    def text(self, value: object) -> str:
        return json.dumps(value, sort_keys=True)


@mutant("I-67d")
class NullMustBeThere(Filtering):
    """`None` matches null, and no missing key."""

    def matches(self, metadata: dict[str, Any], filters: dict[str, Any]) -> bool:
        return matches_filters(metadata, filters) and filters.keys() <= metadata.keys()


@mutant("I-67e")
class DotsGoDeeper(Filtering):
    """A dot in a key leads into what is nested."""

    def matches(self, metadata: dict[str, Any], filters: dict[str, Any]) -> bool:
        return all(
            matches_filters(metadata, {key: value}) or self.inside(metadata, key, value)
            for key, value in filters.items()
        )

    def inside(self, metadata: dict[str, Any], key: str, value: object) -> bool:
        outer, _, inner = key.partition(".")
        nested = metadata.get(outer)
        return bool(inner) and isinstance(nested, dict) and nested.get(inner) == value


@mutant("I-67f")
class AnyFilterIsEnough(Filtering):
    """One filter of several is enough."""

    def matches(self, metadata: dict[str, Any], filters: dict[str, Any]) -> bool:
        return not filters or any(matches_filters(metadata, {key: value}) for key, value in filters.items())


@mutant("I-67g")
class TrimsTags(Items):
    """Blanks around a tag do not count."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        every = await super().search(query.model_copy(update={"tags": None, "limit": 1 << 20}))
        wanted = {tag.strip() for tag in query.tags or ()}
        return [item for item in every if not wanted or wanted.intersection(map(str.strip, item.tags))][: query.limit]


@mutant("I-67h")
class BindsFewValues(Items):
    """The engine takes no more than 999 values."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return await super().search(query.model_copy(update={"tags": (query.tags or [])[:999]}))


@mutant("I-67i")
class LimitsFirst(Items):
    """The limit is applied before the tags are."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query.model_copy(update={"tags": None}))
        return [item for item in found if not query.tags or set(query.tags).intersection(item.tags)]


@mutant("I-68b")
class ListsTagsById(Items):
    """What is listed by tags comes in order of id."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        return sorted(found, key=lambda item: item.id) if query.tags and not query.text else found


@mutant("I-68c")
class NoTagIsATag(Items):
    """An empty list of tags is met by nothing."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return [] if query.tags == [] else await super().search(query)
