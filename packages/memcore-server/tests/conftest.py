"""What the tests share: the service in this process or in one of its own, and a network that fails as it is told."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import memcore
import pytest
from memcore_conformance.proxy import Proxy
from memcore_server.app import create_app

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

    from memcore import Backend

SECONDS = 60
LISTENING = re.compile(r"serving .* at (http://[^\s;]+)(; WARNING)?")


@dataclass
class Service:
    """The service in this process, without a network."""

    app: Any
    log: list[dict[str, Any]]
    client: httpx.AsyncClient

    def connect(self, **settings: Any) -> Backend:
        return memcore.connect("http://localhost", **{"client": self.client, "retries": 0, **settings})

    async def request(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        return await self.client.request(method, "http://localhost" + path, **arguments)


@pytest.fixture
async def make_service() -> AsyncIterator[Callable[..., Service]]:
    """Make services over `memory://`, or over what `connect` makes of a namespace, closed at the end."""
    async with contextlib.AsyncExitStack() as stack:

        def make(connect: Callable[[str], Backend] | None = None, **options: Any) -> Service:
            log: list[dict[str, Any]] = []
            app = create_app(
                connect or (lambda name: memcore.connect("memory://", namespace=name)), log=log.append, **options
            )
            client = httpx.AsyncClient(transport=httpx.ASGITransport(app))
            stack.push_async_callback(app.state.backends.close)
            stack.push_async_callback(client.aclose)
            return Service(app, log, client)

        yield make


@pytest.fixture
def service(make_service: Callable[..., Service]) -> Service:
    return make_service()


@dataclass
class Process:
    """`memcore serve` in a process of its own."""

    url: str
    child: subprocess.Popen[str]
    output: Path
    warns: bool

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        self.child.kill()
        self.child.wait(SECONDS)

    def end(self) -> tuple[str, str]:
        """Tell it to end, and return what it wrote to stdout, and to stderr after its first line."""
        self.child.terminate()
        _, errors = self.child.communicate(timeout=SECONDS)
        return self.output.read_text(), errors


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start services on a free port (or on a given one); they are killed and reaped at the end."""
    children: list[subprocess.Popen[str]] = []

    def start(url: str, *options: str, port: int = 0, **environment: str) -> Process:
        command = [sys.executable, "-m", "memcore_cli", "serve", url, "--port", str(port), *options]
        variables = {name: value for name, value in os.environ.items() if not name.startswith("MEMCORE_")}
        output = tmp_path / f"stdout-{len(children)}"
        with output.open("w") as file:  # nobody reads a pipe meanwhile
            child = subprocess.Popen(
                command, stdout=file, stderr=subprocess.PIPE, text=True, env=variables | environment
            )
        children.append(child)
        assert child.stderr
        line = child.stderr.readline()
        match = LISTENING.search(line)
        assert match, line + child.stderr.read()
        return Process(match[1], child, output, match[2] is not None)

    yield start
    for child in children:
        child.kill()
        child.communicate()


@pytest.fixture
async def make_proxy() -> AsyncIterator[Callable[[int], Awaitable[Proxy]]]:
    """Put proxies before services."""
    async with contextlib.AsyncExitStack() as stack:

        async def make(target: int) -> Proxy:
            return await stack.enter_async_context(Proxy(target))

        yield make
