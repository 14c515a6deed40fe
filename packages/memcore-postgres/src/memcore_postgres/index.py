"""What is derived from an item or a record so that it can be found, as the columns of its row."""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from memcore.kit.terms import index_terms, namespace_term, scope_terms, tag_term
from memcore.kit.text import analyse_item, analyse_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from uuid import UUID

    from memcore.items.model import MemoryItem
    from memcore.items.payload import EncodedItem
    from memcore.records.model import CallersPart


T = TypeVar("T")

_CHUNK: Final = 200
_CHUNK_CHARS: Final = 8_000_000
"""Rows and characters of one statement of a batch."""


class Derived(NamedTuple):
    """The words of an item, those of its tags, and its terms, each joined by spaces."""

    words: str
    tag_words: str
    terms: str


class DerivedRecord(NamedTuple):
    """The words of a record, those of its tags and of its context, and its terms, each joined by spaces."""

    words: str
    tag_words: str
    context_words: str
    terms: str


class Row(NamedTuple):
    """One item as the parameters of a statement: all texts, which the driver sends without asking for types."""

    id: str
    created_at: str
    payload: str
    words: str
    tag_words: str
    terms: str


def derive(item: EncodedItem | MemoryItem, *, namespace: str) -> Derived:
    """Return what an item is found by."""
    words, tag_words = analyse_item(item.content, item.tags)
    terms = index_terms(namespace, tags=item.tags, metadata=item.metadata)
    return Derived(" ".join(words), " ".join(tag_words), _joined(namespace, terms))


def derive_record(part: CallersPart, *, namespace: str) -> DerivedRecord:
    """Return what a record is found by."""
    words, tag_words, context_words = map(" ".join, analyse_record(part.content, part.tags, part.context))
    terms = [*scope_terms(namespace, part.scope), *(tag_term(namespace, tag) for tag in part.tags)]
    return DerivedRecord(words, tag_words, context_words, _joined(namespace, terms))


def make_row(item: EncodedItem, *, namespace: str) -> Row:
    """Return the row of an item."""
    return Row(str(item.id), repr(item.created_at), item.payload, *derive(item, namespace=namespace))


def term_texts(terms: Iterable[bytes]) -> list[str]:
    """Return terms as the index has them, sorted."""
    return sorted(b2a_base64(term, newline=False).decode() for term in terms)


def id_texts(ids: Iterable[UUID]) -> list[str]:
    """Return ids as a parameter."""
    return [str(one) for one in ids]


def chunks(rows: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield rows in order, as many at a time as one statement takes; `size` tells the characters of one."""
    chunk: list[T] = []
    chars = 0
    for row in rows:
        if chunk and (len(chunk) == _CHUNK or chars + size(row) > _CHUNK_CHARS):
            yield chunk
            chunk, chars = [], 0
        chunk.append(row)
        chars += size(row)
    yield chunk


def _joined(namespace: str, terms: Iterable[bytes]) -> str:
    return " ".join(term_texts({namespace_term(namespace), *terms}))
