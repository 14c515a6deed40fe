"""Timing makes the calls that it says, no more and no fewer; how long they take is nobody's promise."""

from __future__ import annotations

import asyncio
from time import perf_counter, process_time

from memcore_conformance.bench.timing import FEWEST, at_once, one_by_one


async def test_one_by_one_makes_every_call_in_order() -> None:
    calls: list[int] = []

    async def call(number: int) -> None:
        calls.append(number)

    assert await one_by_one(call, range(10), clock=perf_counter, budget=60) >= 0
    assert calls == list(range(10))


async def test_a_spent_budget_ends_the_calls_after_the_fewest() -> None:
    calls: list[int] = []

    async def call(number: int) -> None:
        calls.append(number)

    await one_by_one(call, range(10), clock=process_time, budget=0)
    assert len(calls) == FEWEST


async def test_at_once_shares_the_calls_among_its_tasks() -> None:
    calls: list[int] = []
    at_work = most = 0

    async def call(number: int) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0)
        at_work -= 1
        calls.append(number)

    assert await at_once(call, range(20), tasks=4, clock=perf_counter, budget=60) >= 0
    assert sorted(calls) == list(range(20))
    assert most == 4
