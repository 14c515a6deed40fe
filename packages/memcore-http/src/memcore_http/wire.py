"""The protocol of the memory service, which both ends share: routes, headers, messages and errors.

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
from memcore.errors import (
    MalformedMemoryPayload,
    MemcoreError,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    MemoryConflict,
    MemoryNotFound,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore.items.manifest import MemoryAdapterManifest
from memcore.items.model import MemoryItem, MemoryQuery
from memcore.items.payload import decode_item
from memcore.kit import exact_json
from memcore.kit.query import LARGEST_LIMIT, CheckedQuery
from pydantic import BaseModel, ConfigDict, Field, ValidationError

PROTOCOL: Final = 1
PROTOCOL_HEADER: Final = "memcore-protocol"
NAMESPACE_HEADER: Final = "memcore-namespace"
"""The namespace that a client asks for, percent-encoded; without it, the one of its token."""
CLAIMS_HEADER: Final = "memcore-claims"
"""The digest of the claims that the client holds: a service whose claims differ refuses (I-32)."""
REQUEST_HEADER: Final = "memcore-request"
"""The id of a request in the service's log, on every answer."""

MAX_CURSOR_CHARS: Final = 1000
MAX_CURRENT_CHARS: Final = 100_000
"""Of what a conflict tells about the record that stands in the way."""

_SEAM: Final = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")
_DIGEST_BYTES: Final = 8


class Route(NamedTuple):
    """One call of the service.

    A `read` and an `erase` may be made again whatever became of them, a `write` only when it did not begin.
    """

    method: Literal["GET", "POST"]
    path: str
    kind: Literal["read", "erase", "write"]


