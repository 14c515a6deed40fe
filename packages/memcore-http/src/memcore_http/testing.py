"""The harness by which memcore-conformance judges `http://`: the real service in a process of its own, over TCP.

What it serves, its store, is made and touched by that adapter's own harness, which is found as the suite finds it.
Faults of the network are injected at the HTTP client, so that all of the adapter's code runs, and the service's behind
it; outages, restarts and kills are real. A service is used for several cases, each in a namespace of its own; one whose
store was touched, or whose namespaces a case has named, is not used again.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import re
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args
from urllib.parse import urlencode
from uuid import uuid4

import httpx
from memcore.errors import MemoryConfigurationError
from memcore.plugins import registry

from memcore_http.backend import HttpBackend
from memcore_http.settings import HttpSettings
from memcore_http.testing_clock import FileClock
from memcore_http.transport import Transport
from memcore_http.wire import IdsAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from uuid import UUID

Fault = Literal["refused", "timeout", "lost_answer", "malformed", "no_identity", "denied"]
StorageFault = Literal["full", "read_only", "garbage", "missing", "locked"]


class HttpHarnesses:
    """Makes harnesses over one kind of store, and keeps the service that they use one after the other.

    Args:
        name: what the harness is called.
        store: the harness of what is served.
        limits_files: whether the store is full where the service may write no file, rather than by its harness.
        options: settings of the store that is served.
    """

    def __init__(self, name: str, *, store: str, limits_files: bool = False, **options: float) -> None:
        self.name = name
        self._store = store
        self._limits_files = limits_files
        self._options = options
        self._place: _Place | None = None

    def __call__(self) -> HttpHarness:
        """Make a harness."""
        return HttpHarness(self)

    async def take(self) -> _Place:
        """Return a service that is fit for another namespace."""
        if self._place is not None and self._place.is_worn:
            await self._place.close()
            self._place = None
        if self._place is None:
            found = [factory for factory in registry().harnesses() if factory.name == self._store]
            if not found:
                raise MemoryConfigurationError(f"no installed harness makes the store to serve, {self._store!r}")
            self._place = _Place(found[0](), self._options, limits_files=self._limits_files)
            await self._place.open()
        self._place.namespaces += 1
        return self._place


class HttpHarness:
    """One namespace of a service, with every faculty that a service can have."""

    _place: _Place

    def __init__(self, services: HttpHarnesses) -> None:
        self._services = services
        self._wire = _Wire()
        self._namespace: str | None = None
        self._is_known_elsewhere = False
        self._clock: FileClock | None = None

    async def make_backend(self, **settings: object) -> HttpBackend:
        """Make a backend on the service.

        The first one after another process was told the URL meets a service that was killed meanwhile: what that
        process stored was acknowledged by the service, and has to outlive it.
        """
        if self._namespace is None:
            await self.reset()
        if self._is_known_elsewhere:
            await self._place.kill()
            await self._place.start()
        self._is_known_elsewhere = False
        if self._clock is not None:
            await self._place.run_on(self._clock)
        self._place.is_touched |= "namespace" in settings
        given = {"namespace": self._namespace, "retry_wait": _SHORT, **settings}
        resolved = HttpSettings.resolve(self._place.url, given, prefix="MEMCORE_HTTP_", environ={})
        return HttpBackend(resolved, transport=_WiredTransport(resolved, self._wire))

    async def reset(self) -> None:
        """Take a namespace that nobody used."""
        await self.close()
        self._place = await self._services.take()
        self._namespace = uuid4().hex

    async def make_search_index_visible(self) -> None:
        """It always is."""

    async def make_transport_unavailable(self) -> None:
        """Kill the service."""
        await self._place.kill()

    async def restore_transport(self) -> None:
        """Start the service again, on the same port."""
        await self._place.start()

    async def close(self) -> None:
        """Leave the service as it should be, or not to be used again."""
        self._wire.fault = None
        self._is_known_elsewhere = False
        if self._namespace is not None:
            await self.mend_storage()
        if self._clock is not None:
            self._clock.path.unlink()
            self._clock = None

    def advance(self, seconds: float) -> None:
        """Stop the clock of the service, from the next backend on, and move it."""
        if self._clock is None:
            self._clock = FileClock(Path(tempfile.gettempdir(), f"memcore-clock-{uuid4().hex}"))
            self._clock.start()
        self._clock.advance(seconds)

    def url(self) -> str:
        """Return the URL of the namespace."""
        self._is_known_elsewhere = not self._wire.calls
        return f"{self._place.url}?{urlencode({'namespace': self._namespace})}"

    # --- faults ---

    @property
    def faults(self) -> frozenset[Fault]:
        """All of them."""
        return frozenset(get_args(Fault))

    def calls(self) -> int:
        """Return how many requests were made."""
        return self._wire.calls

    def fail_next(self, fault: Fault) -> None:
        """Make the next request fail."""
        self._wire.fault = fault

    @property
    def storage_faults(self) -> frozenset[StorageFault]:
        """All of them."""
        return frozenset(get_args(StorageFault))

    async def break_storage(self, fault: StorageFault) -> None:
        """Break the store beneath the service."""
        await self._place.break_store(fault)

    async def mend_storage(self) -> None:
        """Make everything as it was."""
        await self._place.mend_store()

    # --- what is stored ---

    async def plant_foreign(self, item_id: UUID) -> None:
        """See the harness of the store, as for all that follow."""
        await self._touched.plant_foreign(item_id)

    async def truncate(self, item_id: UUID) -> None:
        """Cut the payload short."""
        await self._touched.truncate(item_id)

    async def make_newer(self) -> None:
        """Raise the version of the store while the service rests."""
        async with self._place.resting():
            await self._touched.make_newer()

    async def fingerprint(self) -> str:
        """Return a digest of the whole store."""
        return cast("str", await self._touched.fingerprint())

    async def holds(self, text: str) -> bool:
        """Tell whether the store holds the text."""
        return cast("bool", await self._touched.holds(text))

    @property
    def _touched(self) -> Any:  # noqa: ANN401 - a harness, of which only the structure is known
        self._place.is_touched = True
        return self._place.store


_SHORT: Final = 0.01
"""Seconds before a retry: what fails here does not mend by itself."""
_WITHIN: Final = 60
"""Seconds in which a service ends."""
_MOST_NAMESPACES: Final = 8
"""Each keeps connections, of which a PostgreSQL server allows a hundred."""
_LISTENING: Final = re.compile(r"serving .* at (http://127\.0\.0\.1:(\d+))")
_AT_REST: Final[frozenset[StorageFault]] = frozenset({"read_only", "garbage", "missing"})
"""What is done to a store that nobody has open."""


class _Place:
    """A store, and the service that serves it."""

    def __init__(self, store: Any, options: dict[str, float], *, limits_files: bool) -> None:  # noqa: ANN401 - any harness
        self.store = store
        self.namespaces = 0
        self.is_touched = False
        self._options = options
        self._limits_files = limits_files
        self._broken: StorageFault | None = None
        self._clock: FileClock | None = None
        self._port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def is_worn(self) -> bool:
        """Whether the next case shall have another."""
        return self.is_touched or self._process is None or self.namespaces >= _MOST_NAMESPACES

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def open(self) -> None:
        await self.store.reset()
        atexit.register(self._end)
        await self.start()

    async def close(self) -> None:
        await self.kill()
        await self.store.close()
        atexit.unregister(self._end)

    async def start(self) -> None:
        await asyncio.to_thread(self._start)

    async def kill(self) -> None:
        """End the service as a power switch would."""
        if self._process is not None:
            self._process.kill()
            await self._ended(self._process)

    @asynccontextmanager
    async def resting(self) -> AsyncIterator[None]:
        """End the service in good order, and start it again after the block."""
        if self._process is not None:
            self._process.terminate()
            await self._ended(self._process)
        yield
        await self.start()

    async def run_on(self, clock: FileClock) -> None:
        """Let the service, which is not used again afterwards, tell the time by this clock."""
        if self._clock is not clock:
            self.is_touched = True
            async with self.resting():
                self._clock = clock

    async def break_store(self, fault: StorageFault) -> None:
        self.is_touched = True
        self._broken = fault
        if fault == "full" and self._limits_files:
            self._limit_files(0)
        elif fault in _AT_REST:
            async with self.resting():
                await self.store.break_storage(fault)
        else:
            await self.store.break_storage(fault)

    async def mend_store(self) -> None:
        fault, self._broken = self._broken, None
        if fault == "full" and self._limits_files:
            self._limit_files(None)
        elif fault in _AT_REST:
            async with self.resting():
                await self.store.mend_storage()
        elif fault is not None:
            await self.store.mend_storage()

    def _start(self) -> None:
        url = self.store.url()
        served = url + ("&" if "?" in url else "?") + urlencode(self._options)
        isolated = ("-I",) if sys.flags.isolated else ()
        timed = ["memcore_http.testing_clock", str(self._clock.path)] if self._clock else ["memcore_cli"]
        command = [sys.executable, *isolated, "-m", *timed, "serve", served, "--port", str(self._port)]
        variables = {name: text for name, text in os.environ.items() if not name.startswith("MEMCORE_")}
        process = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=variables
        )
        assert process.stderr  # noqa: S101 - it is a pipe
        line = process.stderr.readline()
        found = _LISTENING.search(line)
        if found is None:
            raise RuntimeError(f"the service does not start: {line}{process.communicate()[1]}")
        self._port = int(found[2])
        self._process = process

    async def _ended(self, process: subprocess.Popen[str]) -> None:
        await asyncio.to_thread(process.communicate, timeout=_WITHIN)
        self._process = None

    def _limit_files(self, size: int | None) -> None:
        """Let the operating system refuse what the service writes beyond that size of a file."""
        import resource  # noqa: PLC0415 - not everywhere

        process = cast("subprocess.Popen[str]", self._process)
        _, most = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most if size is None else size, most))

    def _end(self) -> None:
        """Leave nothing behind when this process ends."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        asyncio.run(self.store.close())


