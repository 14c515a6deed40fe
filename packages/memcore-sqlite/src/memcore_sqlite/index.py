# ruff: noqa: S608 - the SQL is put together from the names of a `Table`, all of them constants; every value is bound
"""A table with its word index and its term index, and what keeps the three in step; for items and for records.

What is stored is the exact payload. Everything else is derived from it, so that it can be found, and can be derived
again at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from memcore.errors import MalformedMemoryPayload
from memcore.kit.text import ANALYSIS_VERSION

from memcore_sqlite.schema import MIXED, analysis_version, set_analysis_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memcore_sqlite.session import Session

Columns = tuple[Any, ...]
"""What something is decoded from: `created_at` and id first, so that they compare as listings are ordered."""
Term = tuple[bytes, float, int]
"""One entry of a term index: the term, `created_at` and `seq` of a row that has it."""


class Derived(NamedTuple):
    """What something is found by: of each field the words, joined by blanks, and the terms."""

    fields: tuple[str, ...]
    terms: set[bytes]


class Entry(NamedTuple):
    """Something as it is written."""

    columns: Columns
    derived: Derived

    @property
    def key(self) -> bytes:
        """The id."""
        key: bytes = self.columns[1]
        return key


class Row(NamedTuple):
    """Something as its table has it."""

    seq: int
    number: int
    """The namespace."""
    fields: tuple[str, ...]
    columns: Columns

    @property
    def created_at(self) -> float:
        """In the unit of its table."""
        created_at: float = self.columns[0]
        return created_at

    @property
    def key(self) -> bytes:
        """The id."""
        key: bytes = self.columns[1]
        return key


@dataclass(frozen=True)
class Table:
    """The names of a table and of its indexes, and how its rows are derived."""

    noun: str
    """What a row is called; the names are made of it."""
    columns: tuple[str, ...]
    """What a row is decoded from."""
    fields: tuple[str, ...]
    """The indexed columns: those of words, and then those that only narrow a search."""
    weights: tuple[float, ...]
    """What a word counts in each column of words."""
    ticks: int
    """Of `created_at`, in a second."""
    derive: Callable[[Columns, str], Derived]
    """Derives a row of a namespace; raises `MalformedMemoryPayload` if it is damaged. Likewise `terms_of`."""
    terms_of: Callable[[Columns, str], set[bytes]]

    @cached_property
    def name(self) -> str:
        """The table."""
        return f"{self.noun}s"

    @cached_property
    def words(self) -> str:
        """The word index."""
        return f"{self.noun}_words"

    @cached_property
    def terms(self) -> str:
        """The term index."""
        return f"{self.noun}_terms"

    @cached_property
    def select_columns(self) -> str:
        """The columns of a row `i`."""
        return ", ".join(f"i.{column}" for column in self.columns)

    @cached_property
    def select_row(self) -> str:
        """Read whole rows `i`; see `row`."""
        fields = ", ".join(f"i.{field}" for field in self.fields)
        return f"SELECT i.seq, i.namespace, {fields}, {self.select_columns} FROM {self.name} i"

    def row(self, values: Columns) -> Row:
        """Return what `select_row` read."""
        end = 2 + len(self.fields)
        return Row(values[0], values[1], values[2:end], values[end:])

    @cached_property
    def insert_row(self) -> str:
        """Write a row."""
        names = ("seq", "namespace", *self.fields, *self.columns)
        # No "OR REPLACE": it takes a savepoint, at which FTS5 writes out what it has gathered; three times as slow in a
        # group.
        return f"INSERT INTO {self.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"

    @cached_property
    def add_words(self) -> str:
        """Index the words of a row."""
        names = ("rowid", *self.fields, "namespace")
        return f"INSERT INTO {self.words} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"

    @cached_property
    def remove_words(self) -> str:
        """Take the words of a row out of the index."""
        names = (self.words, "rowid", *self.fields, "namespace")
        return f"INSERT INTO {self.words} ({', '.join(names)}) VALUES ('delete'{', ?' * (len(names) - 1)})"


def put(session: Session, table: Table, entries: Iterable[Entry]) -> None:
    """Create or replace rows, each id once, with everything derived from them (I-42).

    Raises:
        MalformedMemoryPayload: something foreign in the file keeps them from being written.
    """
    if abs(analysis_version(session)) not in (ANALYSIS_VERSION, MIXED):  # its searches would miss our words, ours its
        set_analysis_version(session, MIXED)
    rows: list[Row] = []
    terms: list[Term] = []
    unused = count(session.execute(f"SELECT coalesce(max(seq), 0) + 1 FROM {table.name}").fetchone()[0])
    for entry in entries:
        old = find(session, table, entry.key)
        if old is not None:
            erase(session, table, old)
        row = Row(next(unused) if old is None else old.seq, session.number, entry.derived.fields, entry.columns)
        rows.append(row)
        terms += [(term, row.created_at, row.seq) for term in entry.derived.terms]
    values = [(row.seq, row.number, *row.fields, *row.columns) for row in rows]
    if session.executemany(table.insert_row, values).rowcount != len(rows):
        raise MalformedMemoryPayload(f"{session.path}: a foreign trigger keeps {table.name} from being written")
    add_words(session, table, rows)
    add_terms(session, table, terms)


def find(session: Session, table: Table, key: bytes) -> Row | None:
    """Return the stored row of an id."""
    found = session.execute(f"{table.select_row} WHERE i.namespace = ? AND i.id = ?", (session.number, key)).fetchone()
    return None if found is None else table.row(found)


def erase(session: Session, table: Table, row: Row) -> None:
    """Erase a row of this namespace with everything derived from it (I-81, R-14)."""
    remove_words(session, table, row)
    remove_terms(session, table, stored_terms(session, table, row))
    session.execute(f"DELETE FROM {table.name} WHERE seq = ?", (row.seq,))


def note_erasure(session: Session) -> None:
    """Remember in the file that bytes of what was erased may linger there: see `maintenance.forget_erased` (R-14)."""
    session.execute("INSERT INTO meta VALUES ('erased', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1")


def erase_all(session: Session, table: Table) -> None:
    """Erase every row of the namespace (B-02)."""
    for (key,) in session.execute(f"SELECT id FROM {table.name} WHERE namespace = ?", (session.number,)).fetchall():
        row = find(session, table, key)
        if row is not None:
            erase(session, table, row)


def add_words(session: Session, table: Table, rows: Iterable[Row]) -> None:
    """Index the words of rows."""
    session.executemany(table.add_words, map(_words_of, rows))


def remove_words(session: Session, table: Table, row: Row) -> None:
    """Take exactly those words out of the index that were put in."""
    session.execute(table.remove_words, _words_of(row))


def add_terms(session: Session, table: Table, terms: Iterable[Term]) -> None:
    """Index terms."""
    session.executemany(f"INSERT OR IGNORE INTO {table.terms} VALUES (?, ?, ?)", terms)


def remove_terms(session: Session, table: Table, terms: Iterable[Term]) -> None:
    """Take terms out of the index."""
    session.executemany(f"DELETE FROM {table.terms} WHERE term = ? AND created_at = ? AND seq = ?", terms)


def stored_terms(session: Session, table: Table, row: Row) -> list[Term]:
    """Return the terms of a row of this namespace; if it is damaged, by looking through all, as nothing leads there."""
    try:
        terms = table.terms_of(row.columns, session.namespace)
    except MalformedMemoryPayload:
        looked_through = f"SELECT term, created_at, seq FROM {table.terms} WHERE seq = ?"
        return session.execute(looked_through, (row.seq,)).fetchall()
    return [(term, row.created_at, row.seq) for term in terms]


def _words_of(row: Row) -> tuple[object, ...]:
    return (row.seq, *row.fields, row.number)
