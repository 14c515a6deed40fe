"""Upkeep of the derived indexes and of the file: reindex, check and purge (the `maintenance` extension).

The whole file is looked after, every namespace in it. Items are gone through in batches, each a transaction of its own,
so that other tasks and processes read and write in between; what was interrupted can simply be run again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from memcore.backend import CheckReport
from memcore.errors import MalformedMemoryPayload, MemoryAdapterUnavailable
from memcore.kit.text import ANALYSIS_VERSION

from memcore_sqlite.database import fold_log
from memcore_sqlite.index import Row, add_terms, add_words, derive, remove_terms, remove_words
from memcore_sqlite.schema import analysis_version, set_analysis_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore_sqlite.database import Database, Job
    from memcore_sqlite.index import Derived, Term
    from memcore_sqlite.session import Session

    Progress = Callable[[int, int], None]

_BATCH: Final = 200
_TERMS_BATCH: Final = 1_000
_LOG_PAUSE: Final = 0.05
_REBUILDING: Final = -ANALYSIS_VERSION
"""Stands for the analysis of an index that is being rebuilt, unless another analysis writes into it meanwhile."""

_COUNT_ITEMS: Final = "SELECT count(*) FROM items"
_NAMED_ROW: Final = (
    "SELECT i.seq, i.namespace, i.id, i.created_at, i.payload, i.words, i.tag_words, n.name"
    " FROM items i JOIN namespaces n ON n.number = i.namespace"
)
_ROWS: Final = f"{_NAMED_ROW} WHERE i.seq > ? ORDER BY i.seq LIMIT ?"
_ROW: Final = f"{_NAMED_ROW} WHERE i.seq = ?"
_SET_WORDS: Final = "UPDATE items SET words = ?, tag_words = ? WHERE seq = ?"
_HAS_TERM: Final = "SELECT 1 FROM item_terms WHERE term = ? AND created_at = ? AND seq = ?"
_TERMS: Final = (
    "SELECT term, created_at, seq FROM item_terms WHERE (term, created_at, seq) > (?, ?, ?)"
    " ORDER BY term, created_at, seq LIMIT ?"
)
_COUNT_TERMS: Final = "SELECT count(*) FROM item_terms"
_VERIFY_WORDS: Final = "INSERT INTO item_words (item_words, rank) VALUES ('integrity-check', 1)"
_REBUILD_WORDS: Final = "INSERT INTO item_words (item_words) VALUES ('rebuild')"
_OPTIMIZE_WORDS: Final = "INSERT INTO item_words (item_words) VALUES ('optimize')"


async def reindex(database: Database, *, progress: Progress | None = None) -> int:
    """Bring everything derived to what this version derives from the payloads; return how many items were gone through.

    An index that another version's analysis made is not searched for text meanwhile: every process refuses to.
    """
    return (await check(database, repair=True, progress=progress)).checked


async def check(database: Database, *, repair: bool, progress: Progress | None = None) -> CheckReport:
    """Compare everything derived with a fresh derivation, and put right what differs if `repair`."""
    submit: Callable[[Job[Any]], asyncio.Future[Any]]
    submit = database.write if repair else partial(database.read, long=True)
    faults: list[str] = await submit(partial(_begin, repair=repair))
    faults += await database.write(partial(_verify_words, repair=repair))  # FTS5 takes the question for a write
    total = await submit(partial(_count, what=_COUNT_ITEMS))
    done = _Batch()
    while batch := await submit(partial(_check_items, after=done.last, repair=repair)):
        done = done.followed_by(batch)
        if progress is not None:
            progress(done.checked, max(done.checked, total))
    if await submit(partial(_count, what=_COUNT_TERMS)) != done.terms:  # some lead nowhere, or others wrote meanwhile
        faults += await _check_terms(submit, repair=repair)
    if repair and not await submit(_end):
        return await check(database, repair=repair, progress=progress)
    faults += done.faults
    return CheckReport(
        checked=done.checked, faults=tuple(faults), repaired=repair and bool(faults) and not done.damaged
    )


async def purge(database: Database) -> None:
    """Rewrite the word index and the file without what was erased, and empty the log.

    Needs free space for a second copy of the file; other writers wait meanwhile.

    Raises:
        MemoryAdapterUnavailable: another process goes on reading, so that the log cannot be emptied.
    """
    await database.write(partial(_execute, statement=_OPTIMIZE_WORDS))
    await database.maintain(_vacuum)
    deadline = time.monotonic() + database.patience
    while not await database.maintain(fold_log):
        if time.monotonic() >= deadline:
            raise MemoryAdapterUnavailable("another process is reading, so that the log still holds erased bytes")
        await asyncio.sleep(_LOG_PAUSE)


@dataclass(frozen=True, slots=True)
class _Batch:
    """What checking some items found, up to the item `last`."""

    last: int = 0
    checked: int = 0
    terms: int = 0
    faults: tuple[str, ...] = ()
    damaged: bool = False

    def followed_by(self, other: _Batch) -> _Batch:
        return _Batch(
            last=other.last,
            checked=self.checked + other.checked,
            terms=self.terms + other.terms,
            faults=self.faults + other.faults,
            damaged=self.damaged or other.damaged,
        )


def _begin(session: Session, *, repair: bool) -> list[str]:
    version = analysis_version(session)
    if version == ANALYSIS_VERSION:
        return []
    if repair:
        set_analysis_version(session, _REBUILDING)
    return ["the words were made by another version's analysis"]


def _end(session: Session) -> bool:
    """Declare the index whole; not if another version's analysis wrote into it since `_begin`."""
    if analysis_version(session) == _REBUILDING:
        set_analysis_version(session, ANALYSIS_VERSION)
    return analysis_version(session) == ANALYSIS_VERSION


