"""A network that fails as it is told: a TCP proxy between a client and a real service.

It stands in this process and serves in this event loop; what it does to bytes it does not understand.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

if TYPE_CHECKING:
    from types import TracebackType

Failure = Literal["refuse", "hang", "cut", "reset"]

_HOST: Final = "127.0.0.1"
_MOST: Final = 65536


class Proxy:
    """Carries connections to a service, which is a local port or the path of a socket, until it is told to fail.

    - `refuse` ends connections at once, and open ones at their next request.
    - `hang` accepts everything and holds back what clients send, until it is healed.
    - `cut` ends a connection after some bytes of an answer, in good order; `reset` does so without one.
    """

    def __init__(self, target: int | Path) -> None:
        self._target = target
        self._failure: Failure | None = None
        self._after = 0
        self._times: int | None = None
        self._healed = asyncio.Event()
        self._news = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self.delay = 0.0
        """Seconds that every part of a request takes."""
        self.held = 0
        """Parts of requests that were held back."""
        self.answered = 0
        """Parts of answers that came from the service."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, _HOST, 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def address(self) -> str:
        """Where clients connect: host and port."""
        return f"{_HOST}:{self.port}"

    def fail(self, failure: Failure, *, after: int = 0, times: int | None = None) -> None:
        """Fail from now on.

        Args:
            failure: how.
            after: the bytes of an answer after which it is cut or reset.
            times: how many answers are cut or reset before it heals by itself; all if `None`.
        """
        self._failure, self._after, self._times = failure, after, times
        self._healed.clear()

    def heal(self, *, releases: bool = True) -> None:
        """Carry everything again, also what was held back, unless that is to stay on its way."""
        self._failure = None
        if releases:
            self._healed.set()

    async def wait_for_answers(self, count: int) -> None:
        """Wait until the service has given that many parts of answers."""
        async with self._news:
            await self._news.wait_for(lambda: self.answered >= count)

    async def wait_for_held(self, count: int) -> None:
        """Wait until that many parts of requests were held back."""
        async with self._news:
            await self._news.wait_for(lambda: self.held >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            if self._failure == "refuse":
                writer.transport.abort()
                return
            await self._carry(reader, writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back_reader, back_writer = await self._connect()
        except OSError:
            writer.transport.abort()
            return
        there = asyncio.create_task(self._there(reader, back_writer))
        back = asyncio.create_task(self._back(back_reader, writer))
        try:
            await asyncio.gather(there, back, return_exceptions=True)
        finally:
            there.cancel()
            back.cancel()
            back_writer.close()
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._target, Path):
            return await asyncio.open_unix_connection(self._target)
        return await asyncio.open_connection(_HOST, self._target)

    async def _there(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry requests, also those of a client that has gone away meanwhile, as a slow network does."""
        while data := await reader.read(_MOST):
            await asyncio.sleep(self.delay)
            if self._failure == "refuse":
                writer.close()
                return
            if self._failure == "hang":
                async with self._news:
                    self.held += 1
                    self._news.notify_all()
                await self._healed.wait()
            writer.write(data)
            await writer.drain()

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(_MOST):
                async with self._news:
                    self.answered += 1
                    self._news.notify_all()
                if self._failure in {"cut", "reset"}:
                    await self._end(writer, data[: self._after])
                    return
                with contextlib.suppress(OSError):
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()

    async def _end(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(data)
        if self._failure == "reset":
            with contextlib.suppress(OSError):
                await writer.drain()
            writer.transport.abort()
        if self._times is not None:
            self._times -= 1
            if not self._times:
                self._failure = None
