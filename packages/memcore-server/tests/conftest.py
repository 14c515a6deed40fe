"""What the tests share: the service in this process or in one of its own, and a network that fails as it is told."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import httpx
import memcore
import pytest
from memcore_server.app import create_app

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
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


Mode = Literal["pass", "refuse", "hang", "cut", "reset"]


@dataclass
class Proxy:
    """A network between client and service.

    `hang` holds back what clients send, until it is healed; `cut` and `reset` end connections after `after` bytes of an
    answer, in good order or not; `refuse` ends them at once.
    """

    target: int
    mode: Mode = "pass"
    after: int = 0
    delay: float = 0
    port: int = 0
    times: int | None = None
    """How many answers are cut; all if it is none."""
    held: int = 0
    """Requests that were held back."""
    answered: int = 0
    """Parts of answers that came from the service."""
    _healed: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def fail(self, mode: Mode, *, after: int = 0, times: int | None = None) -> None:
        self.mode, self.after, self.times = mode, after, times
        self._healed.clear()

    def heal(self) -> None:
        self.mode = "pass"
        self._healed.set()

    async def wait_for_answers(self, count: int) -> None:
        async with self._news:
            await self._news.wait_for(lambda: self.answered >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            if self.mode == "refuse":
                writer.transport.abort()
                return
            back_reader, back_writer = await asyncio.open_connection("127.0.0.1", self.target)
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._there(reader, back_writer))
                    group.create_task(self._back(back_reader, writer))
            finally:
                back_writer.close()
                writer.close()

    async def _there(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry requests, also those of a client that has gone away meanwhile, as a slow network does."""
        while data := await reader.read(65536):
            await asyncio.sleep(self.delay)
            if self.mode == "refuse":
                writer.close()
                return
            if self.mode == "hang":
                self.held += 1
                await self._healed.wait()
            writer.write(data)
            await writer.drain()

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            async with self._news:
                self.answered += 1
                self._news.notify_all()
            if self.mode in {"cut", "reset"}:
                await self._end(writer, data[: self.after])
                return
            writer.write(data)
            with contextlib.suppress(OSError):
                await writer.drain()
        writer.close()

    async def _end(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(data)
        if self.mode == "reset":
            with contextlib.suppress(OSError):
                await writer.drain()
            writer.transport.abort()
        writer.close()
        if self.times is not None:
            self.times -= 1
            self.mode = self.mode if self.times else "pass"


@pytest.fixture
async def make_proxy() -> AsyncIterator[Callable[..., Any]]:
    """Put proxies before services."""
    async with contextlib.AsyncExitStack() as stack:

        async def make(target: int) -> Proxy:
            proxy = Proxy(target)
            await proxy.start()
            stack.push_async_callback(proxy.stop)
            return proxy

        yield make