def _verify_words(session: Session, *, repair: bool) -> list[str]:
    """Compare the word index with the words beside the payloads; put right, it can be mended item by item."""
    try:
        session.execute(_VERIFY_WORDS)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT_VTAB:
            raise
        if repair:
            session.execute(_REBUILD_WORDS)
        return ["the word index differs from the words that it should hold"]
    return []


def _check_items(session: Session, *, after: int, repair: bool) -> _Batch | None:
    is_current = analysis_version(session) == ANALYSIS_VERSION
    batch = None
    for *columns, namespace in session.execute(_ROWS, (after, _BATCH)).fetchall():
        batch = (batch or _Batch()).followed_by(
            _check_item(session, Row._make(columns), namespace=namespace, is_current=is_current, repair=repair)
        )
    return batch


def _check_item(session: Session, row: Row, *, namespace: str, is_current: bool, repair: bool) -> _Batch:
    try:
        fresh = derive(row.decode(), namespace=namespace)
    except MalformedMemoryPayload as error:
        return _Batch(row.seq, checked=1, faults=(str(error),), damaged=True)
    faults = []
    if (row.words, row.tag_words) != (fresh.words, fresh.tag_words):
        if is_current:
            faults.append(f"item {UUID(bytes=row.id)}: its words differ")
        if repair:
            _replace_words(session, row, fresh)
    expected = [(term, row.created_at, row.seq) for term in fresh.terms]
    missing = [term for term in expected if session.execute(_HAS_TERM, term).fetchone() is None]
    if missing:
        faults.append(f"item {UUID(bytes=row.id)}: {len(missing)} of its terms are missing")
        if repair:
            add_terms(session, missing)
    return _Batch(row.seq, checked=1, terms=len(fresh.terms), faults=tuple(faults))


def _replace_words(session: Session, row: Row, fresh: Derived) -> None:
    remove_words(session, row)
    session.execute(_SET_WORDS, (fresh.words, fresh.tag_words, row.seq))
    add_words(session, [row._replace(words=fresh.words, tag_words=fresh.tag_words)])


async def _check_terms(submit: Callable[[Job[Any]], asyncio.Future[Any]], *, repair: bool) -> list[str]:
    """Look for terms that lead to no item, or to an item that does not have them."""
    strays = 0
    after: Term | None = (b"", 0.0, 0)
    while after:
        found, after = await submit(partial(_check_some_terms, after=after, repair=repair))
        strays += found
    return [f"{strays} terms lead to no item that has them"] if strays else []


def _check_some_terms(session: Session, *, after: Term, repair: bool) -> tuple[int, Term | None]:
    rows: list[Term] = session.execute(_TERMS, (*after, _TERMS_BATCH)).fetchall()
    known = dict(filter(None, (_terms_of(session, seq) for seq in {row[2] for row in rows})))
    strays = [row for row in rows if row not in known.get(row[2], {row})]
    if repair:
        remove_terms(session, strays)
    return len(strays), rows[-1] if rows else None


def _terms_of(session: Session, seq: int) -> tuple[int, set[Term]] | None:
    """Return the terms that should lead to an item; nobody knows if its payload is damaged."""
    found = session.execute(_ROW, (seq,)).fetchone()
    if found is None:
        return seq, set()
    *columns, namespace = found
    row = Row._make(columns)
    try:
        fresh = derive(row.decode(), namespace=namespace)
    except MalformedMemoryPayload:
        return None
    return seq, {(term, row.created_at, seq) for term in fresh.terms}


def _count(session: Session, *, what: str) -> int:
    return int(session.execute(what).fetchone()[0])


def _execute(session: Session, *, statement: str) -> None:
    session.execute(statement)


def _vacuum(session: Session) -> None:
    session.insist(partial(session.execute, "VACUUM"))
