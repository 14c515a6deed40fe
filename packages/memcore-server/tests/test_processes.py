"""The service in a process of its own: what it acknowledged is stored, however it ends, and it starts safely or not."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import memcore
import pytest
from memcore import MemoryAdapterError, MemoryAdapterUnavailable, MemoryItem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from uuid import UUID

    from conftest import Process

SECONDS = 60
TOKEN = "writer-of-team-a-1"
TOKENS = json.dumps([{"token": TOKEN, "namespace": "a", "access": "write"}])


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/memory.db"


class Writers:
    """Tasks that store and erase items until the service fails them, and what was acknowledged to them."""

    def __init__(self, url: str, *, clients: int = 3, tasks: int = 4) -> None:
        self._url = url
        self._clients = clients
        self._tasks = tasks
        self.stored: set[UUID] = set()
        self.erased: set[UUID] = set()
        self.errors: list[Exception] = []
        self.is_busy = asyncio.Event()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._clients):
                group.create_task(self._client())

    async def _client(self) -> None:
        async with memcore.connect(self._url, retries=0) as backend:
            await asyncio.gather(*(self._write(backend.items) for _ in range(self._tasks)))

    async def _write(self, items: Any) -> None:
        try:
            while True:
                kept, gone = MemoryItem(content="kept"), MemoryItem(content="gone")
                await items.store_many([kept, gone])
                self.stored.add(kept.id)
                await items.delete(gone.id)
                self.erased.add(gone.id)
                if len(self.stored) >= 60:
                    self.is_busy.set()
        except Exception as error:  # noqa: BLE001 - the test looks at what it is
            self.errors.append(error)
            self.is_busy.set()

    async def assert_kept(self, url: str) -> None:
        async with memcore.connect(url) as backend:
            page = await backend.items.scan(limit=100_000)  # type: ignore[attr-defined]
        found = {item.id for item in page.items}
        assert len(self.stored) >= 60
        assert self.stored <= found
        assert not self.erased & found
        assert {type(error) for error in self.errors} == {MemoryAdapterUnavailable}


async def test_killing_the_service_amid_writes_loses_none_that_was_acknowledged(
    serve: Callable[..., Process], url: str
) -> None:
    process = serve(url)
    writers = Writers(process.url)
    writing = asyncio.ensure_future(writers.run())
    await writers.is_busy.wait()
    process.kill()
    await writing
    await writers.assert_kept(url)


async def test_a_service_that_is_told_to_end_finishes_what_is_under_way(
    serve: Callable[..., Process], url: str
) -> None:
    process = serve(url)
    writers = Writers(process.url)
    writing = asyncio.ensure_future(writers.run())
    await writers.is_busy.wait()
    output, errors = await asyncio.to_thread(process.end)
    await writing
    await writers.assert_kept(url)
    assert "Traceback" not in errors
    lines = [json.loads(line) for line in output.splitlines()]
    written = [line for line in lines if line["route"] == "/v1/items/store-many"]
    assert {line["status"] for line in written} == {200}
    assert len(written) >= len(writers.stored)


async def test_the_same_client_goes_on_when_the_service_has_been_restarted(
    serve: Callable[..., Process], url: str
) -> None:
    first = serve(url)
    item = MemoryItem(content="tea")
    async with memcore.connect(first.url, retry_wait=0) as backend:
        await backend.items.store(item)
        first.kill()
        with pytest.raises(MemoryAdapterUnavailable):
            await backend.items.retrieve(item.id)
        serve(url, port=first.port)
        assert await backend.items.retrieve(item.id) == item
        assert await backend.items.store(MemoryItem(id=item.id, content="coffee")) == item.id


async def test_many_clients_share_one_store(serve: Callable[..., Process], url: str) -> None:
    process = serve(url)

    async def work(number: int) -> None:
        async with memcore.connect(process.url) as backend:
            for turn in range(10):
                item = MemoryItem(content=f"client {number} turn {turn}")
                await backend.items.store(item)
                found = await backend.items.retrieve(item.id)
                assert found is not None
                assert found.content == item.content

    await asyncio.gather(*(work(number) for number in range(8)))
    async with memcore.connect(process.url) as backend:
        assert await backend.items.count() == 80  # type: ignore[attr-defined]


async def test_tokens_come_from_a_file_or_from_the_environment(serve: Callable[..., Process], tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(TOKENS)
    for process in (
        serve("memory://", "--tokens", str(file)),
        serve("memory://", MEMCORE_SERVER_TOKENS=TOKENS),
        serve("memory://", "--host", "0.0.0.0", MEMCORE_SERVER_TOKENS=TOKENS),  # noqa: S104 - that is allowed then
    ):
        local = f"http://127.0.0.1:{process.port}"
        with pytest.raises(MemoryAdapterError):
            await memcore.connect(local).open()
        async with memcore.connect(local, token=TOKEN) as backend:
            assert (await backend.ping()).status == "ok"
        output, errors = await asyncio.to_thread(process.end)
        assert TOKEN not in output + errors
        assert not process.warns


def test_without_tokens_it_warns_loudly(serve: Callable[..., Process]) -> None:
    assert serve("memory://").warns


def test_it_ends_by_the_signal_that_ends_it(serve: Callable[..., Process]) -> None:
    process = serve("memory://")
    assert httpx.get(process.url + "/health").json() == {"status": "ok"}
    process.end()
    assert process.child.returncode == -signal.SIGTERM


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memcore_cli", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_without_tokens_it_listens_on_this_machine_alone() -> None:
    done = run("memory://", "--host", "0.0.0.0")  # noqa: S104 - refused
    assert done.returncode != 0
    assert "--tokens" in done.stderr


@pytest.mark.parametrize(
    "store", ["nothing://", "sqlite:///x.db?unknown=1", "postgresql://bob:hunter2@host/x?unknown=1"]
)
def test_a_wrong_store_is_told_before_anything_is_served(store: str) -> None:
    done = run(store, "--port", "0")
    assert done.returncode != 0
    assert "serving" not in done.stderr
    assert "hunter2" not in done.stderr


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("memory://", "--port", str(taken.getsockname()[1]))
    assert done.returncode != 0
    assert "cannot listen" in done.stderr


def test_the_store_may_be_named_by_the_environment(serve: Callable[..., Process], url: str) -> None:
    process = serve("memory://", MEMCORE_URL=url)
    assert httpx.get(process.url + "/ready").json() == {"status": "ok"}
