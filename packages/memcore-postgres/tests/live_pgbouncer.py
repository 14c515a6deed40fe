"""Everything works behind a real pgbouncer in transaction mode, old enough not to follow prepared statements.

Run by naming it, since it needs pgbouncer: `pytest packages/memcore-postgres/tests/live_pgbouncer.py`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any

import memcore
import pytest
from memcore import MemcoreError, MemoryItem, MemoryQuery, MemoryWrite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Server, Store

SETUP = """
[databases]
* = host={socket} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_prepared_statements = 0
default_pool_size = 3
"""


@pytest.fixture(scope="session")
def bouncer(server: Server) -> Iterator[str]:
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "pgbouncer is not installed (Debian: apt-get install pgbouncer)"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configuration = server.data.parent / "pgbouncer.ini"
    configuration.write_text(_setup(program, server.socket, port))
    user = "pgserver" if os.geteuid() == 0 else None  # it refuses to be root; the server has made that user
    process = subprocess.Popen([program, "-q", str(configuration)], user=user)
    _wait(port)
    yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    process.terminate()
    process.wait()


def _setup(program: str, folder: Path, port: int) -> str:
    text = SETUP.format(socket=folder, port=port)
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    knows = tuple(map(int, version.split(".")[:2])) >= (1, 21)
    return text if knows else text.replace("max_prepared_statements = 0\n", "")


def _wait(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("pgbouncer does not answer")


async def use(url: str, number: int) -> None:
    async with memcore.connect(url, namespace=f"client {number}") as backend:
        items = [MemoryItem(content=f"tea {n}", tags=["t"], metadata={"n": n}) for n in range(100)]
        await asyncio.gather(*(backend.items.store(item) for item in items))
        await backend.items.store_many([MemoryItem(content=f"coffee {n}") for n in range(600)])
        found = await asyncio.gather(
            *(backend.items.search(MemoryQuery(text="tea", tags=["t"], limit=5)) for _ in items)
        )
        assert {len(hits) for hits in found} == {5}
        assert await asyncio.gather(*(backend.items.retrieve(item.id) for item in items)) == items
        cancelled = asyncio.ensure_future(backend.items.search(MemoryQuery(text="coffee")))
        await asyncio.sleep(0.001)
        cancelled.cancel()
        assert await backend.items.delete_where({"n": 7}) == 1
        assert await backend.items.count() == 699
        await use_records(backend.records)


async def use_records(records: Any) -> None:
    old = [MemoryWrite(content=f"tea {n}", scope={"n": str(n)}) for n in range(60)]
    await asyncio.gather(*(records.write([write]) for write in old))
    new = [MemoryWrite(content="coffee", supersedes=(write.id,)) for write in old]
    await asyncio.gather(*(records.write([write]) for write in new), *(records.touch([write.id]) for write in old))
    assert [len(await records.history(write.id)) for write in new] == [2] * 60
    assert await records.delete(old[0].id)
    assert await records.delete_where({"n": "7"}) == 1
    assert await records.count() == 118


async def test_many_clients_share_few_sessions(bouncer: str, store: Store) -> None:
    url = f"{bouncer}?schema={store.schema}&statement_cache_size=0"
    await asyncio.gather(*(use(url, number) for number in range(12)))
    async with memcore.connect(url) as backend:
        assert (await backend.check()).faults == ()
        await backend.purge()


async def test_without_the_setting_every_error_points_to_it(bouncer: str, store: Store) -> None:
    url = f"{bouncer}?schema={store.schema}"
    results = await asyncio.gather(*(use(url, number) for number in range(6)), return_exceptions=True)
    errors = [result for result in results if isinstance(result, MemcoreError)]
    assert errors
    assert all("statement_cache_size=0" in str(error) for error in errors)
