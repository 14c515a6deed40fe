"""Several processes that write into one store at once: how fast, how many refused, how many lost.

Run as a module, it is one such process: it reads its order from the first line of standard input, says that it is
ready, waits for a second line, writes, and prints its report.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from memcore_conformance.bench.candidates import Candidate
from memcore_conformance.bench.place import Place
from memcore_conformance.bench.workload import make_items

if TYPE_CHECKING:
    from memcore_conformance.bench.workload import Item

PROCESSES: Final = 4


@dataclass(frozen=True, slots=True)
class Order:
    """What one process shall write, and how many tasks share the work."""

    candidate: Candidate
    place: Place
    seed: int
    items: int
    tasks: int

    @classmethod
    def read(cls, text: str) -> Order:
        """Return the order that `write` gave."""
        fields = json.loads(text)
        place = Place(Path(fields["place"]["folder"]), fields["place"]["namespace"])
        return cls(Candidate(**fields["candidate"]), place, fields["seed"], fields["items"], fields["tasks"])

    def write(self) -> str:
        """Return the order as one line."""
        return json.dumps(asdict(self), default=str)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of all processes together."""

    seconds: float
    """From the common start until the last was done."""
    written: int
    """Items that were acknowledged."""
    errors: tuple[str, ...]
    """Why the others were not, one by one."""
    lost: int
    """Items that were acknowledged, and are not there."""


async def write_at_once(
    candidate: Candidate, place: Place, *, seed: int, items: int, tasks: int, processes: int = PROCESSES
) -> Outcome:
    """Let processes write at the same time, each items of its own, and look afterwards for what they acknowledged."""
    orders = [Order(candidate, place, seed + number, items, tasks) for number in range(processes)]
    seconds, reports = _carry_out(orders)
    failed = [{int(number): error for number, error in report.items()} for report in reports]
    acknowledged = [
        item
        for order, failures in zip(orders, failed, strict=True)
        for number, item in enumerate(make_items(items, seed=order.seed))
        if number not in failures
    ]
    errors = tuple(sorted(error for failures in failed for error in failures.values()))
    return Outcome(seconds, len(acknowledged), errors, await _count_lost(candidate, place, acknowledged))


def _carry_out(orders: list[Order]) -> tuple[float, list[dict[str, str]]]:
    command = [sys.executable, "-P", "-m", __name__]
    with ExitStack() as running:
        children = [
            running.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))  # noqa: S603
            for _ in orders
        ]
        talks = [(child.stdin, child.stdout) for child in children if child.stdin and child.stdout]
        for (to, _), order in zip(talks, orders, strict=True):
            print(order.write(), file=to, flush=True)
        for _, answers in talks:
            answers.readline()
        started = perf_counter()
        for to, _ in talks:
            print("go", file=to, flush=True)
        reports = [json.loads(answers.readline()) for _, answers in talks]
        return perf_counter() - started, reports


async def _count_lost(candidate: Candidate, place: Place, acknowledged: list[Item]) -> int:
    driver = candidate.driver(place)
    await driver.open()
    try:
        return sum([await driver.get(item.id) is None for item in acknowledged])
    finally:
        await driver.close()


async def _write(order: Order) -> dict[int, str]:
    """Write and return which items failed with what; the caller is told when it can begin."""
    driver = order.candidate.driver(order.place)
    waiting = iter(enumerate(make_items(order.items, seed=order.seed)))
    failures: dict[int, str] = {}

    async def work() -> None:
        for number, item in waiting:
            try:
                await driver.put(item)
            except Exception as error:  # noqa: BLE001 - every kind is counted
                failures[number] = f"{type(error).__name__}: {error}"

    await driver.open()
    try:
        _say("ready")
        sys.stdin.readline()
        await asyncio.gather(*(work() for _ in range(order.tasks)))
        _say(json.dumps(failures))
    finally:
        await driver.close()
    return failures


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_write(Order.read(sys.stdin.readline())))
