"""How long calls take: one after the other, or many tasks at once, within a budget of time.

A clock is `perf_counter`, or `process_time` where other processes keep the machine busy: it counts what the processor
does for this process in all its threads, and no waiting.
"""

from __future__ import annotations

import asyncio
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    Clock = Callable[[], float]

T = TypeVar("T")

CLOCKS: Final[Mapping[str, Clock]] = {"wall": perf_counter, "processor": process_time}

FEWEST: Final = 3
"""So many calls are made however long they take."""


async def one_by_one(
    call: Callable[[T], Awaitable[object]], arguments: Iterable[T], *, clock: Clock, budget: float
) -> float:
    """Return the median seconds of a call; no more calls are made when the budget is spent."""
    durations: list[float] = []
    begun = clock()
    for argument in arguments:
        started = clock()
        await call(argument)
        ended = clock()
        durations.append(ended - started)
        if ended - begun > budget and len(durations) >= FEWEST:
            break
    return median(durations)


async def at_once(
    call: Callable[[T], Awaitable[object]],
    arguments: Iterable[T],
    *,
    tasks: int,
    clock: Clock,
    budget: float,
) -> float:
    """Return the seconds that pass for each call while so many tasks share the calls among them."""
    waiting = iter(arguments)
    done = 0
    begun = clock()

    async def work() -> None:
        nonlocal done
        for argument in waiting:
            await call(argument)
            done += 1
            if clock() - begun > budget:
                return

    await asyncio.gather(*(work() for _ in range(tasks)))
    return (clock() - begun) / done
