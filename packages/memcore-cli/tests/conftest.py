"""What the tests share: one command line run in this process, real processes, and stores that misbehave."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from memcore import (
    Adapter,
    Capabilities,
    CheckReport,
    Health,
    InMemoryStore,
    MemoryAdapterUnavailable,
    MemoryItem,
    UnsupportedMemoryItem,
    hookimpl,
)
from memcore.plugins import Registry
from memcore.plugins import registry as installed_registry
from memcore_cli.app import main

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Result:
    """What a command line did."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode("utf-8")

    @property
    def err(self) -> str:
        return self.stderr.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


Fakes = Callable[[], Registry]
WithCommands = Callable[..., Fakes]


class Run(Protocol):
    def __call__(self, *arguments: str, stdin: bytes | None = ..., registry: Fakes = ...) -> Result: ...


class Spawn(Protocol):
    def __call__(self, *arguments: str | bytes, stdin: bytes = ..., **environment: str) -> Result: ...


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MEMCORE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run one command line in this process."""

    def run_here(*arguments: str, stdin: bytes | None = None, registry: Fakes = installed_registry) -> Result:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments, registry=registry)
        return Result(code, *capsysbinary.readouterr())

    return run_here


@pytest.fixture
def spawn() -> Spawn:
    """Run one command line in a process of its own."""

    def run_there(*arguments: str | bytes, stdin: bytes = b"", **environment: str) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "memcore_cli", *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **environment},
            timeout=60,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run_there


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The URL of a store in a fresh file."""
    return f"sqlite:///{tmp_path}/memory.db"


class PickyStore(InMemoryStore):
    """Three methods and no more; refuses the content "bad"."""

    async def store(self, item: MemoryItem) -> Any:
        if item.content == "bad":
            raise UnsupportedMemoryItem(field="content", reason="it is bad")
        return await super().store(item)


@dataclass
class FakeBackend:
    """A backend that does what a test tells it."""

    name = "fake"
    items: Any = field(default_factory=PickyStore)
    opening: BaseException | None = None
    faults: tuple[str, ...] = ()
    calls: list[str] = field(default_factory=list)
    capabilities = Capabilities(contracts=frozenset({"items"}), durable=True)

    async def open(self) -> None:
        self.calls.append("open")
        if self.opening:
            raise self.opening

    async def close(self) -> None:
        self.calls.append("close")

    async def ping(self) -> Health:
        return Health(status="degraded", latency=0.001, versions={"fake": "1"}, detail="tired")

    async def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        if progress:
            progress(3, 3)
        return 3

    async def check(self, *, repair: bool = True, progress: Callable[[int, int], None] | None = None) -> CheckReport:
        return CheckReport(checked=3, faults=self.faults, repaired=repair and bool(self.faults))

    async def purge(self) -> None:
        self.calls.append("purge")


class FakePlugin:
    """A plugin with one adapter for one backend, and perhaps commands."""

    def __init__(self, backend: FakeBackend, commands: list[Any] | None = None) -> None:
        self._backend = backend
        self._commands = commands or []

    @hookimpl
    def memcore_adapters(self) -> list[Adapter]:
        return [
            Adapter(
                name="fake",
                schemes=("fake",),
                summary="does what it is told",
                contracts=frozenset({"items"}),
                connect=lambda _settings: self._backend,
            )
        ]

    @hookimpl
    def memcore_commands(self) -> list[Any]:
        return self._commands


def registry_of(backend: FakeBackend, *commands: Any) -> Fakes:
    """Return a registry in which `fake://` is the backend."""
    registry = Registry.discover(())
    registry.register(FakePlugin(backend, list(commands)), name="fake", distribution="fake-distribution")
    return lambda: registry


@pytest.fixture
def backend() -> FakeBackend:
    """The backend that `fake://` reaches in the registry `fakes`."""
    return FakeBackend()


@pytest.fixture
def fakes(backend: FakeBackend) -> Fakes:
    """A registry in which `fake://` reaches the backend."""
    return registry_of(backend)


@pytest.fixture
def fakes_and_more(backend: FakeBackend) -> Fakes:
    """The registry of what is installed, in which `fake://` reaches the backend."""
    registry = Registry.discover()
    registry.register(FakePlugin(backend), name="fake", distribution="fake-distribution")
    return lambda: registry


@pytest.fixture
def with_commands(backend: FakeBackend) -> WithCommands:
    """Make a registry whose plugin adds these commands."""
    return lambda *commands: registry_of(backend, *commands)


@pytest.fixture
def unavailable(backend: FakeBackend) -> FakeBackend:
    """The backend cannot be opened, and the native error knows a password."""
    error = MemoryAdapterUnavailable("the service does not answer")
    error.__cause__ = OSError("cannot connect to bob:s3cr3t-PASS@db")
    backend.opening = error
    return backend
