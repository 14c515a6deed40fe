"""What the tests of the workspace share: where it is, and what its distributions say about themselves."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Distribution:
    """One member of the workspace, read from its pyproject.toml."""

    folder: Path
    project: dict[str, Any]

    @property
    def name(self) -> str:
        return self.project["name"]

    @property
    def package(self) -> str:
        return self.name.replace("-", "_")

    @property
    def source(self) -> Path:
        return self.folder / "src" / self.package


def _distributions() -> list[Distribution]:
    files = [*sorted(ROOT.glob("packages/*/pyproject.toml")), ROOT / "conformance/pyproject.toml"]
    return [Distribution(file.parent, tomllib.loads(file.read_text())["project"]) for file in files]


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def workspace() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture
def distributions() -> list[Distribution]:
    return _distributions()


@pytest.fixture(params=_distributions(), ids=lambda distribution: distribution.name)
def distribution(request: pytest.FixtureRequest) -> Distribution:
    return request.param


@pytest.fixture
def memory_url() -> str:
    return "memory://"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """A database of its own on a real server."""
    from memcore_postgres.testing import PostgresHarness  # noqa: PLC0415 - not installed where wheels are tested

    harness = PostgresHarness()
    asyncio.run(harness.reset())
    yield harness.url()
    asyncio.run(harness.close())


@pytest.fixture
def http_url(tmp_path: Path) -> Iterator[str]:
    """The service in a process of its own, over a file."""
    command = [sys.executable, "-m", "memcore_cli", "serve", f"sqlite:///{tmp_path}/served.db", "--port", "0"]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MEMCORE_")}
    service = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=variables)
    assert service.stderr
    listening = re.search(r"http://127\.0\.0\.1:\d+", service.stderr.readline())
    assert listening
    yield listening[0]
    service.kill()
    service.communicate()
