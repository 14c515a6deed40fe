"""Searches of records that take a condition for less, or more, than it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from uuid import UUID

from memcore import MemoryHit, RecordQuery, UnsupportedMemoryQuery
from memcore.kit.index import Index
from memcore.records.cursor import decode_place, encode_place

from mutants import Records, harmless, mutant
from mutants.records_parts import Asks

if TYPE_CHECKING:
    from memcore import MemoryRecord
    from memcore.records.model import CallersPart, Kind
    from memcore.records.rows import RecordRow

_KINDS: tuple[Kind, ...] = ("fact", "preference", "episode", "profile", "observation", "state")


@mutant("R-03a")
class FindsInternalKinds(Asks):
    """Where no kinds are named, every kind is found."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"kinds": _KINDS}) if query.kinds is None else query


@mutant("R-05a")
class AllIsAny(Asks):
    """One of the tags is always enough."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"match_tags": "any"})


@mutant("R-05b")
class NoTierIsAnyTier(Asks):
    """What has no tier is found by whatever tiers are named."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"tiers": None})

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        return [hit for hit in hits if query.tiers is None or hit.record.tier in (*query.tiers, None)]


@mutant("R-05c")
class PagesByTimeAlone(Asks):
    """A page begins after the time of the last hit: others of the same time are left out."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        if not query.after or query.text:
            return query
        after = encode_place(decode_place(query.after)[0], UUID(int=0))
        return query.model_copy(update={"after": after})


@mutant("R-05d")
class ListsByNumber(Asks):
    """A page begins after as many hits as the pages before had, whatever has come or gone meanwhile."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._places: dict[str | None, int] = {None: 0}

    def ask(self, query: RecordQuery) -> RecordQuery:
        known = query.after in self._places and query.text is None and query.limit > 0
        return query.model_copy(
            update={"after": None, "limit": query.limit + self._places[query.after]} if known else {}
        )

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        start = self._places.get(query.after, 0) if query.text is None else 0
        self._places.update((hit.cursor, place) for place, hit in enumerate(hits, start=1))
        return hits[start:]


@mutant("R-05e")
class TakesAnyCursor(Records):
    """A cursor that is none begins at the first page."""

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        try:
            return await super().search(query)
        except UnsupportedMemoryQuery as error:
            if error.rejected_keys != ("after",):
                raise
            return await super().search(query.model_copy(update={"after": None}))


class _Scopes(Asks):
    """Compares scopes in a way of its own."""

    def is_met(self, record: MemoryRecord, query: RecordQuery) -> bool:
        return record.scope.contains(query.scope)

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"scope": {}, "limit": 10_000 if query.limit > 0 else query.limit})

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        return [hit for hit in hits if self.is_met(hit.record, query)][: query.limit]


@mutant("R-16g")
class ScopeByPrefix(_Scopes):
    """A value of a scope is met by every value that begins with it."""

    def is_met(self, record: MemoryRecord, query: RecordQuery) -> bool:
        return all(record.scope.get(key, "\x00").startswith(value) for key, value in query.scope.items())


@mutant("R-16g")
class ScopeByPattern(_Scopes):
    """A per cent sign or a low line in a scope stands for anything."""

    def is_met(self, record: MemoryRecord, query: RecordQuery) -> bool:
        patterns = {key: re.escape(value).replace("%", ".*").replace("_", ".") for key, value in query.scope.items()}
        return all(re.fullmatch(pattern, record.scope.get(key, "\x00")) for key, pattern in patterns.items())


@mutant("R-16g")
class ScopeInAnyCase(_Scopes):
    """Upper and lower case are the same in a scope."""

    def is_met(self, record: MemoryRecord, query: RecordQuery) -> bool:
        folded = {key.casefold(): value.casefold() for key, value in record.scope.items()}
        return all(folded.get(key.casefold()) == value.casefold() for key, value in query.scope.items())


@mutant("R-16h")
class TheWholeScope(_Scopes):
    """A scope is met by its equal alone."""

    def is_met(self, record: MemoryRecord, query: RecordQuery) -> bool:
        return not query.scope or record.scope == query.scope


