"""What the service itself refuses, and how every error becomes an answer: typed, without trace, content or secret."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memcore.errors import MemcoreError
from memcore_http.wire_errors import ErrorBody

if TYPE_CHECKING:
    from memcore_http.wire_errors import ErrorCode

_FRAMES: Final = 3
_HEADERS: Final[dict[ErrorCode, dict[str, str]]] = {
    "busy": {"retry-after": "1"},
    "unauthenticated": {"www-authenticate": "Bearer"},
}


class Refused(Exception):
    """The service refuses a request for a reason of its own."""

    def __init__(self, code: ErrorCode, message: str | None = None, *, allow: str | None = None) -> None:
        super().__init__(code)
        self.body = ErrorBody.stating(code, message)
        self.headers = {"allow": allow} if allow else _HEADERS.get(code, {})


def answer_to(error: Exception) -> ErrorBody:
    """Return the body that tells the client what went wrong."""
    if isinstance(error, Refused):
        return error.body
    if isinstance(error, TimeoutError):
        return ErrorBody.stating("unavailable", "the memory service did not finish in time")
    if isinstance(error, MemcoreError):
        return ErrorBody.of(error)
    return ErrorBody.stating("failed")


def explanation(error: Exception, body: ErrorBody) -> str | None:
    """Return what the log says besides the code: why the service failed, or nothing where the client did.

    The message of an error of memcore holds neither content nor secret; of any other, only its type and place are told.
    """
    if body.status < 500:  # noqa: PLR2004 - where faults of the service begin
        return None
    if isinstance(error, MemcoreError):
        return f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return f"{type(error).__name__} at " + " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))
