"""Records under several processes, the death of one of them, and any time zone."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID

import memcore
import pytest
from memcore import MemoryWrite
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import Popen

Connect = Callable[..., SqliteBackend]
Start = Callable[..., "Popen[str]"]

PROCESSES = 8
CHAINS = 200

SUPERSEDER = """
    import asyncio, json, sys, time, memcore
    from uuid import UUID

    async def main(url, start, count):
        won, heads = [], {}
        async with memcore.connect(url) as backend:
            await backend.records.count()
            await asyncio.sleep(max(0.0, start - time.time()))
            for number in range(1, count + 1):
                write = memcore.MemoryWrite(content=f"{number} anew", supersedes=[UUID(int=number)])
                try:
                    await backend.records.write([write])
                    won.append(number)
                except memcore.MemoryConflict as conflict:
                    heads[number] = str(conflict.current.id)
        print(json.dumps([won, heads]))

    asyncio.run(main(f"sqlite:///{sys.argv[1]}", float(sys.argv[2]), int(sys.argv[3])))
"""

EXTENDER = """
    import asyncio, sys, memcore
    from uuid import UUID

    async def main(url):
        async with memcore.connect(url) as backend:
            async def extend(number):
                head = UUID(int=number)
                while True:
                    write = memcore.MemoryWrite(content=f"chain {number}", scope={"n": str(number)}, supersedes=[head])
                    await backend.records.write([write])
                    print(head, write.id, flush=True)
                    head = write.id
            await asyncio.gather(*(extend(number) for number in range(1, 9)))

    asyncio.run(main(f"sqlite:///{sys.argv[1]}"))
"""

TELLER = """
    import asyncio, sys, memcore
    from datetime import UTC, datetime
    from memcore.records.clock import StillClock

    async def main(url, hour):
        clock = StillClock(datetime(2026, 3, 29, int(hour), 30, tzinfo=UTC))  # clocks change in Europe that night
        async with memcore.connect(url, clock=clock) as backend:
            head = await backend.records.search(memcore.RecordQuery())
            supersedes = [hit.record.id for hit in head]
            await backend.records.write([memcore.MemoryWrite(content="tea", supersedes=supersedes)])
            for record in (await backend.records.scan()).records:
                print(record.created_at.isoformat(), record.invalid_at and record.invalid_at.isoformat())
            as_of = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
            print(len(await backend.records.search(memcore.RecordQuery(as_of=as_of))))

    asyncio.run(main(f"sqlite:///{sys.argv[1]}", sys.argv[2]))
"""


async def test_eight_processes_that_supersede_the_same_records_leave_no_fork(
    connect: Connect, start: Start, path: Path
) -> None:
    backend = connect()
    await backend.records.write([MemoryWrite(id=UUID(int=n), content=f"{n}") for n in range(1, CHAINS + 1)])
    children = [start(SUPERSEDER, path, time.time() + 4, CHAINS) for _ in range(PROCESSES)]
    outputs = [await asyncio.to_thread(child.communicate) for child in children]
    assert [(child.returncode, errors) for child, (_, errors) in zip(children, outputs, strict=True)] == [(0, "")] * 8
    told = [json.loads(output) for output, _ in outputs]
    assert Counter(number for won, _ in told for number in won) == Counter(range(1, CHAINS + 1))
    assert await backend.records.count() == 2 * CHAINS
    for number in range(1, CHAINS + 1):
        first, head = await backend.records.history(UUID(int=number))
        assert (first.superseded_by, first.invalid_at, head.invalid_at) == (head.id, head.created_at, None)
        assert {heads[str(number)] for _, heads in told if str(number) in heads} == {str(head.id)}
    assert (await backend.check(repair=False)).faults == ()


async def test_nothing_acknowledged_is_lost_to_a_kill_and_no_link_is_half_made(
    connect: Connect, start: Start, path: Path
) -> None:
    backend = connect()
    await backend.records.write([MemoryWrite(id=UUID(int=n), content="chain") for n in range(1, 9)])
    child = start(EXTENDER, path)
    assert child.stdout
    lines = [child.stdout.readline() for _ in range(300)]
    child.kill()
    lines += child.stdout.readlines()
    pairs = [tuple(map(UUID, line.split())) for line in lines if line.endswith("\n")]
    for old, new in pairs:
        record = await backend.records.get(old)
        assert record is not None
        assert record.superseded_by == new
        assert await backend.records.get(new) is not None
    for number in range(1, 9):
        chain = await backend.records.history(UUID(int=number))
        assert [record.superseded_by for record in chain] == [*(record.id for record in chain[1:]), None]
        assert [record.invalid_at for record in chain] == [*(record.created_at for record in chain[1:]), None]
    assert (await backend.check(repair=False)).faults == ()


@pytest.mark.parametrize("zones", [["UTC"] * 3, ["Europe/Berlin", "America/Los_Angeles", "Asia/Kathmandu"]], ids=str)
def test_times_are_the_same_under_any_time_zone(
    run: Callable[..., str], path: Path, monkeypatch: pytest.MonkeyPatch, zones: list[str]
) -> None:
    outputs = []
    for hour, zone in enumerate(zones):
        monkeypatch.setitem(os.environ, "TZ", zone)
        outputs.append(run(TELLER, path, hour))
    times = [f"2026-03-29T0{hour}:30:00+00:00" for hour in range(3)]
    ends = [*times[1:], None]
    lines = [f"{begin} {end}" for begin, end in zip(times, ends, strict=True)]
    assert sorted(outputs[-1].split("\n")[:3]) == lines
    assert outputs[-1].split("\n")[3] == "1"


def test_two_processes_with_the_same_id_write_one_record(run: Callable[..., str], path: Path) -> None:
    program = """
        import asyncio, sys, memcore
        from uuid import UUID

        async def main(url):
            async with memcore.connect(url) as backend:
                (record,) = await backend.records.write([memcore.MemoryWrite(id=UUID(int=1), content="tea")])
                print(record.created_at.isoformat(), await backend.records.count())

        asyncio.run(main(f"sqlite:///{sys.argv[1]}"))
    """
    assert run(program, path) == run(program, path)


async def test_a_time_of_the_system_lies_between_two_looks_at_its_clock() -> None:
    async with memcore.connect("sqlite://") as backend:
        before = time.time_ns() // 1_000
        (record,) = await backend.records.write([MemoryWrite(content="tea")])
        after = time.time_ns() // 1_000
    assert before <= round(record.created_at.timestamp() * 1_000_000) <= after
