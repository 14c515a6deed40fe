"""Broken searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import MemoryAdapterManifest, MemoryItem, UnsupportedMemoryQuery

from mutants import Items, RemoteItems, Service, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore import MemoryQuery


@mutant("I-60a")
class HitsWithoutTags(Items):
    """Hits lack the tags that the manifest promises."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return [item.model_copy(update={"tags": []}) for item in await super().search(query)]


@mutant("I-60b")
class RetrievesEveryHit(RemoteItems):
    """Every hit is read again."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = [await self.retrieve(item.id) for item in await super().search(query)]
        return [item for item in found if item]


@mutant("I-61a")
class ListsTextsOnly(Items):
    """The empty query is a wildcard over texts."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        return found if query.text else [item for item in found if isinstance(item.content, str)]


@mutant("I-62a")
class ZeroIsNoLimit(Items):
    """A limit of 0 means no limit."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return await super().search(query.model_copy(update={"limit": query.limit or 20}))


@mutant("I-62b")
class NegativeIsZero(Items):
    """A negative limit finds nothing."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return await super().search(query.model_copy(update={"limit": max(query.limit, 0)}))


@mutant("I-62c")
class AsksBeforeItChecks(RemoteItems):
    """The service is called before the limit is checked."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        await self.call("count")
        return await super().search(query)


@mutant("I-62d")
class NativeInteger(Items):
    """A limit beyond 63 bits is an error of the engine."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        if query.limit >= 1 << 63:
            raise OverflowError("too large")
        return await super().search(query)


@mutant("I-63a")
class IgnoresUnknownFilters(Items):
    """Filters that are not supported are dropped, and the search is wider."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)  # type: ignore[arg-type]
        self._manifest = self._manifest.model_copy(
            update={"open_filters": False, "supported_filters": frozenset({"kind"})}
        )

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        kept = {key: value for key, value in (query.filters or {}).items() if key == "kind"}
        return await super().search(query.model_copy(update={"filters": kept}))


@mutant("I-63b")
class IgnoresFilters(Items):
    """Filters are not applied."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return await super().search(query.model_copy(update={"filters": None}))


@mutant("I-64a")
class ClaimsImmediacy(RemoteItems):
    """Claims an immediate search over an index that lags behind."""

    def make_manifest(self) -> MemoryAdapterManifest:
        return super().make_manifest().model_copy(update={"search_consistency": "immediate"})


@mutant("I-64b")
class NeverIndexesReplacements(Service):
    """What replaces an item while the index lags is never indexed."""

    async def show(self, namespace: str, rows: Sequence[object]) -> None:
        known = {str(item.id) for item in (await self._index(namespace).scan(limit=10_000)).items}
        await super().show(namespace, [row for row in rows if row and row[0] not in known])  # type: ignore[index, misc]


@mutant("I-66a")
class WholePhrase(Items):
    """The query is one phrase."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        text = (query.text or "").lower()
        return [item for item in found if text in str(item.content).lower()]


@mutant("I-66b")
class WordlessIsEverything(Items):
    """A text without a word finds everything."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        text = query.text if any(letter.isalnum() for letter in query.text or "") else None
        return await super().search(query.model_copy(update={"text": text}))


@mutant("I-66c")
class NewestFirstAlways(Items):
    """Hits are ordered by time, whatever the text."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return sorted(await super().search(query), key=lambda item: item.created_at, reverse=True)


@mutant("I-67a")
class FoldsTags(Items):
    """Tags are compared without regard to case."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query.model_copy(update={"tags": None}))
        wanted = {tag.lower() for tag in query.tags or ()}
        return [item for item in found if not wanted or wanted.intersection(tag.lower() for tag in item.tags)]


@mutant("I-67b")
class PythonEquality(Items):
    """Filters compare as Python does: `True` equals 1."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query.model_copy(update={"filters": None}))
        wanted = (query.filters or {}).items()
        return [item for item in found if all(item.metadata.get(key) == value for key, value in wanted)]


@mutant("I-68a")
class OldestFirst(Items):
    """Without text, the oldest come first."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found = await super().search(query)
        return found if query.text else found[::-1]


@mutant("I-63a")
class NamesOneFilter(Items):
    """Of several filters that are not supported, only the first is named."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)  # type: ignore[arg-type]
        self._manifest = self._manifest.model_copy(update={"open_filters": False})

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        for key in query.filters or ():
            raise UnsupportedMemoryQuery([key])
        return await super().search(query)
