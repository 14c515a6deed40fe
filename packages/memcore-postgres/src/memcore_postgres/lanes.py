"""`Lane`: jobs that wait at the same time are done together, outside of their callers' tasks."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    import asyncpg

J = TypeVar("J")
R = TypeVar("R")

LARGEST_GROUP: Final = 256
"""Jobs that are done together at most; more would only make the first of them wait."""


class Lane(Generic[J, R]):
    """Gives the jobs that wait to `work`, in groups and in the order of their calls.

    A caller that is cancelled takes nobody's job with it, and its own only if that has not started.

    Args:
        connect: lends a connection.
        work: does a group of jobs over a connection and returns a result for each; an exception among the results
            fails its job alone.
        workers: how many groups may be under way at once.
        kind: tells with what a job may share a group: with those of an equal kind; one of no kind is done by itself.
    """

    def __init__(
        self,
        connect: Callable[[], AbstractAsyncContextManager[asyncpg.Connection]],
        work: Callable[[asyncpg.Connection, list[J]], Awaitable[Sequence[R | Exception]]],
        *,
        workers: int = 1,
        kind: Callable[[J], object] = lambda _job: True,
    ) -> None:
        self._connect = connect
        self._work = work
        self._limit = workers
        self._kind = kind
        self._waiting: deque[tuple[J, asyncio.Future[R]]] = deque()
        self._workers: set[asyncio.Task[None]] = set()

    async def submit(self, job: J) -> R:
        """Queue a job and return its result."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        if len(self._workers) < self._limit:
            self._workers.add(asyncio.create_task(self._work_off()))
        return await future

    async def drain(self) -> None:
        """Wait until no job waits or runs."""
        while self._workers:
            await asyncio.wait(self._workers)

    async def _work_off(self) -> None:
        try:
            while group := self._take():
                await self._serve(group)
        finally:  # at once, not when the loop calls back: a caller that was just answered may submit the next job
            self._workers.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _serve(self, group: list[tuple[J, asyncio.Future[R]]]) -> None:
        """Do this group and those that come in the meantime by one connection, until one fails."""
        try:
            async with self._connect() as connection:
                while group:
                    results = await self._work(connection, [job for job, _ in group])
                    for (_, future), result in zip(group, results, strict=True):
                        _settle(future, result)
                    await asyncio.sleep(0)  # who was just answered may ask for more: no need to get a connection again
                    group = self._take()
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to the callers
            for _, future in group:
                _settle(future, error)

    def _take(self) -> list[tuple[J, asyncio.Future[R]]]:
        group: list[tuple[J, asyncio.Future[R]]] = []
        while self._waiting and len(group) < LARGEST_GROUP:
            job, future = self._waiting[0]
            if group and (self._kind(job) is None or self._kind(job) != self._kind(group[0][0])):
                break
            self._waiting.popleft()
            if not future.done():
                group.append((job, future))
        return group


def _settle(future: asyncio.Future[R], result: R | Exception) -> None:
    if future.done():
        return  # its caller was cancelled, or it was answered before the connection broke
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