class _Wire:
    """What the clients of one harness are to do."""

    def __init__(self) -> None:
        self.calls = 0
        self.fault: Fault | None = None

    async def send(self, request: httpx.Request) -> None:
        """Count a request, and fail it before it is sent or have its answer spoilt."""
        self.calls += 1
        fault, self.fault = self.fault, None
        match fault:
            case "refused":
                raise httpx.ConnectError("refused", request=request)
            case "timeout":
                raise httpx.ReadTimeout("no answer", request=request)
            case "denied":
                request.headers["host"] = "elsewhere.example"  # without tokens, only local names are served
            case _:
                request.extensions[_FAULT] = fault

    async def receive(self, response: httpx.Response) -> None:
        """Spoil an answer."""
        stream = cast("httpx.AsyncByteStream", response.stream)
        match response.request.extensions.get(_FAULT):
            case "lost_answer":
                raise httpx.ReadError("broken off", request=response.request)
            case "malformed":
                response.stream = _Altered(stream, lambda body: body[:-1])
            case "no_identity":
                response.stream = _Altered(stream, lambda _body: IdsAnswer(ids=[]).model_dump_json().encode())


_FAULT: Final = "memcore_fault"


class _WiredTransport(Transport):
    """A transport whose client counts its requests and fails as it is told."""

    def __init__(self, settings: HttpSettings, wire: _Wire) -> None:
        super().__init__(settings)
        self._wire = wire

    def _make_client(self) -> httpx.AsyncClient:
        client = super()._make_client()
        client.event_hooks = {"request": [self._wire.send], "response": [self._wire.receive]}
        return client


class _Altered(httpx.AsyncByteStream):
    """A body that was changed on its way."""

    def __init__(self, stream: httpx.AsyncByteStream, change: Callable[[bytes], bytes]) -> None:
        self._stream = stream
        self._change = change

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._change(b"".join([part async for part in self._stream]))

    async def aclose(self) -> None:
        await self._stream.aclose()
