"""What is derived from an item so that it can be found, and the statements that keep it in step with the item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from memcore.errors import MalformedMemoryPayload
from memcore.items.payload import decode_item
from memcore.kit.terms import index_terms
from memcore.kit.text import analyse_item

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memcore.items.model import MemoryItem
    from memcore.items.payload import EncodedItem

    from memcore_sqlite.session import Session

_ADD_WORDS: Final = "INSERT INTO item_words (rowid, words, tag_words, namespace) VALUES (?, ?, ?, ?)"
_REMOVE_WORDS: Final = (
    "INSERT INTO item_words (item_words, rowid, words, tag_words, namespace) VALUES ('delete', ?, ?, ?, ?)"
)
_ADD_TERM: Final = "INSERT OR IGNORE INTO item_terms VALUES (?, ?, ?)"
_REMOVE_TERM: Final = "DELETE FROM item_terms WHERE term = ? AND created_at = ? AND seq = ?"
_REMOVE_TERMS_OF: Final = "DELETE FROM item_terms WHERE seq = ?"  # reads them all: nothing else leads to them

Term = tuple[bytes, float, int]
"""One entry of the term index: the term, `created_at` and `seq` of an item that has it."""


class Row(NamedTuple):
    """A stored item as its table has it."""

    seq: int
    number: int
    id: bytes
    created_at: float
    payload: str
    words: str
    tag_words: str

    def decode(self) -> MemoryItem:
        """Return the item.

        Raises:
            MalformedMemoryPayload: the payload is damaged.
        """
        return decode_item(UUID(bytes=self.id), self.created_at, self.payload)


class Derived(NamedTuple):
    """The words of an item and those of its tags, each joined by a space, and its terms."""

    words: str
    tag_words: str
    terms: set[bytes]


def derive(item: EncodedItem | MemoryItem, *, namespace: str) -> Derived:
    """Return what an item is found by."""
    words, tag_words = analyse_item(item.content, item.tags)
    terms = index_terms(namespace, tags=item.tags, metadata=item.metadata)
    return Derived(" ".join(words), " ".join(tag_words), terms)


def add_words(session: Session, rows: Iterable[Row]) -> None:
    """Index the words of items."""
    session.executemany(_ADD_WORDS, map(_words_of, rows))


def remove_words(session: Session, row: Row) -> None:
    """Take exactly those words out of the index that were put in."""
    session.execute(_REMOVE_WORDS, _words_of(row))


def add_terms(session: Session, terms: Iterable[Term]) -> None:
    """Index terms."""
    session.executemany(_ADD_TERM, terms)


def remove_terms(session: Session, terms: Iterable[Term]) -> None:
    """Take terms out of the index."""
    session.executemany(_REMOVE_TERM, terms)


def remove_terms_of(session: Session, row: Row, *, namespace: str) -> None:
    """Take the terms of an item out of the index; if its payload is damaged, by looking through all."""
    try:
        item = row.decode()
    except MalformedMemoryPayload:
        session.execute(_REMOVE_TERMS_OF, (row.seq,))
        return
    terms = index_terms(namespace, tags=item.tags, metadata=item.metadata)
    remove_terms(session, [(term, row.created_at, row.seq) for term in terms])


def _words_of(row: Row) -> tuple[int, str, str, int]:
    return row.seq, row.words, row.tag_words, row.number
