"""Requests on their way: connections, time limits, retries, and the order of this client's writes.

A read or an idempotent write that fails in passing is made again: an erasure, and most writes of records, whose ids the
client makes. Another write is made again only where it is certain that it did not begin: no connection came about, or
the service says so. Where it is unknown what became of a write, or it is cancelled, the epoch of this client rises, and
the service lets the next write begin only after that one has ended, and refuses it if it arrives later still (I-70).
"""

from __future__ import annotations

import asyncio
import re
import time
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from memcore.errors import (
    MalformedMemoryPayload,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)

from memcore_http.answers import Failed, Received
from memcore_http.pauses import Pauses, read_retry_after
from memcore_http.wire import CLAIMS_HEADER, NAMESPACE_HEADER, OPEN, PROTOCOL, PROTOCOL_HEADER, Opening, Ticket

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pydantic import BaseModel

    from memcore_http.settings import HttpSettings
    from memcore_http.wire import Answer, Request, Route

Model = TypeVar("Model", bound="Answer")

_NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""Where no connection came about, so that the request was not sent."""
_BROKEN_OFF: Final = re.compile("disconnected|closed connection")
"""What the HTTP client says where an answer ended too early; other breaches of HTTP are no HTTP at all."""


class Transport:
    """Everything that goes over the network for one backend; any number of tasks may use it at once."""

    def __init__(
        self,
        settings: HttpSettings,
        *,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._pause = pause
        self._clock = clock
        self._pauses = Pauses(first=settings.retry_wait, longest=settings.longest_wait)
        self._timeout = httpx.Timeout(
            connect=settings.connect_timeout,
            read=settings.read_timeout,
            write=settings.write_timeout,
            pool=settings.pool_timeout,
        )
        self._headers = {PROTOCOL_HEADER: str(PROTOCOL), "accept-encoding": "identity"}
        if settings.token is not None:
            self._headers["authorization"] = f"Bearer {settings.token.get_secret_value()}"
        if "namespace" in settings.model_fields_set:
            self._headers[NAMESPACE_HEADER] = quote(settings.namespace, safe="")
        self._client_id = uuid4()
        self._left: set[asyncio.Task[Received]] = set()
        self._epoch = 0
        self._calls = count()

    async def open(self) -> Opening:
        """Make the client and ask the service what it claims."""
        self._client: httpx.AsyncClient = self._settings.client or self._make_client()
        try:
            self._opening = await self.ask(OPEN, None, Opening)
        except BaseException:
            await self.close()
            raise
        self._headers[CLAIMS_HEADER] = self._opening.claims
        return self._opening

    async def close(self) -> None:
        """End what cancelled calls have left, and close the connections, unless the client was brought along."""
        for exchange in self._left:
            exchange.cancel()
        await asyncio.gather(*self._left, return_exceptions=True)
        if self._client is not self._settings.client:
            await self._client.aclose()

    async def ask(self, route: Route, request: Request | None, answer: type[Model], *, once: bool = False) -> Model:
        """Make a call that changes nothing; `once` forbids retries."""
        body = _encode(request)
        self._check_size(route, body)
        return await self._repeat(partial(self._attempt, route, body, answer), route, retries=0 if once else None)

    async def write(self, route: Route, make: Callable[[Ticket], Request], answer: type[Model]) -> Model:
        """Make a call that changes something; `make` returns the request for a ticket."""
        call = next(self._calls)

        async def attempt() -> Model:
            while True:
                ticket = Ticket(client=self._client_id, epoch=self._epoch, call=call)
                body = _encode(make(ticket))
                self._check_size(route, body)
                try:
                    return await self._attempt(route, body, answer)
                except BaseException as error:  # a cancellation too: the service may go on with it
                    if isinstance(error, Failed) and error.is_stale and self._epoch > ticket.epoch:
                        continue  # another task raised the epoch meanwhile
                    if not (isinstance(error, Failed) and error.nothing_done):
                        self._epoch = max(self._epoch, ticket.epoch + 1)
                    raise

        return await self._repeat(attempt, route)

    async def _repeat(
        self, attempt: Callable[[], Awaitable[Model]], route: Route, *, retries: int | None = None
    ) -> Model:
        most = self._settings.retries if retries is None else retries
        retry = 0
        while True:
            try:
                return await attempt()
            except Failed as failure:
                repeatable = failure.passing and (failure.nothing_done or route.kind != "write")
                if retry >= most or not repeatable:
                    raise failure.error from failure.__cause__ or failure
                pause = self._pauses.after(retry, asked=failure.asked)
            await self._pause(pause)
            retry += 1

    async def _attempt(self, route: Route, body: bytes | None, answer: type[Model]) -> Model:
        received = await self._send(route, body)
        asked = read_retry_after(received.headers.get("retry-after"), now=self._clock())
        return received.read(answer, asked=asked)

    async def _send(self, route: Route, body: bytes | None) -> Received:
        """Exchange in a task of its own: a cancelled call leaves it behind, and it ends by itself within the timeouts.

        The HTTP client loses a connection of its pool for good where a cancellation meets it while it takes the
        connection or gives it back; after as many as there are, no call would get through any more (I-71).
        """
        exchange = asyncio.ensure_future(self._exchange(route, body))
        try:
            return await asyncio.shield(exchange)
        except asyncio.CancelledError:
            self._left.add(exchange)
            exchange.add_done_callback(self._left.discard)
            raise

    async def _exchange(self, route: Route, body: bytes | None) -> Received:
        if self._client.is_closed:
            raise MemoryConfigurationError("the httpx client that was brought along is closed")
        headers = self._headers if body is None else {**self._headers, "content-type": "application/json"}
        url = self._settings.base_url + route.path
        try:
            request = self._client.build_request(
                route.method, url, content=body, headers=headers, timeout=self._timeout
            )
            response = await self._client.send(request, stream=True, follow_redirects=False)
            try:
                return Received(response.status_code, response.headers, await self._read(response))
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            kind, text = _classify(error)
            fault = kind(f"{text} ({type(error).__name__}; {self._settings.base_url})")
            passing = kind is MemoryAdapterUnavailable
            raise Failed(fault, passing=passing, nothing_done=isinstance(error, _NOT_SENT)) from error

    async def _read(self, response: httpx.Response) -> bytes:
        most = self._settings.max_response_bytes
        parts: list[bytes] = []
        async for part in response.aiter_bytes():
            parts.append(part)
            most -= len(part)
            if most < 0:
                text = f"the answer is over max_response_bytes, {self._settings.max_response_bytes:,}; ask for less"
                raise Failed(MalformedMemoryPayload(text), passing=False, nothing_done=False)
        return b"".join(parts)

    def _check_size(self, route: Route, body: bytes | None) -> None:
        """Refuse what the service would not take, before it is sent (I-45)."""
        if body is None or len(body) <= self._opening.max_request_bytes:
            return
        reason = f"over the service's limit of {self._opening.max_request_bytes:,} bytes in one request"
        if route.kind == "read":
            raise UnsupportedMemoryQuery(["query"], reason=reason)
        raise UnsupportedMemoryItem(field="request", reason=reason)

    def _make_client(self) -> httpx.AsyncClient:
        limits = httpx.Limits(
            max_connections=self._settings.max_connections,
            max_keepalive_connections=self._settings.max_connections,
            keepalive_expiry=self._settings.idle_lifetime,
        )
        return httpx.AsyncClient(limits=limits, timeout=self._timeout)


def _encode(request: BaseModel | None) -> bytes | None:
    return None if request is None else request.model_dump_json().encode("utf-8")


def _classify(error: Exception) -> tuple[type[MemoryAdapterError], str]:
    if isinstance(error, httpx.PoolTimeout):
        return MemoryAdapterUnavailable, "all connections are in use"
    if isinstance(error, _NOT_SENT):
        return MemoryAdapterUnavailable, "the service cannot be reached"
    if isinstance(error, httpx.TimeoutException):
        return MemoryAdapterUnavailable, "the service did not answer in time"
    if isinstance(error, httpx.RemoteProtocolError) and not _BROKEN_OFF.search(str(error)):
        return MalformedMemoryPayload, "what answers there does not speak HTTP"
    if isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError, OSError)):
        return MemoryAdapterUnavailable, "the connection to the service broke"
    return MalformedMemoryPayload, "the answer cannot be read"
