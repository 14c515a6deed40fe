"""What the tests share: a service that answers as it is told, and a client of it that waits for nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import memcore
import pytest
import respx
from memcore_http.backend import HttpBackend
from memcore_http.settings import HttpSettings
from memcore_http.transport import Transport
from memcore_http.wire import PROTOCOL_HEADER, Opening, Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

URL = "http://service.example/memory"
TOKEN = "mk-live-hunter2"
HEADERS = {PROTOCOL_HEADER: "1"}
NOW = 1_800_000_000.0


class Service:
    """A service made of prepared answers, and a record of what was asked."""

    url = URL
    token = TOKEN
    now = NOW

    def __init__(self, opening: Opening) -> None:
        self.router = respx.MockRouter(assert_all_called=False)
        self.opening = opening
        self.pauses: list[float] = []
        self.router.get(URL + "/v1").mock(return_value=self.answer(opening))

    def answers(self, route: Route, *answers: Any) -> respx.Route:
        """Answer the calls of a route in turn, by responses, errors or functions; the last one stays."""
        queue = list(answers)

        def reply(request: httpx.Request) -> httpx.Response:
            answer = queue.pop(0) if len(queue) > 1 else queue[0]
            if isinstance(answer, BaseException):
                raise answer
            return answer(request) if callable(answer) else answer

        return self.router.request(route.method, URL + route.path).mock(side_effect=reply)

    def answer(self, message: Any, status: int = 200, **headers: str) -> httpx.Response:
        data = message if isinstance(message, dict) else message.model_dump(mode="json")
        return httpx.Response(status, json=data, headers={**HEADERS, **headers})

    @staticmethod
    def tickets(route: respx.Route) -> list[tuple[int, int]]:
        """Return the epoch and the call number of every request of a route."""
        found = [json.loads(call.request.content)["ticket"] for call in route.calls]
        return [(ticket["epoch"], ticket["call"]) for ticket in found]


@pytest.fixture
async def service() -> Service:
    async with memcore.connect("memory://") as backend:
        records = backend.records.capabilities()
        return Service(
            Opening.of("default", backend.items.manifest, backend.capabilities, records, max_request_bytes=1_000_000)
        )


@pytest.fixture
async def connect(service: Service) -> AsyncIterator[Callable[..., HttpBackend]]:
    """Make clients of the service, closed at the end."""
    client = httpx.AsyncClient(transport=httpx.MockTransport(service.router.async_handler))
    backends = []

    async def pause(seconds: float) -> None:
        service.pauses.append(seconds)

    def make(**keywords: Any) -> HttpBackend:
        settings = HttpSettings(**{"base_url": URL, "token": TOKEN, "client": client, **keywords})
        backends.append(HttpBackend(settings, transport=Transport(settings, pause=pause, clock=lambda: NOW)))
        return backends[-1]

    yield make
    for backend in backends:
        await backend.close()
    await client.aclose()


@pytest.fixture
async def backend(connect: Callable[..., HttpBackend]) -> HttpBackend:
    backend = connect()
    await backend.open()
    return backend
