"""Several processes on one file, and the death of one of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID

from memcore import MemoryItem, MemoryQuery
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import Popen

Connect = Callable[..., SqliteBackend]
Start = Callable[..., "Popen[str]"]

WRITER = """
    import asyncio, sys, memcore

    async def main(url, name, count):
        async with memcore.connect(url) as backend:
            async def store(numbers):
                for number in numbers:
                    item = memcore.MemoryItem(content=f"{name} {number}", tags=[name], metadata={"n": number})
                    await backend.items.store(item)
                    print(item.id, flush=True)
            numbers = iter(range(count))
            await asyncio.gather(*(store(numbers) for _ in range(8)))

    asyncio.run(main(f"sqlite:///{sys.argv[1]}", sys.argv[2], int(sys.argv[3])))
"""


async def test_nothing_acknowledged_is_lost_to_a_kill(connect: Connect, start: Start, path: Path) -> None:
    child = start(WRITER, path, "victim", 1_000_000)
    assert child.stdout
    acknowledged = [UUID(child.stdout.readline().strip()) for _ in range(300)]
    child.kill()
    acknowledged += [UUID(line.strip()) for line in child.stdout if len(line) == len(f"{acknowledged[0]}\n")]
    backend = connect()
    found = await asyncio.gather(*map(backend.items.retrieve, acknowledged))
    assert None not in found
    report = await backend.check(repair=False)
    assert report.faults == ()
    assert report.checked >= len(acknowledged)


async def test_four_processes_write_at_once_and_lose_nothing(connect: Connect, start: Start, path: Path) -> None:
    children = [start(WRITER, path, f"writer{number}", 500) for number in range(4)]
    outputs = [await asyncio.to_thread(child.communicate) for child in children]
    assert [(child.returncode, errors) for child, (_, errors) in zip(children, outputs, strict=True)] == [(0, "")] * 4
    stored = {UUID(line) for output, _ in outputs for line in output.split()}
    backend = connect()
    assert {item.id for item in (await backend.items.scan(limit=3_000)).items} == stored
    assert len(stored) == 2_000
    for number in range(4):
        assert len(await backend.items.search(MemoryQuery(text=f"writer{number}", limit=999))) == 500


async def test_ten_processes_open_a_new_file_at_once(connect: Connect, start: Start, path: Path) -> None:
    program = """
        import asyncio, sys, time, memcore

        async def main():
            async with memcore.connect(f"sqlite:///{sys.argv[1]}", namespace=sys.argv[3]) as backend:
                await backend.items.store(memcore.MemoryItem())

        memcore.connect("sqlite://")  # everything is loaded
        time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
        asyncio.run(main())
    """
    children = [start(program, path, time.time() + 3, f"team{number % 5}") for number in range(10)]
    outputs = [await asyncio.to_thread(child.communicate) for child in children]
    assert [(child.returncode, *output) for child, output in zip(children, outputs, strict=True)] == [(0, "", "")] * 10
    for number in range(5):
        assert await connect(namespace=f"team{number}").items.count() == 2


async def test_what_another_process_stores_is_seen_at_once(connect: Connect, start: Start, path: Path) -> None:
    backend = connect()
    await backend.items.store(MemoryItem(content="ours"))
    child = start(WRITER, path, "theirs", 20)
    assert child.stdout
    for line in child.stdout:
        assert await backend.items.retrieve(UUID(line.strip())) is not None
    assert len(await backend.items.search(MemoryQuery(text="theirs"))) == 20
