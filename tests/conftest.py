"""What the tests of the workspace share: where it is, and what its distributions say about themselves."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

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
