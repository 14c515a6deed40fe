"""How long calls take: one after the other, or many tasks at once, within a budget of time."""

from __future__ import annotations

import asyncio
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

T = TypeVar("T")

FEWEST: Final = 3
"""So many calls are made however long they take."""


async def one_by_one(call: Callable[[T], Awaitable[object]], arguments: Iterable[T], *, budget: float) -> float:
    """Return the median seconds of a call; no more calls are made when the budget is spent."""
    durations: list[float] = []
    begun = perf_counter()
    for argument in arguments:
        started = perf_counter()
        await call(argument)
        ended = perf_counter()
        durations.append(ended - started)
        if ended - begun > budget and len(durations) >= FEWEST:
            break
    return median(durations)


async def at_once(
    call: Callable[[T], Awaitable[object]], arguments: Iterable[T], *, tasks: int, budget: float
) -> float:
    """Return the seconds that pass for each call while so many tasks share the calls among them."""
    waiting = iter(arguments)
    done = 0
    begun = perf_counter()

    async def work() -> None:
        nonlocal done
        for argument in waiting:
            await call(argument)
            done += 1
            if perf_counter() - begun > budget:
                return

    await asyncio.gather(*(work() for _ in range(tasks)))
    return (perf_counter() - begun) / done