OPEN: Final = Route("GET", "/v1", "read")
PING: Final = Route("GET", "/v1/ping", "read")
STORE: Final = Route("POST", "/v1/items/store", "write")
STORE_MANY: Final = Route("POST", "/v1/items/store-many", "write")
RETRIEVE: Final = Route("POST", "/v1/items/retrieve", "read")
SEARCH: Final = Route("POST", "/v1/items/search", "read")
SCAN: Final = Route("POST", "/v1/items/scan", "read")
COUNT: Final = Route("GET", "/v1/items/count", "read")
DELETE: Final = Route("POST", "/v1/items/delete", "erase")
DELETE_WHERE: Final = Route("POST", "/v1/items/delete-where", "erase")
DROP_NAMESPACE: Final = Route("POST", "/v1/drop-namespace", "erase")


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
    claims: str
    """The digest of manifest and capabilities, which the client names in every request."""
    max_request_bytes: int
    """A request whose body is longer is refused."""

    @classmethod
    def of(
        cls, namespace: str, manifest: MemoryAdapterManifest, capabilities: Capabilities, *, max_request_bytes: int
    ) -> Self:
        """Return the opening of a backend that is served."""
        claims = json.dumps([manifest.model_dump(), capabilities.model_dump()], default=sorted)  # sets have no order
        return cls(
            protocol=PROTOCOL,
            namespace=namespace,
            manifest=manifest,
            capabilities=capabilities,
            claims=blake2b(claims.encode(), digest_size=_DIGEST_BYTES).hexdigest(),
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
    text, tags = _parts(query.text), [_parts(tag) for tag in query.tags]
    return exact_json.encode_checked({"text": text, "tags": tags, "filters": query.filters, "limit": query.limit})


def decode_query(text: str) -> MemoryQuery:
    """Return the query of a text that `encode_query` made, judged by the store alone.

    Raises:
        MalformedMemoryPayload: it is none.
    """
    data = exact_json.decode(text)
    try:
        tags = [_join(tag) for tag in data["tags"] or ()]
        return MemoryQuery(text=_join(data["text"]), tags=tags, filters=data["filters"], limit=data["limit"])
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


def _parts(text: str) -> str | list[str]:
    """Cut a text between two code points that JSON would read back as one character; mostly it stays whole."""
    parts = _SEAM.split(text)
    return parts[0] if len(parts) == 1 else parts


def _join(parts: str | list[str] | None) -> str:
    return "".join(parts or "")


ErrorCode = Literal[
    "unsupported_query",
    "unsupported_item",
    "unavailable",
    "conflict",
    "not_found",
    "malformed",
    "configuration",
    "failed",
    "busy",
    "superseded",
    "other_claims",
    "other_protocol",
    "unauthenticated",
    "forbidden",
    "no_such_route",
    "no_such_method",
    "invalid_request",
    "too_large",
]


class ErrorBody(Answer):
    """What went wrong; holds no secret, no content and nothing of the service's inside."""

    protocol: int = PROTOCOL
    code: ErrorCode
    message: str
    data: dict[str, Any] = Field(default_factory=dict)
    """What the error carries: `rejected_keys`, `reason`, `field`, `path`, `current`."""
    request: str | None = None
    """The id of the request in the service's log."""

    @classmethod
    def of(cls, error: MemcoreError) -> Self:
        """Return the body of an error of memcore.

        What the caller did wrong is told in full; of what went wrong behind the service, only what kind it is.
        """
        code = next(code for kind, code in _CODES if isinstance(error, kind))
        if isinstance(error, UnsupportedMemoryQuery):
            data: dict[str, Any] = {"rejected_keys": list(error.rejected_keys), "reason": error.reason}
        elif isinstance(error, UnsupportedMemoryItem):
            data = {"field": error.field, "path": error.path, "reason": error.reason}
        elif isinstance(error, MemoryConflict):
            data = {"current": _as_json(error.current)}
        else:
            data = {}
        told = isinstance(error, (UnsupportedMemoryQuery, UnsupportedMemoryItem, MemoryConflict, MemoryNotFound))
        return cls(code=code, message=str(error) if told else _FAULTS[code].text, data=data)

    @classmethod
    def stating(cls, code: ErrorCode, message: str | None = None) -> Self:
        """Return the body of an error of the service itself."""
        return cls(code=code, message=message or _FAULTS[code].text)

    @property
    def status(self) -> int:
        """The status that goes with it."""
        return _FAULTS[self.code].status

    @property
    def applied_nothing(self) -> bool:
        """Whether a write that was answered so had no effect and will have none."""
        return self.code not in _UNKNOWN

    @property
    def invites_retry(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.code in _PASSING

    def encode(self) -> bytes:
        """Return the body as ASCII JSON: a rejected key may hold any character."""
        return json.dumps(self.model_dump()).encode("ascii")

    def error(self) -> MemcoreError:
        """Return the error of memcore that this stands for."""
        kind, data = _FAULTS[self.code].kind, self.data
        if kind is UnsupportedMemoryQuery:
            return UnsupportedMemoryQuery(_texts(data.get("rejected_keys")), reason=_text(data.get("reason")))
        if kind is UnsupportedMemoryItem:
            field = _text(data.get("field")) or "item"
            return UnsupportedMemoryItem(
                field=field, path=_text(data.get("path")), reason=_text(data.get("reason")) or self.message
            )
        message = f"{self.message} (request {self.request})" if self.request else self.message
        if kind is MemoryConflict:
            return MemoryConflict(message, current=data.get("current"))
        return kind(message)


class _Fault(NamedTuple):
    status: int
    kind: type[MemcoreError]
    text: str


_FAULTS: Final[dict[ErrorCode, _Fault]] = {
    "unsupported_query": _Fault(422, UnsupportedMemoryQuery, "the store cannot answer such a query"),
    "unsupported_item": _Fault(422, UnsupportedMemoryItem, "the store cannot keep such an item"),
    "unavailable": _Fault(503, MemoryAdapterUnavailable, "the memory service cannot use its store now"),
    "conflict": _Fault(409, MemoryConflict, "the operation contradicts what is stored"),
    "not_found": _Fault(404, MemoryNotFound, "there is no such record"),
    "malformed": _Fault(502, MalformedMemoryPayload, "what the memory service has stored is damaged"),
    "configuration": _Fault(501, MemoryConfigurationError, "the memory service is not set up for this"),
    "failed": _Fault(500, MemoryAdapterError, "the memory service failed"),
    "busy": _Fault(503, MemoryAdapterUnavailable, "the memory service has too much to do; nothing was begun"),
    "superseded": _Fault(409, MemoryAdapterUnavailable, "a later write of this client came first; nothing was done"),
    "other_claims": _Fault(
        409, MemoryAdapterUnavailable, "the memory service makes other claims than when it was opened: connect again"
    ),
    "other_protocol": _Fault(
        400, MemoryAdapterUnavailable, f"the memory service speaks version {PROTOCOL} of the protocol alone"
    ),
    "unauthenticated": _Fault(401, MemoryAdapterError, "the memory service needs a token that it knows"),
    "forbidden": _Fault(403, MemoryAdapterError, "the token does not allow this"),
    "no_such_route": _Fault(404, MalformedMemoryPayload, "the memory service has no such route"),
    "no_such_method": _Fault(405, MalformedMemoryPayload, "the route of the memory service has another method"),
    "invalid_request": _Fault(422, MalformedMemoryPayload, "the request is not what the protocol says"),
    "too_large": _Fault(413, UnsupportedMemoryItem, "the request is larger than the memory service takes"),
}
_CODES: Final[tuple[tuple[type[MemcoreError], ErrorCode], ...]] = (
    (UnsupportedMemoryQuery, "unsupported_query"),
    (UnsupportedMemoryItem, "unsupported_item"),
    (MemoryAdapterUnavailable, "unavailable"),
    (MemoryConflict, "conflict"),
    (MemoryNotFound, "not_found"),
    (MalformedMemoryPayload, "malformed"),
    (MemoryConfigurationError, "configuration"),
    (MemcoreError, "failed"),
)
_UNKNOWN: Final = frozenset({"unavailable", "malformed", "failed"})
"""Where a write may have been applied, or be applied yet."""
_PASSING: Final = frozenset({"unavailable", "busy"})


def _as_json(value: object) -> object:
    try:
        exact_json.check(value, field="current", max_chars=MAX_CURRENT_CHARS)
    except UnsupportedMemoryItem:
        return None
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