@mutant("R-16i")
class LimitBeforeFilter(Asks):
    """The best hundred of a user are looked at, and those that meet the other conditions are given."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        update = {"kinds": _KINDS, "tags": (), "tiers": None, "include_invalidated": True, "limit": 100}
        return query if query.as_of or query.limit <= 0 else query.model_copy(update=update)

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        kinds = _KINDS[:4] if query.kinds is None else query.kinds
        match = all if query.match_tags == "all" else any
        return [
            hit
            for hit in hits
            if hit.record.kind in kinds
            and (query.include_invalidated or query.as_of or hit.record.invalid_at is None)
            and (query.tiers is None or hit.record.tier in query.tiers)
            and (not query.tags or match(tag in hit.record.tags for tag in query.tags))
        ][: max(0, query.limit)]


@mutant("R-16j")
class OldestRecordsFirst(Asks):
    """Without text, the oldest of the newest come first."""

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        return hits if query.text else hits[::-1]


@mutant("R-16k")
class ZeroIsTwenty(Asks):
    """A limit of zero is taken for none."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"limit": query.limit or 20})


@mutant("R-16l")
class AnyModeWillDo(Asks):
    """A mode that is not offered is answered by words."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"mode": "auto"})


@mutant("R-16m")
class OneFaultAtATime(Records):
    """Of several faults of a query only the first is told."""

    async def search(self, query: RecordQuery) -> list[MemoryHit]:
        try:
            return await super().search(query)
        except UnsupportedMemoryQuery as error:
            raise UnsupportedMemoryQuery(error.rejected_keys[:1]) from error


class _Indexes(Records):
    """Has an index of its own making."""

    def _entry(self, row: RecordRow, source: CallersPart) -> Any:
        return super()._entry(row, source.model_copy(update=self.indexed(source)))

    def indexed(self, source: CallersPart) -> dict[str, Any]:
        return {}


@mutant("R-16n")
class IgnoresContext(_Indexes):
    """What was said before does not help to find a record."""

    def indexed(self, source: CallersPart) -> dict[str, Any]:
        return {"context": None}


@mutant("R-16n")
class ContextFirst(Records):
    """The context counts more than the content."""

    def clear(self) -> None:
        super().clear()
        self._index = Index((0.3, 0.5, 3.0))


@mutant("R-16o")
class WeighsThemEqually(Records):
    """Content, tags and context count the same."""

    def clear(self) -> None:
        super().clear()
        self._index = Index((1.0, 1.0, 1.0))


@mutant("R-16p")
class CountsTheWordsOfOthers(_Scopes):
    """How rare a word is, is counted over all that is stored."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return super().ask(query).model_copy(update={"kinds": _KINDS if query.kinds is None else query.kinds})

    def is_met(self, record: MemoryRecord, query: RecordQuery) -> bool:
        return super().is_met(record, query) and record.kind in (query.kinds or _KINDS[:4])


@mutant("R-16q")
class FindsThreeHundred(Asks):
    """No more than 300 records are ever found."""

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        return hits[:300]


@mutant("R-16r")
class AStarIsEverything(Asks):
    """A text with a star in it finds everything."""

    def ask(self, query: RecordQuery) -> RecordQuery:
        return query.model_copy(update={"text": None}) if "*" in (query.text or "") else query


@mutant("R-16s")
class ShortForms(Asks):
    """A hit holds the record without its payload."""

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        return [MemoryHit(record=hit.record.model_copy(update={"payload": None}), score=hit.score) for hit in hits]


@harmless
class AnotherScale(Asks):
    """Scores are a hundred times as great."""

    def answer(self, query: RecordQuery, hits: list[MemoryHit]) -> list[MemoryHit]:
        return [MemoryHit(record=hit.record, score=None if hit.score is None else 100 * hit.score) for hit in hits]


@harmless
class CorrectRecords(Records):
    """The records of `memory://` as they are."""
