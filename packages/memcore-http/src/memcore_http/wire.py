"""The protocol of the memory service, which both ends share: routes, headers, and the messages of items.

The messages of records are in `wire_records`, the errors in `wire_errors`.

What a caller gave (an item's payload, filters, a query) travels as one ASCII JSON text inside a JSON string: escapes
survive there, where JSON libraries choke on lone surrogates, deep nesting and long integers. `created_at` is a JSON
number whose shortest form reads back bit for bit. Ids stand in bodies, never in paths.

Every request names the version of the protocol in a header, and so does every answer; a body that may be read by
itself (the opening, an error) names it too. Version 1 may gain fields in answers, which an older client ignores.

A write carries a `Ticket`, which is what keeps the writes of one client in order when it does not know what became of
one of them (I-70): the client then raises its epoch, and the service lets a write begin only after every write of an
earlier epoch has ended, and refuses those that arrive later. A retried erasure carries its old number, and the service
answers it with what the first one did, if that arrived.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Annotated, Any, Final, Literal, NamedTuple, Self
from uuid import UUID

from memcore.backend import Capabilities, Health
from memcore.errors import MalformedMemoryPayload, UnsupportedMemoryQuery
from memcore.items.manifest import MemoryAdapterManifest
from memcore.items.model import MemoryItem, MemoryQuery
from memcore.items.payload import decode_item
from memcore.kit import exact_json
from memcore.kit.query import LARGEST_LIMIT, CheckedQuery
from memcore.records.store import RecordCapabilities
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

PROTOCOL: Final = 1
PROTOCOL_HEADER: Final = "memcore-protocol"
NAMESPACE_HEADER: Final = "memcore-namespace"
"""The namespace that a client asks for, percent-encoded; without it, the one of its token."""
CLAIMS_HEADER: Final = "memcore-claims"
"""The digest of the claims that the client holds: a service whose claims differ refuses (I-32)."""
REQUEST_HEADER: Final = "memcore-request"
"""The id of a request in the service's log, on every answer."""

MAX_CURSOR_CHARS: Final = 1000

_SEAM: Final = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")
_DIGEST_BYTES: Final = 8


class Route(NamedTuple):
    """One call of the service.

    A `read` may be made again whatever became of it, and so may a write that is `idempotent`; any other `write` only
    when it did not begin.
    """

    method: Literal["GET", "POST"]
    path: str
    kind: Literal["read", "idempotent", "write"]


OPEN: Final = Route("GET", "/v1", "read")
PING: Final = Route("GET", "/v1/ping", "read")
STORE: Final = Route("POST", "/v1/items/store", "write")
STORE_MANY: Final = Route("POST", "/v1/items/store-many", "write")
RETRIEVE: Final = Route("POST", "/v1/items/retrieve", "read")
SEARCH: Final = Route("POST", "/v1/items/search", "read")
SCAN: Final = Route("POST", "/v1/items/scan", "read")
COUNT: Final = Route("GET", "/v1/items/count", "read")
DELETE: Final = Route("POST", "/v1/items/delete", "idempotent")
DELETE_WHERE: Final = Route("POST", "/v1/items/delete-where", "idempotent")
DROP_NAMESPACE: Final = Route("POST", "/v1/drop-namespace", "idempotent")


def ascii_json(description: str) -> Any:  # noqa: ANN401 - as pydantic's own Field
    """Return the field of an ASCII JSON text."""
    return Field(
        pattern=r"^[\x00-\x7f]*$", description=description, json_schema_extra={"contentMediaType": "application/json"}
    )


class Request(BaseModel):
    """What a client sends."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Answer(BaseModel):
    """What the service answers."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Ticket(Request):
    """The place of a write among the writes of its client."""

    client: UUID
    """Made anew for every backend object."""
    epoch: int = Field(ge=0, lt=1 << 63)
    """Rises whenever the client does not know what became of a write."""
    call: int = Field(ge=0, lt=1 << 63)
    """The number of the call, the same when it is made again."""


class ItemBody(Request):
    """An item on its way."""

    id: UUID
    created_at: float = Field(allow_inf_nan=False)
    payload: Annotated[str, ascii_json("An object with content, metadata (an object) and tags (a list of strings).")]

    @classmethod
    def of(cls, item: MemoryItem) -> Self:
        """Return the body of an item that came from a store, which is exact JSON already."""
        parts = {"content": item.content, "metadata": item.metadata, "tags": item.tags}
        return cls(id=item.id, created_at=item.created_at, payload=exact_json.encode_checked(parts))

    def decode(self) -> MemoryItem:
        """Return the item.

        Raises:
            MalformedMemoryPayload: the payload is not that of an item.
        """
        return decode_item(self.id, self.created_at, self.payload)


class StoreRequest(Request):
    """Create or replace one item."""

    ticket: Ticket
    item: ItemBody


class StoreManyRequest(Request):
    """Create or replace all items or none."""

    ticket: Ticket
    items: list[ItemBody]


class RetrieveRequest(Request):
    """Ask for one item."""

    id: UUID


class SearchRequest(Request):
    """Ask for the best matches."""

    query: Annotated[str, ascii_json("An object with text, tags, filters (an object or null) and limit.")]


