"""What is derived from an item so that it can be found, as the columns of its row."""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, NamedTuple

from memcore.kit.terms import index_terms, namespace_term
from memcore.kit.text import analyse_item

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from memcore.items.model import MemoryItem
    from memcore.items.payload import EncodedItem


class Derived(NamedTuple):
    """The words of an item, those of its tags, and its terms, each joined by spaces."""

    words: str
    tag_words: str
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
    return Derived(" ".join(words), " ".join(tag_words), " ".join(term_texts({namespace_term(namespace), *terms})))


def make_row(item: EncodedItem, *, namespace: str) -> Row:
    """Return the row of an item."""
    return Row(str(item.id), repr(item.created_at), item.payload, *derive(item, namespace=namespace))


def term_texts(terms: Iterable[bytes]) -> list[str]:
    """Return terms as the index has them, sorted."""
    return sorted(b2a_base64(term, newline=False).decode() for term in terms)


def id_texts(ids: Iterable[UUID]) -> list[str]:
    """Return ids as a parameter."""
    return [str(one) for one in ids]
