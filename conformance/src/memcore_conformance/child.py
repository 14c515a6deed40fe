"""Another process on the same data: the suite starts it, drives it line by line, and kills it amid its work.

Run as a program it connects to the URL in its first line of input and then does one thing a line, many at once; each
answer is one line as soon as it is acknowledged.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from itertools import count
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import memcore
from memcore import Invalidation, MemoryQuery, MemoryRecord, MemoryWrite, SizeLimits
from memcore.items.payload import decode_item, encode_item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

    from memcore import Backend, ManagedMemoryStore, MemoryItem

_LONGEST_LINE = 64 * 1024 * 1024
_UNLIMITED = SizeLimits(content=10**9, metadata=10**9, tags=10**9, tag=10**9, batch=10**9)
_ENDED = ("EOFError", "it has ended")


class ChildFailed(Exception):
    """The other process ended, or its adapter raised; `kind` is the name of the error there."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"in the other process: {kind}: {message}")


class Child:
    """One other process with an open backend; its calls may run at the same time."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    async def start(cls, url: str) -> Child:
        """Start a process and wait until its backend is open."""
        flags = ("-I",) if sys.flags.isolated else ()
        command = (sys.executable, *flags, "-m", __name__)
        child = cls(await create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=_LONGEST_LINE))
        try:
            child._write(json.dumps(url))
            await child._ask("open")
        except BaseException:
            await child.kill()
            raise
        return child

    async def store(self, item: MemoryItem) -> UUID:
        """Store an item; returning means that the other process was told that it is stored."""
        return UUID(await self._ask("store", item=_pack(item)))

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        """Store a batch."""
        return [UUID(item_id) for item_id in await self._ask("store_many", items=[_pack(item) for item in items])]

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Retrieve an item."""
        found = await self._ask("retrieve", id=str(item_id))
        return None if found is None else _unpack(found)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Search."""
        return [_unpack(found) for found in await self._ask("search", query=query.model_dump(mode="json"))]

    async def delete(self, item_id: UUID) -> bool:
        """Delete an item."""
        return bool(await self._ask("delete", id=str(item_id)))

    async def write(self, *changes: MemoryWrite | Invalidation) -> list[MemoryRecord]:
        """Write records; payloads and targets are to be plain."""
        packed = [[type(change).__name__, change.model_dump(mode="json")] for change in changes]
        return [MemoryRecord.model_validate(record) for record in await self._ask("write", changes=packed)]

    async def get(self, record_id: UUID) -> MemoryRecord | None:
        """Get a record."""
        found = await self._ask("get", id=str(record_id))
        return None if found is None else MemoryRecord.model_validate(found)

    async def kill(self) -> None:
        """End the process as a power switch would, whatever it is doing."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await self._reading

    async def close(self) -> None:
        """Let the process close its backend and end."""
        if self._process.returncode is None and self._process.stdin:
            self._process.stdin.close()
        await self._process.wait()
        await self._reading

    async def _ask(self, name: str, **arguments: object) -> Any:  # noqa: ANN401 - any JSON value
        if self._reading.done():
            raise ChildFailed(*_ENDED)
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._write(json.dumps({"number": number, "name": name, "arguments": arguments}))
        return await self._waiting[number]

    def _write(self, line: str) -> None:
        cast("asyncio.StreamWriter", self._process.stdin).write(line.encode("ascii") + b"\n")

    async def _read(self) -> None:
        async for line in cast("asyncio.StreamReader", self._process.stdout):
            answer = json.loads(line)
            waiting = self._waiting.pop(answer["number"])
            if waiting.done():  # its caller was cancelled
                continue
            if "error" in answer:
                waiting.set_exception(ChildFailed(*answer["error"]))
            else:
                waiting.set_result(answer["result"])
        for waiting in self._waiting.values():
            waiting.set_exception(ChildFailed(*_ENDED))
            waiting.exception()  # nobody has to ask


async def _serve(lines: asyncio.StreamReader, out: TextIO) -> None:
    backend = memcore.connect(json.loads(await lines.readline()))
    try:
        async with asyncio.TaskGroup() as group:
            while line := await lines.readline():
                group.create_task(_answer(json.loads(line), backend, out))
    finally:
        await backend.close()


async def _answer(request: Mapping[str, Any], backend: Backend, out: TextIO) -> None:
    answer: dict[str, object] = {"number": request["number"]}
    try:
        answer["result"] = await _perform(request["name"], request["arguments"], backend)
    except Exception as error:  # noqa: BLE001 - told to the parent
        answer["error"] = [type(error).__name__, str(error)]
    out.write(json.dumps(answer) + "\n")
    out.flush()


async def _perform(name: str, given: Mapping[str, Any], backend: Backend) -> object:
    if name == "open":
        await backend.open()
        return None
    perform = _perform_on_records if name in {"write", "get"} else _perform_on_items
    return await perform(name, given, backend)


async def _perform_on_items(name: str, given: Mapping[str, Any], backend: Backend) -> object:
    items = cast("ManagedMemoryStore", backend.items)
    match name:
        case "store":
            return str(await items.store(_unpack(given["item"])))
        case "store_many":
            return [str(item_id) for item_id in await items.store_many([_unpack(packed) for packed in given["items"]])]
        case "retrieve":
            found = await items.retrieve(UUID(given["id"]))
            return None if found is None else _pack(found)
        case "search":
            return [_pack(hit) for hit in await items.search(MemoryQuery(**given["query"]))]
        case "delete":
            return await items.delete(UUID(given["id"]))
    msg = f"no such request: {name}"
    raise ValueError(msg)


async def _perform_on_records(name: str, given: Mapping[str, Any], backend: Backend) -> object:
    if name == "get":
        found = await backend.records.get(UUID(given["id"]))
        return None if found is None else found.model_dump(mode="json")
    kinds = {kind.__name__: kind for kind in (MemoryWrite, Invalidation)}
    changes = [kinds[kind].model_validate(change) for kind, change in given["changes"]]
    return [record.model_dump(mode="json") for record in await backend.records.write(changes)]


def _pack(item: MemoryItem) -> list[object]:
    encoded = encode_item(item, _UNLIMITED)
    return [str(encoded.id), encoded.created_at, encoded.payload]


def _unpack(packed: list[Any]) -> MemoryItem:
    return decode_item(UUID(packed[0]), packed[1], packed[2])


async def _main() -> None:
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await _serve(reader, sys.stdout)


if __name__ == "__main__":
    asyncio.run(_main())