class ScanRequest(Request):
    """Ask for the next page in order of id."""

    after: str | None = Field(default=None, max_length=MAX_CURSOR_CHARS)
    limit: int = Field(ge=1, le=LARGEST_LIMIT)


class DeleteRequest(Request):
    """Erase items by their ids."""

    ticket: Ticket
    ids: list[UUID]


class DeleteWhereRequest(Request):
    """Erase what matches every filter."""

    ticket: Ticket
    filters: Annotated[str, ascii_json("An object that is not empty: metadata keys and the values they must equal.")]


class DropNamespaceRequest(Request):
    """Erase everything in the namespace."""

    ticket: Ticket
    namespace: str
    """Its name once more: nobody empties a store by mistake."""


class Opening(Answer):
    """What a client learns when it opens, and holds for its life (I-32)."""

    protocol: int
    namespace: str
    manifest: MemoryAdapterManifest
    capabilities: Capabilities
    records: RecordCapabilities | None = None
    """What the records can do, if they are among the contracts."""
    claims: str
    """The digest of all claims, which the client names in every request."""
    max_request_bytes: int
    """A request whose body is longer is refused."""

    @model_validator(mode="after")
    def _check_records(self) -> Self:
        if ("records" in self.capabilities.contracts) != (self.records is not None):
            raise ValueError("the contracts and the capabilities of records contradict each other")
        return self

    @classmethod
    def of(
        cls,
        namespace: str,
        manifest: MemoryAdapterManifest,
        capabilities: Capabilities,
        records: RecordCapabilities | None,
        *,
        max_request_bytes: int,
    ) -> Self:
        """Return the opening of a backend that is served."""
        claims = [manifest, capabilities, *([records] if records else [])]
        text = json.dumps([claim.model_dump() for claim in claims], default=sorted)  # sets have no order
        return cls(
            protocol=PROTOCOL,
            namespace=namespace,
            manifest=manifest,
            capabilities=capabilities,
            records=records,
            claims=blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest(),
            max_request_bytes=max_request_bytes,
        )


class PingAnswer(Answer):
    """What the service found when it made a round trip to its store."""

    health: Health


class IdsAnswer(Answer):
    """The identities of what was stored, in input order."""

    ids: list[UUID]


class ItemAnswer(Answer):
    """The item, or null for a miss."""

    item: ItemBody | None


class ItemsAnswer(Answer):
    """Items, best first."""

    items: list[ItemBody]


class PageAnswer(Answer):
    """A page of a scan, and the cursor of the next one."""

    items: list[ItemBody]
    next: str | None


class CountAnswer(Answer):
    """How many there are, or were erased."""

    count: int = Field(ge=0)


def encode_query(query: CheckedQuery) -> str:
    """Return a query as one ASCII JSON text."""
    text, tags = split_text(query.text), [split_text(tag) for tag in query.tags]
    return exact_json.encode_checked({"text": text, "tags": tags, "filters": query.filters, "limit": query.limit})


def decode_query(text: str) -> MemoryQuery:
    """Return the query of a text that `encode_query` made, judged by the store alone.

    Raises:
        MalformedMemoryPayload: it is none.
    """
    data = exact_json.decode(text)
    try:
        tags = [join_text(tag) for tag in data["tags"] or ()]
        return MemoryQuery(text=join_text(data["text"]), tags=tags, filters=data["filters"], limit=data["limit"])
    except (KeyError, TypeError, ValidationError) as error:
        raise MalformedMemoryPayload("the query is not one") from error


def encode_filters(filters: dict[str, Any]) -> str:
    """Return checked filters as one ASCII JSON text."""
    return exact_json.encode_checked(filters)


def decode_filters(text: str) -> dict[str, Any]:
    """Return the filters of a text that `encode_filters` made.

    Raises:
        MalformedMemoryPayload: it is no object.
    """
    filters = exact_json.decode(text)
    if type(filters) is not dict:
        raise MalformedMemoryPayload("the filters are no object")
    return filters


def split_text(text: str) -> str | list[str]:
    """Cut a text between two code points that JSON would read back as one character; mostly it stays whole."""
    parts = _SEAM.split(text)
    return parts[0] if len(parts) == 1 else parts


def join_text(parts: str | list[str] | None) -> str:
    """Return the text that `split_text` has cut; what is missing is empty."""
    return "".join(parts or "")


def check_cursor(cursor: object) -> str | None:
    """Return the cursor of a scan if it can travel; whether it is one, the store says.

    Raises:
        UnsupportedMemoryQuery: it cannot.
    """
    if cursor is None:
        return None
    if isinstance(cursor, str) and cursor.isascii() and len(cursor) <= MAX_CURSOR_CHARS:
        return cursor
    raise UnsupportedMemoryQuery(["after"], reason="not a cursor of this store")


def expect_ids(answer: IdsAnswer, ids: list[UUID]) -> list[UUID]:
    """Return the ids if they are those that were stored: a success without the identity is a failure (I-43).

    Raises:
        MalformedMemoryPayload: they are others.
    """
    if answer.ids != ids:
        raise MalformedMemoryPayload("the service did not answer the identities of what it was to store")
    return ids
