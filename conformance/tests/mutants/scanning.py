"""Scans that lose their place, and counts that are wrong."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import UUID

from memcore import Page, UnsupportedMemoryQuery
from memcore.kit.query import check_page_limit, decode_cursor, encode_cursor

from mutants import Items, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore import MemoryItem

EVERYTHING = 1 << 30


@mutant("I-82c")
class PagesByNumber(Items):
    """A cursor is how many items came before."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        size = check_page_limit(limit)
        start = 0 if after is None else decode_cursor(self._namespace, after).int
        every = (await super().scan(limit=EVERYTHING)).items
        end = start + size
        return Page(every[start:end], encode_cursor(self._namespace, UUID(int=end)) if end < len(every) else None)


@mutant("I-82d")
class SignedIds(Items):
    """The upper half of the ids is negative."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        size = check_page_limit(limit)
        start = None if after is None else decode_cursor(self._namespace, after)
        every = sorted((await super().scan(limit=EVERYTHING)).items, key=lambda item: self.signed(item.id))
        rest = [item for item in every if start is None or self.signed(item.id) > self.signed(start)]
        return Page(rest[:size], encode_cursor(self._namespace, rest[size - 1].id) if len(rest) > size else None)

    def signed(self, item_id: UUID) -> int:
        return item_id.int ^ (1 << 127)


@mutant("I-82e")
class LooksForItsItem(Items):
    """A cursor is worth nothing without the item that it names."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        if after is not None and await self.retrieve(decode_cursor(self._namespace, after)) is None:
            return Page([], None)
        return await super().scan(after=after, limit=limit)


@mutant("I-82f")
class TakesAnyBytes(Items):
    """Any 16 bytes are a cursor."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        cursor = after
        with suppress(ValueError, AttributeError):
            cursor = encode_cursor(self._namespace, UUID(bytes=base64.urlsafe_b64decode(after.encode() + b"=")[:16]))  # type: ignore[union-attr]
        return await super().scan(after=cursor, limit=limit)


@mutant("I-82g")
class OneCursorForAll(Items):
    """A cursor of one namespace leads into another."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        for namespace in ("one", "two"):
            with suppress(UnsupportedMemoryQuery):
                return await super().scan(
                    after=after and encode_cursor(self._namespace, decode_cursor(namespace, after)), limit=limit
                )
        return await super().scan(after=after, limit=limit)


@mutant("I-82h")
class ScansWithoutTags(Items):
    """Pages hold items without their tags."""

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        page = await super().scan(after=after, limit=limit)
        return Page([item.model_copy(update={"tags": []}) for item in page.items], page.next)


@mutant("I-82i")
class CountsWrites(Items):
    """What is stored twice in one batch counts twice."""

    extra = 0

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        stored = await super().store_many(items)
        self.extra = len(stored) - len(set(stored))
        return stored

    async def count(self) -> int:
        return await super().count() + self.extra
