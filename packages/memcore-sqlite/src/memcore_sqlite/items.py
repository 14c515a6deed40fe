"""The items contract over one SQLite file."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from uuid import UUID

from memcore.errors import MalformedMemoryPayload
from memcore.items.manifest import ITEM_FIELDS, MemoryAdapterManifest
from memcore.items.payload import decode_item, encode_item, encode_items
from memcore.items.store import Page
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
from memcore.kit.text import ANALYSIS_VERSION, analyse_query

from memcore_sqlite.index import Derived, Row, add_terms, add_words, derive, remove_terms_of, remove_words
from memcore_sqlite.schema import MIXED, analysis_version, set_analysis_version
from memcore_sqlite.search import Conditions, best, matching, newest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memcore.items.model import MemoryItem, MemoryQuery
    from memcore.items.payload import EncodedItem, SizeLimits
    from memcore.kit.lifecycle import Lifecycle

    from memcore_sqlite.database import Database, Job
    from memcore_sqlite.index import Term
    from memcore_sqlite.session import Session

T = TypeVar("T")

_FIND: Final = (
    "SELECT seq, namespace, id, created_at, payload, words, tag_words FROM items WHERE namespace = ? AND id = ?"
)
_GET: Final = "SELECT created_at, payload FROM items WHERE namespace = ? AND id = ?"
# No "OR REPLACE": it takes a savepoint, at which FTS5 writes out what it has gathered; three times as slow in a group.
_INSERT: Final = (
    "INSERT INTO items (seq, namespace, id, created_at, payload, words, tag_words) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_NEXT_SEQ: Final = "SELECT coalesce(max(seq), 0) + 1 FROM items"
_DELETE: Final = "DELETE FROM items WHERE seq = ?"
_PAGE: Final = "SELECT id, created_at, payload FROM items WHERE namespace = ? AND id > ? ORDER BY id LIMIT ?"
_COUNT: Final = "SELECT count(*) FROM items WHERE namespace = ?"
_ALL_IDS: Final = "SELECT id FROM items WHERE namespace = ?"
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
        self._manifest = MemoryAdapterManifest(
            adapter="sqlite",
            native_item_fields=ITEM_FIELDS,
            dropped_item_fields=frozenset(),
            supported_filters=frozenset(),
            open_filters=True,
            search_consistency="immediate",
            retrieve_fidelity="full",
            search_fidelity="full",
            search_returns_tags=True,
            preserves_metadata=True,
        )

    @property
    def manifest(self) -> MemoryAdapterManifest:
        """Nothing is lost, and any metadata key may be filtered."""
        self._lifecycle.require_open("the manifest")
        return self._manifest

    async def store(self, item: MemoryItem) -> UUID:
        """Create or replace the item by its id, in a commit that it may share with others (I-42)."""
        entry = self._entry(encode_item(item, self._limits))
        await self._put([entry])
        return entry.id

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
        conditions = Conditions.of(checked, self._namespace)
        if words:
            return await self._read(partial(best, words=words, conditions=conditions, limit=checked.limit), long=True)
        return await self._read(partial(newest, conditions=conditions, limit=checked.limit))

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        """Store all items or none, in one commit (I-80)."""
        encoded = encode_items(items, self._limits)
        entries: dict[UUID, Entry] = {}
        for start in range(0, len(encoded), _SLICE):
            entries.update((item.id, self._entry(item)) for item in encoded[start : start + _SLICE])
            await asyncio.sleep(0)
        if entries:
            await self._put(list(entries.values()))
        return [item.id for item in encoded]

    async def delete(self, item_id: UUID) -> bool:
        """Erase the item and all that was derived from it; tell whether it was there (I-81)."""
        return await self.delete_many([item_id]) == 1

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        """Erase these items in one commit; return how many were there (I-81)."""
        keys = {item_id.bytes for item_id in check_ids(item_ids, most=self._limits.batch)}
        return await self._write(partial(erase, keys=keys)) if keys else 0

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        """Erase the items that match every filter, in one commit (I-81)."""
        checked = check_erasure(filters, self._manifest.supports_filter)
        return await self._write(partial(_erase_matching, conditions=Conditions.of_filters(checked, self._namespace)))

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
        return Entry(item.id, item.created_at, item.payload, derive(item, namespace=self._namespace))

    async def _put(self, entries: list[Entry]) -> None:
        await self._write(Put(entries))

    async def _read(self, job: Job[T], *, long: bool = False) -> T:
        if not self._lifecycle.ready():
            await self._lifecycle.open()
        return await self._database.read(job, long=long)

    async def _write(self, job: Job[T]) -> T:
        if not self._lifecycle.ready():
            await self._lifecycle.open()
        return await self._database.write(job)


class Entry(NamedTuple):
    """An item as it is written."""

    id: UUID
    created_at: float
    payload: str
    derived: Derived


@dataclass(frozen=True, slots=True)
class Put:
    """The job of writing items, each id once; neighbours in a group are written together."""

    entries: list[Entry]

    def __call__(self, session: Session, /) -> None:
        """Write them."""
        put(session, self.entries)

    @staticmethod
    def join(jobs: Sequence[Put], /) -> Put:
        """Return one job for all; of one id, the last write wins."""
        return Put(list({entry.id: entry for job in jobs for entry in job.entries}.values()))


def put(session: Session, entries: Iterable[Entry]) -> None:
    """Create or replace items, each id once, with everything derived from them (I-42)."""
    if abs(analysis_version(session)) not in (ANALYSIS_VERSION, MIXED):  # its searches would miss our words, ours its
        set_analysis_version(session, MIXED)
    rows: list[Row] = []
    terms: list[Term] = []
    unused = count(session.execute(_NEXT_SEQ).fetchone()[0])
    for item_id, created_at, payload, derived in entries:
        old = find(session, item_id.bytes)
        if old is not None:
            _erase(session, old)
        seq = next(unused) if old is None else old.seq
        rows.append(Row(seq, session.number, item_id.bytes, created_at, payload, derived.words, derived.tag_words))
        terms += [(term, created_at, seq) for term in derived.terms]
    if session.executemany(_INSERT, rows).rowcount != len(rows):
        raise MalformedMemoryPayload(f"{session.path}: a foreign trigger keeps items from being written")
    add_words(session, rows)
    add_terms(session, terms)


def erase(session: Session, keys: Iterable[bytes]) -> int:
    """Erase items with everything derived from them; return how many were there (I-81)."""
    erased = 0
    for key in keys:
        row = find(session, key)
        if row is not None:
            _erase(session, row)
            erased += 1
    return erased


def erase_all(session: Session) -> int:
    """Erase every item of the namespace (B-02)."""
    return erase(session, [key for (key,) in session.execute(_ALL_IDS, (session.number,))])


def find(session: Session, key: bytes) -> Row | None:
    """Return the stored row of an id."""
    row = session.execute(_FIND, (session.number, key)).fetchone()
    return None if row is None else Row._make(row)


def _erase(session: Session, row: Row) -> None:
    remove_words(session, row)
    remove_terms_of(session, row, namespace=session.namespace)
    session.execute(_DELETE, (row.seq,))


def _get(session: Session, item_id: UUID) -> MemoryItem | None:
    row = session.execute(_GET, (session.number, item_id.bytes)).fetchone()
    return None if row is None else decode_item(item_id, *row)


def _erase_matching(session: Session, conditions: Conditions) -> int:
    return erase(session, [key for _, key, _ in matching(session, conditions, LARGEST_LIMIT)])


def _page(session: Session, after: bytes, size: int) -> list[MemoryItem]:
    rows = session.execute(_PAGE, (session.number, after, size))
    return [decode_item(UUID(bytes=key), created_at, payload) for key, created_at, payload in rows]


def _count(session: Session) -> int:
    ((count,),) = session.execute(_COUNT, (session.number,))
    return int(count)
