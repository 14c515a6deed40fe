# ruff: noqa: S608 - the SQL is put together from the names of a `Table`, all of them constants; every value is bound
"""Upkeep of the derived indexes and of the file: reindex, check and purge (the `maintenance` extension).

The whole file is looked after, every namespace in it. Items and records are gone through in batches, each a transaction
of its own, so that other tasks and processes read and write in between; what was interrupted can simply be run again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from uuid import UUID

from memcore.backend import CheckReport
from memcore.errors import MalformedMemoryPayload, MemoryAdapterUnavailable
from memcore.kit.text import ANALYSIS_VERSION

from memcore_sqlite.database import commit_together, fold_log
from memcore_sqlite.index import add_terms, add_words, remove_terms, remove_words
from memcore_sqlite.items import ITEMS
from memcore_sqlite.record_table import RECORDS
from memcore_sqlite.schema import analysis_version, set_analysis_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore_sqlite.database import Database, Job
    from memcore_sqlite.index import Row, Table, Term
    from memcore_sqlite.session import Session

    Progress = Callable[[int, int], None]

T = TypeVar("T")
_ERASURES: Final = "SELECT value FROM meta WHERE key = 'erased'"
_BATCH: Final = 200
_TERMS_BATCH: Final = 1_000
_LOG_PAUSE: Final = 0.05
_REBUILDING: Final = -ANALYSIS_VERSION
"""Stands for the analysis of an index that is being rebuilt, unless another analysis writes into it meanwhile."""

_TABLES: Final = (ITEMS, RECORDS)


async def reindex(database: Database, *, progress: Progress | None = None) -> int:
    """Bring everything derived to what this version derives from the payloads; return how many rows were gone through.

    An index that another version's analysis made is not searched for text meanwhile: every process refuses to.
    """
    return (await check(database, repair=True, progress=progress)).checked


async def check(database: Database, *, repair: bool, progress: Progress | None = None) -> CheckReport:
    """Compare everything derived with a fresh derivation, and put right what differs if `repair`."""
    submit: Callable[[Job[Any]], asyncio.Future[Any]]
    submit = database.write if repair else partial(database.read, long=True)
    faults: list[str] = await submit(partial(_begin, repair=repair))
    for table in _TABLES:
        faults += await database.write(partial(_verify_words, table=table, repair=repair))  # FTS5 takes it for a write
    total = await submit(_count_all)
    done = _Batch()
    for table in _TABLES:
        checked = await _check_table(submit, table, before=done, total=total, repair=repair, progress=progress)
        done = done.followed_by(checked)
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
    erasures = await database.write(_rewrite_words)
    await database.maintain(_vacuum)
    await database.write(partial(_note_rewritten, erasures=erasures))
    deadline = time.monotonic() + database.patience
    while not await database.maintain(fold_log):
        if time.monotonic() >= deadline:
            raise MemoryAdapterUnavailable("another process is reading, so that the log still holds erased bytes")
        await asyncio.sleep(_LOG_PAUSE)


def forget_erased(session: Session) -> None:
    """Rewrite word indexes and file without erased records, if any were erased since this was last done (R-14).

    FTS5 only marks as gone, and SQLite leaves copies where it moved rows to another page.
    """
    if session.path is not None and session.execute(_ERASURES).fetchone():
        erasures = _commit(session, _rewrite_words)
        _vacuum(session)
        _commit(session, partial(_note_rewritten, erasures=erasures))


@dataclass(frozen=True, slots=True)
class _Batch:
    """What checking some rows found, up to the row `last`."""

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


async def _check_table(
    submit: Callable[[Job[Any]], asyncio.Future[Any]],
    table: Table,
    *,
    before: _Batch,
    total: int,
    repair: bool,
    progress: Progress | None,
) -> _Batch:
    done = _Batch()
    while batch := await submit(partial(_check_rows, table=table, after=done.last, repair=repair)):
        done = done.followed_by(batch)
        if progress is not None:
            checked = before.checked + done.checked
            progress(checked, max(checked, total))
    if await submit(partial(_count, name=table.terms)) != done.terms:  # some lead nowhere, or others wrote meanwhile
        done = replace(done, faults=done.faults + await _check_terms(submit, table, repair=repair))
    return done


def _verify_words(session: Session, *, table: Table, repair: bool) -> list[str]:
    """Compare the word index with the words beside the payloads; put right, it can be mended row by row."""
    try:
        session.execute(f"INSERT INTO {table.words} ({table.words}, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT_VTAB:
            raise
        if repair:
            session.execute(f"INSERT INTO {table.words} ({table.words}) VALUES ('rebuild')")
        return [f"the word index of {table.name} differs from the words that it should hold"]
    return []


def _check_rows(session: Session, *, table: Table, after: int, repair: bool) -> _Batch | None:
    is_current = analysis_version(session) == ANALYSIS_VERSION
    batch = None
    for row in session.execute(
        f"{table.select_row} WHERE i.seq > ? ORDER BY i.seq LIMIT ?", (after, _BATCH)
    ).fetchall():
        checked = _check_row(session, table, table.row(row), is_current=is_current, repair=repair)
        batch = (batch or _Batch()).followed_by(checked)
    return batch


def _check_row(session: Session, table: Table, row: Row, *, is_current: bool, repair: bool) -> _Batch:
    try:
        fresh = table.derive(row.columns, _namespace_of(session, row))
    except MalformedMemoryPayload as error:
        return _Batch(row.seq, checked=1, faults=(str(error),), damaged=True)
    faults = []
    if row.fields != fresh.fields:
        if is_current:
            faults.append(f"{table.noun} {UUID(bytes=row.key)}: its words differ")
        if repair:
            _replace_words(session, table, row, fresh.fields)
    expected = [(term, row.created_at, row.seq) for term in fresh.terms]
    missing = [term for term in expected if not _has_term(session, table, term)]
    if missing:
        faults.append(f"{table.noun} {UUID(bytes=row.key)}: {len(missing)} of its terms are missing")
        if repair:
            add_terms(session, table, missing)
            missing = []
    return _Batch(row.seq, checked=1, terms=len(expected) - len(missing), faults=tuple(faults))


def _replace_words(session: Session, table: Table, row: Row, fresh: tuple[str, ...]) -> None:
    remove_words(session, table, row)
    changes = ", ".join(f"{field} = ?" for field in table.fields)
    session.execute(f"UPDATE {table.name} SET {changes} WHERE seq = ?", (*fresh, row.seq))
    add_words(session, table, [row._replace(fields=fresh)])


def _has_term(session: Session, table: Table, term: Term) -> bool:
    has = f"SELECT 1 FROM {table.terms} WHERE term = ? AND created_at = ? AND seq = ?"
    return session.execute(has, term).fetchone() is not None


async def _check_terms(
    submit: Callable[[Job[Any]], asyncio.Future[Any]], table: Table, *, repair: bool
) -> tuple[str, ...]:
    """Look for terms that lead to no row, or to one that does not have them."""
    strays = 0
    after: Term | None = (b"", 0, 0)
    while after:
        found, after = await submit(partial(_check_some_terms, table=table, after=after, repair=repair))
        strays += found
    return (f"{strays} terms lead to no {table.noun} that has them",) if strays else ()


def _check_some_terms(session: Session, *, table: Table, after: Term, repair: bool) -> tuple[int, Term | None]:
    behind = "(term, created_at, seq) > (?, ?, ?) ORDER BY term, created_at, seq LIMIT ?"
    some = f"SELECT term, created_at, seq FROM {table.terms} WHERE {behind}"
    rows: list[Term] = session.execute(some, (*after, _TERMS_BATCH)).fetchall()
    known = dict(filter(None, (_terms_of(session, table, seq) for seq in {row[2] for row in rows})))
    strays = [row for row in rows if row not in known.get(row[2], {row})]
    if repair:
        remove_terms(session, table, strays)
    return len(strays), rows[-1] if rows else None


def _terms_of(session: Session, table: Table, seq: int) -> tuple[int, set[Term]] | None:
    """Return the terms that should lead to a row; nobody knows if it is damaged."""
    found = session.execute(f"{table.select_row} WHERE i.seq = ?", (seq,)).fetchone()
    if found is None:
        return seq, set()
    row = table.row(found)
    try:
        terms = table.terms_of(row.columns, _namespace_of(session, row))
    except MalformedMemoryPayload:
        return None
    return seq, {(term, row.created_at, seq) for term in terms}


def _namespace_of(session: Session, row: Row) -> str:
    ((name,),) = session.execute("SELECT name FROM namespaces WHERE number = ?", (row.number,))
    return str(name)


def _count_all(session: Session) -> int:
    return sum(_count(session, name=table.name) for table in _TABLES)


def _count(session: Session, *, name: str) -> int:
    return int(session.execute(f"SELECT count(*) FROM {name}").fetchone()[0])


def _rewrite_words(session: Session) -> int:
    """Make each word index one segment, and return how many erasures had been noted by then."""
    for table in _TABLES:
        session.execute(f"INSERT INTO {table.words} ({table.words}) VALUES ('optimize')")
    noted = session.execute(_ERASURES).fetchone()
    return noted[0] if noted else 0


def _note_rewritten(session: Session, *, erasures: int) -> None:
    """Forget the erasures, unless there have been others meanwhile."""
    session.execute("DELETE FROM meta WHERE key = 'erased' AND value = ?", (erasures,))


def _commit(session: Session, job: Job[T]) -> T:
    ((result, error),) = commit_together(session, [job])
    if error is not None:
        raise error
    return cast("T", result)


def _vacuum(session: Session) -> None:
    session.insist(partial(session.execute, "VACUUM"))
