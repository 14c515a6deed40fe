"""What an answer of the service means: the body of a success, or the one error of memcore that fits (I-70).

A typed error of the service is taken as it is. Anything else came from something in between (a proxy, a login page,
another program) and is judged by its status, before its body is looked at. Messages name the status and the id of the
request; they never quote a body.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from memcore.errors import (
    MalformedMemoryPayload,
    MemcoreError,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConflict,
    UnsupportedMemoryItem,
)
from pydantic import BaseModel, ValidationError

from memcore_http.wire import PROTOCOL, PROTOCOL_HEADER, REQUEST_HEADER
from memcore_http.wire_errors import ErrorBody

if TYPE_CHECKING:
    from collections.abc import Mapping

Model = TypeVar("Model", bound=BaseModel)

_OK: Final = 200
_REQUEST_ID: Final = re.compile(r"[\w-]{1,64}", re.ASCII)
_UNTYPED: Final[dict[int, tuple[type[MemoryAdapterError], str]]] = {
    401: (MemoryAdapterError, "the credentials were refused"),
    403: (MemoryAdapterError, "access was refused"),
    404: (MalformedMemoryPayload, "there is no memory service at that URL"),
    405: (MalformedMemoryPayload, "there is no memory service at that URL"),
    407: (MemoryAdapterError, "the proxy wants credentials"),
    408: (MemoryAdapterUnavailable, "the request took too long to arrive"),
    409: (MemoryConflict, "the operation contradicts what is stored"),
    421: (MemoryAdapterUnavailable, "the request reached another server"),
    425: (MemoryAdapterUnavailable, "the request came too early"),
    429: (MemoryAdapterUnavailable, "too many requests"),
}
_BY_CLASS: Final[dict[int, tuple[type[MemoryAdapterError], str]]] = {
    1: (MalformedMemoryPayload, "the answer is no memory service's"),
    2: (MalformedMemoryPayload, "a success, but not one of a memory service"),
    3: (MalformedMemoryPayload, "redirected elsewhere, which is never followed: use the final URL"),
    4: (MemoryAdapterError, "the request was refused"),
    5: (MemoryAdapterUnavailable, "the service cannot be used now"),
}
_TOO_MANY: Final = 429
_TOO_LARGE: Final = 413


class Failed(Exception):
    """One attempt failed, with what matters for trying again."""

    def __init__(
        self,
        error: MemcoreError,
        *,
        passing: bool,
        nothing_done: bool,
        asked: float | None = None,
        is_stale: bool = False,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.passing = passing
        """It may succeed a little later."""
        self.nothing_done = nothing_done
        """It is certain that the request had no effect and will have none."""
        self.asked = asked
        """Seconds that the service wants to be left alone."""
        self.is_stale = is_stale
        """The service has seen a later epoch of this client."""


@dataclass(frozen=True, slots=True)
class Received:
    """An answer that arrived as a whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def read(self, kind: type[Model], *, asked: float | None) -> Model:
        """Return the message that a success holds.

        Raises:
            Failed: it is no success.
        """
        if self.status != _OK:
            raise self._failure(asked)
        self._check_origin()
        try:
            return kind.model_validate_json(self.body)
        except ValidationError as error:
            raise self._odd(f"a success whose body is no {kind.__name__}") from error

    def _failure(self, asked: float | None) -> Failed:
        if PROTOCOL_HEADER in self.headers and (body := self._typed()) is not None:
            return Failed(
                body.error(),
                passing=body.invites_retry,
                nothing_done=body.applied_nothing,
                asked=asked,
                is_stale=body.code == "superseded",
            )
        if self.status == _TOO_LARGE:
            text = f"larger than the service, or a proxy before it, takes{self._place()}"
            return Failed(UnsupportedMemoryItem(field="request", reason=text), passing=False, nothing_done=True)
        kind, text = _UNTYPED.get(self.status) or _BY_CLASS.get(self.status // 100, _BY_CLASS[1])
        return Failed(
            kind(text + self._place()),
            passing=kind is MemoryAdapterUnavailable,
            nothing_done=self.status == _TOO_MANY,
            asked=asked,
        )

    def _typed(self) -> ErrorBody | None:
        try:
            return ErrorBody.model_validate(json.loads(self.body))
        except (ValueError, RecursionError):  # a proxy's own page, though our header was passed on
            return None

    def _check_origin(self) -> None:
        """Make sure that a success is a memory service's, of this protocol."""
        version = self.headers.get(PROTOCOL_HEADER)
        if version is None or not self.headers.get("content-type", "").startswith("application/json"):
            raise self._odd("a success, but not one of a memory service: a login page perhaps")
        if version != str(PROTOCOL):
            error = MemoryAdapterUnavailable(
                f"the service speaks another version of the protocol, this client {PROTOCOL}{self._place()}"
            )
            raise Failed(error, passing=False, nothing_done=False)

    def _odd(self, text: str) -> Failed:
        return Failed(MalformedMemoryPayload(text + self._place()), passing=False, nothing_done=False)

    def _place(self) -> str:
        request = self.headers.get(REQUEST_HEADER, "")
        return (
            f" (status {self.status}, request {request})"
            if _REQUEST_ID.fullmatch(request)
            else f" (status {self.status})"
        )
