"""How records are kept: the row of each, and the words and terms that it is found by.

A scope pair or a tag has one term among the records that are valid and another among those that have ended, so that
what is valid now is read from the term index without passing what no longer is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from memcore.errors import MalformedMemoryPayload
from memcore.kit.ranking import RECORD_WEIGHTS
from memcore.kit.terms import scope_terms, tag_term
from memcore.kit.text import analyse_record
from memcore.records.rows import RecordRow, decode_record

from memcore_sqlite.index import Derived, Table

if TYPE_CHECKING:
    from memcore.records.model import CallersPart

    from memcore_sqlite.index import Columns

_ENDED: Final = b"\1"
"""What follows a term among the records that have ended."""


def decode_row(columns: Columns) -> RecordRow:
    """Return the row that `encode_row` made these columns of.

    Raises:
        MalformedMemoryPayload: an id is none.
    """
    created_at, key, payload, kind, updated_at, expires_at, tier, written, invalid_at, ending, heir, *uses = columns
    fixed = (_decode_id(key), payload, kind, created_at, updated_at, expires_at, tier, written)
    return RecordRow(*fixed, invalid_at, ending, decode_link(heir), *uses)


def encode_row(row: RecordRow) -> Columns:
    """Return a row as the columns of its table."""
    return (
        row.created_at,
        row.id.bytes,
        row.payload,
        row.kind,
        row.updated_at,
        row.expires_at,
        row.tier,
        row.written,
        row.invalid_at,
        row.ending,
        encode_link(row.superseded_by),
        row.hits,
        row.last_hit_at,
        row.refreshed_at,
    )


def decode_link(link: bytes | None) -> UUID | None:
    """Return what was kept as `superseded_by`; raises as `decode_row` does."""
    return None if link is None else _decode_id(link)


def encode_link(record_id: UUID | None) -> bytes | None:
    """Return what `superseded_by` is kept as."""
    return None if record_id is None else record_id.bytes


def derive_part(part: CallersPart, *, namespace: str) -> Derived:
    """Return what a valid record is found by."""
    words = map(" ".join, analyse_record(part.content, part.tags, part.context))
    scope = " ".join(term.hex() for term in scope_terms(namespace, part.scope))
    return Derived((*words, scope), _terms_of_part(part, namespace))


def derived_for(derived: Derived, row: RecordRow) -> Derived:
    """Return what a row is found by, given what it would be found by if it were valid."""
    return derived if row.invalid_at is None else Derived(derived.fields, set(map(ended_term, derived.terms)))


def ended_term(term: bytes) -> bytes:
    """Return what a term is among the records that have ended."""
    return term + _ENDED


def _decode_id(key: bytes) -> UUID:
    try:
        return UUID(bytes=key)
    except (TypeError, ValueError) as error:
        msg = "an id in a stored record is not what its contract says"
        raise MalformedMemoryPayload(msg) from error


def _derive(columns: Columns, namespace: str) -> Derived:
    row = decode_row(columns)
    return derived_for(derive_part(decode_record(row), namespace=namespace), row)


def _terms_of(columns: Columns, namespace: str) -> set[bytes]:
    row = decode_row(columns)
    terms = _terms_of_part(decode_record(row), namespace)
    return terms if row.invalid_at is None else set(map(ended_term, terms))


def _terms_of_part(part: CallersPart, namespace: str) -> set[bytes]:
    return {*scope_terms(namespace, part.scope), *(tag_term(namespace, tag) for tag in part.tags)}


RECORDS: Final = Table(
    noun="record",
    columns=(
        "created_at",
        "id",
        "payload",
        "kind",
        "updated_at",
        "expires_at",
        "tier",
        "written",
        "invalid_at",
        "ending",
        "superseded_by",
        "hits",
        "last_hit_at",
        "refreshed_at",
    ),
    fields=("words", "tag_words", "context_words", "scope"),
    weights=RECORD_WEIGHTS,
    ticks=1_000_000,
    derive=_derive,
    terms_of=_terms_of,
)
"""How records are kept; `created_at` is in microseconds."""
