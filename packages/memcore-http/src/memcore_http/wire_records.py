"""The protocol's routes and messages of records; see `wire`.

A record travels as the row that stores keep: its columns, with times in microseconds since 1970, and the caller's part
and the ending as one ASCII JSON text each. What arrives is judged at both ends as what any caller gives.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from memcore.errors import MalformedMemoryPayload
from memcore.items.payload import SizeLimits
from memcore.kit import exact_json
from memcore.kit.query import LARGEST_LIMIT
from memcore.records.model import Invalidation, Kind, MemoryHit, MemoryRecord, MemoryWrite, RecordQuery, Tier
from memcore.records.rows import (
    EncodedChange,
    EncodedInvalidation,
    RecordRow,
    encode_record,
    from_micros,
    read_invalidation,
    read_record,
    read_write,
    to_micros,
)
from memcore.records.store import SweepPolicy
from memcore.scope import Scope
from pydantic import Field

from memcore_http.wire import Answer, Request, Route, Ticket, ascii_json, join_text, split_text

WRITE: Final = Route("POST", "/v1/records/write", "idempotent")
SEARCH: Final = Route("POST", "/v1/records/search", "read")
GET: Final = Route("POST", "/v1/records/get", "read")
DELETE: Final = Route("POST", "/v1/records/delete", "idempotent")
DELETE_WHERE: Final = Route("POST", "/v1/records/delete-where", "idempotent")
HISTORY: Final = Route("POST", "/v1/records/history", "read")
SCAN: Final = Route("POST", "/v1/records/scan", "read")
COUNT: Final = Route("GET", "/v1/records/count", "read")
TOUCH: Final = Route("POST", "/v1/records/touch", "write")
REFRESH: Final = Route("POST", "/v1/records/refresh", "idempotent")
SWEEP: Final = Route("POST", "/v1/records/sweep", "idempotent")
RESTORE: Final = Route("POST", "/v1/records/restore", "write")
"""Not idempotent: made again, it would undo what others have done to the record meanwhile."""

_UNBOUNDED: Final = SizeLimits(**dict.fromkeys(SizeLimits.model_fields, sys.maxsize))
"""What a store has kept is within its limits."""
_PAYLOAD: Final = (
    "An object with scope (an object), content (a text), and where they are not empty tags, provenance "
    "(conversation_id, run_id, author, in a list), target, payload, supports (a list of provenances) and context."
)
_ENDING: Final = "A list: the reason, and who ended it."
_SCOPE: Final = "A list of pairs of key and value."

Micros = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63, description="Microseconds since 1970.")]


class RecordBody(Request):
    """A record on its way."""

    id: UUID
    payload: Annotated[str, ascii_json(_PAYLOAD)]
    kind: Kind
    created_at: Micros
    updated_at: Micros
    expires_at: Micros | None = None
    tier: Tier | None = None
    invalid_at: Micros | None = None
    ending: Annotated[str, ascii_json(_ENDING)] | None = None
    superseded_by: UUID | None = None
    hits: int = Field(default=0, ge=0)
    last_hit_at: Micros | None = None
    refreshed_at: Micros | None = None

    @classmethod
    def of(cls, record: MemoryRecord) -> Self:
        """Return the body of a record that came from a store."""
        return cls.of_row(encode_record(record, _UNBOUNDED))

    @classmethod
    def of_row(cls, row: RecordRow) -> Self:
        """Return the body of a record that passed the door."""
        columns = row._asdict()
        del columns["written"]
        return cls(**columns)

    def decode(self) -> MemoryRecord:
        """Return the record.

        Raises:
            MalformedMemoryPayload: it is none.
        """
        return read_record(RecordRow(written=None, **dict(self)))


class WriteBody(Request):
    """A new record on its way."""

    change: Literal["write"] = "write"
    id: UUID
    payload: Annotated[str, ascii_json(_PAYLOAD)]
    kind: Kind
    expires_at: Micros | None = None
    tier: Tier | None = None
    supersedes: list[UUID] = Field(default_factory=list)

    def decode(self) -> MemoryWrite:
        """Return the write.

        Raises:
            MalformedMemoryPayload: it is none.
        """
        return read_write(
            write_id=self.id,
            payload=self.payload,
            kind=self.kind,
            expires_at=self.expires_at,
            tier=self.tier,
            supersedes=self.supersedes,
        )


class InvalidationBody(Request):
    """The end of a record on its way."""

    change: Literal["invalidation"] = "invalidation"
    id: UUID
    ending: Annotated[str, ascii_json(_ENDING)] | None = None

    def decode(self) -> Invalidation:
        """Return the invalidation.

        Raises:
            MalformedMemoryPayload: it is none.
        """
        return read_invalidation(self.id, self.ending)


ChangeBody = Annotated[WriteBody | InvalidationBody, Field(discriminator="change")]


class WriteRequest(Request):
    """Carry out all changes or none."""

    ticket: Ticket
    changes: list[ChangeBody]


class RecordRequest(Request):
    """Ask for one record, or for what is linked with it."""

    id: UUID


class RecordSearchRequest(Request):
    """Ask for the best matches, or the newest."""

    query: Annotated[str, ascii_json("An object with the fields of a RecordQuery; scope is a list of pairs.")]


class RecordDeleteRequest(Request):
    """Erase one record."""

    ticket: Ticket
    id: UUID


class RecordDeleteWhereRequest(Request):
    """Erase all records whose scope contains this one."""

    ticket: Ticket
    scope: Annotated[str, ascii_json(_SCOPE)]
    kinds: list[Kind] | None = None


class TouchRequest(Request):
    """Count a use of each record."""

    ticket: Ticket
    ids: list[UUID]


class RefreshRequest(Request):
    """Set back the idle clock of a record."""

    ticket: Ticket
    id: UUID
    tier: Tier | None = None


class SweepRequest(Request):
    """Erase what has expired, archive what lies idle."""

    ticket: Ticket
    policy: SweepPolicy | None = None


class RestoreRequest(Request):
    """Write records as they were."""

    ticket: Ticket
    records: list[RecordBody]


class RecordAnswer(Answer):
    """The record, or null for a miss."""

    record: RecordBody | None


class RecordsAnswer(Answer):
    """Records, in the order of what was asked."""

    records: list[RecordBody]


class HitBody(Answer):
    """One record that was found."""

    record: RecordBody
    score: float | None = Field(default=None, allow_inf_nan=False)

    @classmethod
    def of(cls, hit: MemoryHit) -> Self:
        """Return the body of a hit."""
        return cls(record=RecordBody.of(hit.record), score=hit.score)

    def decode(self) -> MemoryHit:
        """Return the hit.

        Raises:
            MalformedMemoryPayload: its record is none.
        """
        return MemoryHit(record=self.record.decode(), score=self.score)


class HitsAnswer(Answer):
    """Hits, best or newest first."""

    hits: list[HitBody]


class RecordPageAnswer(Answer):
    """A page of a scan, and the cursor of the next one."""

    records: list[RecordBody]
    next: str | None


class SweepAnswer(Answer):
    """What a sweep did."""

    erased: int = Field(ge=0)
    archived: int = Field(ge=0)


def encode_change(change: EncodedChange) -> WriteBody | InvalidationBody:
    """Return the body of a change that passed the door."""
    if isinstance(change, EncodedInvalidation):
        return InvalidationBody(id=change.id, ending=change.ending)
    columns = {name: getattr(change, name) for name in ("id", "payload", "kind", "expires_at", "tier")}
    return WriteBody(supersedes=list(change.supersedes), **columns)


def encode_record_query(query: RecordQuery) -> str:
    """Return a checked query as one ASCII JSON text."""
    data = {
        "text": split_text(query.text or ""),
        "scope": _split_scope(query.scope),
        "kinds": None if query.kinds is None else list(query.kinds),
        "tags": [split_text(tag) for tag in query.tags],
        "match_tags": query.match_tags,
        "tiers": None if query.tiers is None else list(query.tiers),
        "include_invalidated": query.include_invalidated,
        "as_of": None if query.as_of is None else to_micros(query.as_of),
        "mode": query.mode,
        "limit": min(query.limit, LARGEST_LIMIT),
        "after": query.after,
    }
    return exact_json.encode_checked(data)


def decode_record_query(text: str) -> RecordQuery:
    """Return the query of a text that `encode_record_query` made, judged by the store alone.

    Raises:
        MalformedMemoryPayload: it is none.
    """
    data = exact_json.decode(text)
    try:
        as_of = data["as_of"]
        decoded = {
            "text": join_text(data["text"]),
            "scope": _join_scope(data["scope"]),
            "tags": [join_text(tag) for tag in data["tags"]],
            "as_of": None if as_of is None else from_micros(as_of),
        }
        return RecordQuery(**(data | decoded))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise MalformedMemoryPayload("the query is not one") from error


def encode_scope(scope: Scope) -> str:
    """Return a scope as one ASCII JSON text."""
    return exact_json.encode_checked(_split_scope(scope))


def decode_scope(text: str) -> Scope:
    """Return the scope of a text that `encode_scope` made.

    Raises:
        MalformedMemoryPayload: it is none.
    """
    pairs = exact_json.decode(text)
    try:
        return _join_scope(pairs)
    except (TypeError, ValueError) as error:
        raise MalformedMemoryPayload("the scope is not one") from error


def _split_scope(scope: Scope) -> list[list[str | list[str]]]:
    return [[split_text(key), split_text(value)] for key, value in scope.items()]


def _join_scope(pairs: list[list[Any]]) -> Scope:
    return Scope({join_text(key): join_text(value) for key, value in pairs})
