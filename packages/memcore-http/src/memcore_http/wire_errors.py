"""The errors of the protocol: what the service answers for each error of memcore, and what a client makes of it."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, NamedTuple, Self

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
from memcore.records.model import MemoryRecord
from pydantic import Field, ValidationError

from memcore_http.wire import PROTOCOL, Answer
from memcore_http.wire_records import RecordBody

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
    """What the error carries: `rejected_keys`, `reason`, `field`, `path`, or `record`: what stands in the way."""
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
            data = _of_current(error.current)
        else:
            data = {}
        return cls(code=code, message=str(error) if isinstance(error, _TOLD) else _FAULTS[code].text, data=data)

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
        if kind is MemoryConflict:
            return self._conflict()
        is_known = self.request is None or issubclass(kind, _TOLD)
        return kind(self.message if is_known else f"{self.message} (request {self.request})")

    def _conflict(self) -> MemcoreError:
        if "record" not in self.data:
            return MemoryConflict(self.message)
        try:
            current = RecordBody.model_validate(self.data["record"]).decode()
        except (ValidationError, MalformedMemoryPayload):  # not chained: it shows content
            return MalformedMemoryPayload(f"{self.message}: the service answered a record that is none")
        return MemoryConflict(self.message, current=current)


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
    "unauthenticated": _Fault(
        401, MemoryAdapterError, "the memory service needs a token that it knows; give it as MEMCORE_HTTP_TOKEN"
    ),
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


_TOLD: Final = (UnsupportedMemoryQuery, UnsupportedMemoryItem, MemoryConflict, MemoryNotFound)
"""What the caller did, which is told in full."""


def _of_current(current: MemoryRecord | None) -> dict[str, Any]:
    if not isinstance(current, MemoryRecord):  # nothing, or what an adapter made up
        return {}
    try:
        return {"record": RecordBody.of(current).model_dump(mode="json")}
    except UnsupportedMemoryItem:
        return {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
