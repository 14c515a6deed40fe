"""The items contract over one SQLite file."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from memcore.items.manifest import MemoryAdapterManifest
from memcore.items.payload import decode_item, encode_item, encode_items
from memcore.items.store import Page
from memcore.kit import exact_json
from memcore.kit.query import (
    LARGEST_LIMIT,
    check_erasure,
    check_id,
    check_ids,
    check_page_limit,
    check_query,
    decode_cursor,
    encode_cursor,
)
from memcore.kit.ranking import ITEM_WEIGHTS
from memcore.kit.terms import entry_term, index_terms, tag_term
from memcore.kit.text import analyse_item, analyse_query

from memcore_sqlite.index import Derived, Entry, Table, erase, find, put
from memcore_sqlite.search import Conditions, best, matching

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memcore.items.model import MemoryItem, MemoryQuery
    from memcore.items.payload import EncodedItem, SizeLimits
    from memcore.kit.lifecycle import Lifecycle
    from memcore.kit.query import CheckedQuery

    from memcore_sqlite.database import Database, Job
    from memcore_sqlite.index import Columns
    from memcore_sqlite.session import Session

T = TypeVar("T")

_GET: Final = "SELECT created_at, payload FROM items WHERE namespace = ? AND id = ?"
_PAGE: Final = "SELECT created_at, id, payload FROM items WHERE namespace = ? AND id > ? ORDER BY id LIMIT ?"
_COUNT: Final = "SELECT count(*) FROM items WHERE namespace = ?"
_LACKS: Final = "lacks(i.payload, ?)"
_SLICE: Final = 100
"""Items of a batch that are analysed at once: the event loop breathes between slices."""


class SqliteItems:
    """A `ManagedMemoryStore`: exact, indexed, and searched as the `analysed` profile says.

    Any number of tasks may call it at once. What is stored is visible to every later call of any process.
    """

    def __init__(self, database: Database, lifecycle: Lifecycle, limits: SizeLimits, *, namespace: str) -> None:
        self._database = database
        self._lifecycle = lifecycle
        self._limits = limits
        self._namespace = namespace
        self._manifest = MemoryAdapterManifest.lossless("sqlite")

    @property
    def manifest(self) -> MemoryAdapterManifest:
        """Nothing is lost, and any metadata key may be filtered."""
        self._lifecycle.require_open("the manifest")
        return self._manifest

    async def store(self, item: MemoryItem) -> UUID:
        """Create or replace the item by its id, in a commit that it may share with others (I-42)."""
        encoded = encode_item(item, self._limits)
        await self._write(Put([self._entry(encoded)]))
        return encoded.id

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Return the item, or `None` (I-50)."""
        return await self._read(partial(_get, item_id=check_id(item_id)))

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Return the best matches, all from one snapshot (I-66 to I-68)."""
        checked = check_query(query, self._manifest.supports_filter)
        words = analyse_query(checked.text)
        if checked.limit == 0 or (checked.text and not words):
            self._lifecycle.ready()
            return []
        conditions = _conditions(checked, self._namespace)
        if words:
            return await self._read(partial(_best, words=words, conditions=conditions, limit=checked.limit), long=True)
        return await self._read(partial(_newest, conditions=conditions, limit=checked.limit))

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        """Store all items or none, in one commit (I-80)."""
        encoded = encode_items(items, self._limits)
        entries: dict[bytes, Entry] = {}
        for start in range(0, len(encoded), _SLICE):
            entries.update((item.id.bytes, self._entry(item)) for item in encoded[start : start + _SLICE])
            await asyncio.sleep(0)
        if entries:
            await self._write(Put(list(entries.values())))
        return [item.id for item in encoded]

    async def delete(self, item_id: UUID) -> bool:
        """Erase the item and all that was derived from it; tell whether it was there (I-81)."""
        return await self.delete_many([item_id]) == 1

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        """Erase these items in one commit; return how many were there (I-81)."""
        keys = {item_id.bytes for item_id in check_ids(item_ids, most=self._limits.batch)}
        return await self._write(partial(_erase, keys=keys)) if keys else 0

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        """Erase the items that match every filter, in one commit (I-81)."""
        checked = check_erasure(filters, self._manifest.supports_filter)
        return await self._write(partial(_erase_matching, conditions=_conditions_of(checked, self._namespace)))

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        """Return the next page in order of id (I-82)."""
        size = check_page_limit(limit)
        start = b"" if after is None else decode_cursor(self._namespace, after).bytes
        items = await self._read(partial(_page, after=start, size=size + 1), long=True)
        more = len(items) > size
        return Page(items[:size], encode_cursor(self._namespace, items[size - 1].id) if more else None)

    async def count(self) -> int:
        """Return how many items there are (I-82)."""
        return await self._read(_count, long=True)

    def _entry(self, item: EncodedItem) -> Entry:
        columns = (item.created_at, item.id.bytes, item.payload)
        return Entry(columns, derive(item, namespace=self._namespace))

    async def _read(self, job: Job[T], *, long: bool = False) -> T:
        if not self._lifecycle.ready():
            await self._lifecycle.open()
        return await self._database.read(job, long=long)

    async def _write(self, job: Job[T]) -> T:
        if not self._lifecycle.ready():
            await self._lifecycle.open()
        return await self._database.write(job)


@dataclass(frozen=True, slots=True)
class Put:
    """The job of writing items, each id once; neighbours in a group are written together."""

    entries: list[Entry]

    def __call__(self, session: Session, /) -> None:
        """Write them."""
        put(session, ITEMS, self.entries)

    @staticmethod
    def join(jobs: Sequence[Put], /) -> Put:
        """Return one job for all; of one id, the last write wins."""
        return Put(list({entry.key: entry for job in jobs for entry in job.entries}.values()))


def derive(item: EncodedItem | MemoryItem, *, namespace: str) -> Derived:
    """Return what an item is found by."""
    words, tag_words = analyse_item(item.content, item.tags)
    return Derived((" ".join(words), " ".join(tag_words)), _terms(item, namespace))


def _terms(item: EncodedItem | MemoryItem, namespace: str) -> set[bytes]:
    return index_terms(namespace, tags=item.tags, metadata=item.metadata)


def _decode(columns: Columns) -> MemoryItem:
    created_at, key, payload = columns
    return decode_item(UUID(bytes=key), created_at, payload)


ITEMS: Final = Table(
    noun="item",
    columns=("created_at", "id", "payload"),
    fields=("words", "tag_words"),
    weights=ITEM_WEIGHTS,
    ticks=1,
    derive=lambda columns, namespace: derive(_decode(columns), namespace=namespace),
    terms_of=lambda columns, namespace: _terms(_decode(columns), namespace),
)
"""How items are kept."""


def _conditions(query: CheckedQuery, namespace: str) -> Conditions:
    """Return the conditions of a query: any of its tags, all of its filters (I-67)."""
    filters = _conditions_of(query.filters, namespace)
    tags = tuple(tag_term(namespace, tag) for tag in query.tags)
    return replace(filters, groups=(*filters.groups, tags)) if tags else filters


def _conditions_of(filters: Mapping[str, Any], namespace: str) -> Conditions:
    """Return the conditions of filters; null also stands for a missing key, which has no term."""
    return Conditions(
        groups=tuple((entry_term(namespace, key, value),) for key, value in filters.items() if value is not None),
        clauses=tuple((_LACKS, (exact_json.canonical(key),)) for key, value in filters.items() if value is None),
    )


def _get(session: Session, item_id: UUID) -> MemoryItem | None:
    row = session.execute(_GET, (session.number, item_id.bytes)).fetchone()
    return None if row is None else decode_item(item_id, *row)


def _best(session: Session, words: Sequence[str], conditions: Conditions, limit: int) -> list[MemoryItem]:
    return [_decode(columns) for columns, _score in best(session, ITEMS, words, conditions, limit)]


def _newest(session: Session, conditions: Conditions, limit: int) -> list[MemoryItem]:
    return list(map(_decode, matching(session, ITEMS, conditions, limit)))


def _erase(session: Session, keys: Iterable[bytes]) -> int:
    """Erase items; return how many were there (I-81)."""
    rows = [row for row in (find(session, ITEMS, key) for key in keys) if row is not None]
    for row in rows:
        erase(session, ITEMS, row)
    return len(rows)


def _erase_matching(session: Session, conditions: Conditions) -> int:
    return _erase(session, [key for _, key, _ in matching(session, ITEMS, conditions, LARGEST_LIMIT)])


def _page(session: Session, after: bytes, size: int) -> list[MemoryItem]:
    return list(map(_decode, session.execute(_PAGE, (session.number, after, size))))


def _count(session: Session) -> int:
    ((count,),) = session.execute(_COUNT, (session.number,))
    return int(count)
