"""What stands before every route: who asks, how much, how long, how many at once; and one line of log for each request.

A request is read as a whole before anything is done, so that one that is cut off never begins. Whatever goes wrong
behind the gate becomes a typed answer here, and nothing else leaves it.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from memcore_http.wire import PROTOCOL, PROTOCOL_HEADER, REQUEST_HEADER
from starlette.datastructures import Headers

from memcore_server.faults import Refused, answer_to, explanation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memcore_http.wire_errors import ErrorBody
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memcore_server.limits import ServiceLimits
    from memcore_server.tokens import Token, Tokens

OPEN_PATHS: Final = frozenset({"/health", "/ready", "/openapi.json"})
"""Where no token is needed."""
_ALWAYS_ANSWERED: Final = frozenset({"/health", "/openapi.json"})


class Gate:
    """An ASGI middleware."""

    def __init__(
        self, app: ASGIApp, *, tokens: Tokens | None, limits: ServiceLimits, log: Callable[[dict[str, Any]], None]
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._limits = limits
        self._log = log
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        try:
            await self._admit(exchange)
        except _Gone:
            exchange.code = "gone"
        except Exception as error:  # noqa: BLE001 - every error becomes an answer
            body = answer_to(error)
            exchange.reason = explanation(error, body)
            await exchange.refuse(body, error.headers if isinstance(error, Refused) else {})
        except asyncio.CancelledError:
            exchange.code = "cancelled"
            raise
        finally:
            self._log(exchange.line())

    async def _admit(self, exchange: _Exchange) -> None:
        path = exchange.scope["path"]
        if path in _ALWAYS_ANSWERED:
            await self._app(exchange.scope, exchange.receive, exchange.send)
            return
        if path not in OPEN_PATHS:
            exchange.state["token"] = self._authenticate(exchange.headers)
        if self._running >= self._limits.requests:
            raise Refused("busy")
        self._running += 1
        try:
            async with asyncio.timeout(self._limits.request_seconds):
                await exchange.read_body(most=self._limits.request_bytes)
                await self._app(exchange.scope, exchange.receive, exchange.send)
        finally:
            self._running -= 1

    def _authenticate(self, headers: Headers) -> Token | None:
        if self._tokens is None:
            if not _is_local(headers.get("host", "")):  # a web page whose name was made to point here
                raise Refused("forbidden", "without tokens the memory service answers local names alone")
            return None
        token = self._tokens.find(headers.get("authorization"))
        if token is None:
            raise Refused("unauthenticated")
        return token


class _Gone(Exception):
    """The client went away before its request had arrived."""


class _Exchange:
    """One request and its answer, as far as they have come."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.state: dict[str, Any] = scope.setdefault("state", {})
        self.headers = Headers(scope=scope)
        self.code: str | None = None
        self.reason: str | None = None
        self._receive = receive
        self._send = send
        self._started = time.perf_counter()
        self._id = uuid4().hex
        self._status: int | None = None
        self._body: bytes | None = None
        self._received = self._sent = 0

    async def read_body(self, *, most: int) -> None:
        """Read the request to its end.

        Raises:
            Refused: it is longer than `most`, as it says or as it turns out.
            _Gone: the client went away.
        """
        announced = self.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > most:
            raise Refused("too_large")
        body = bytearray()
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body += message.get("body", b"")
            self._received = len(body)
            if len(body) > most:
                raise Refused("too_large")
            if not message.get("more_body", False):
                break
        self._body = bytes(body)

    async def receive(self) -> Message:
        """Give the body that was read, once."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on, and count it."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            own = [(PROTOCOL_HEADER, str(PROTOCOL)), (REQUEST_HEADER, self._id)]
            headers = [*message.get("headers", ()), *((name.encode(), value.encode()) for name, value in own)]
            message = {**message, "headers": headers}
        else:
            self._sent += len(message.get("body", b""))
        await self._send(message)

    async def refuse(self, body: ErrorBody, headers: Mapping[str, str]) -> None:
        """Answer with an error, unless an answer is on its way already."""
        self.code = body.code
        if self._status is not None:
            raise RuntimeError(body.code)  # makes the server cut the connection: half an answer is none
        encoded = body.model_copy(update={"request": self._id}).encode()
        own = {"content-type": "application/json", "content-length": str(len(encoded))}
        raw = [(name.encode(), value.encode()) for name, value in (own | dict(headers)).items()]
        await self.send({"type": "http.response.start", "status": body.status, "headers": raw})
        await self.send({"type": "http.response.body", "body": encoded})

    def line(self) -> dict[str, Any]:
        """Return what the log says: neither content nor query nor token, and no path but that of a route."""
        return {
            "request": self._id,
            "method": self.scope["method"],
            "route": getattr(self.scope.get("route"), "path", None),
            "status": self._status,
            "seconds": round(time.perf_counter() - self._started, 6),
            "bytes_in": self._received,
            "bytes_out": self._sent,
            "namespace": self.state.get("namespace"),
            "error": self.code,
            "reason": self.reason,
        }


def _is_local(host: str) -> bool:
    with suppress(ValueError):
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    return False
