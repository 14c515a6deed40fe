"""nox is the only task runner: what people and machines are told to run exists and is the same everywhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def sessions(root: Path) -> set[str]:
    return set(re.findall(r"^@nox\.session.*\ndef (\w+)", (root / "noxfile.py").read_text(), re.MULTILINE))


def test_the_table_in_contributing_lists_every_session(root: Path, sessions: set[str]) -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", (root / "CONTRIBUTING.md").read_text(), re.MULTILINE)) == sessions


def test_workflows_and_pages_call_sessions_that_exist(root: Path, sessions: set[str]) -> None:
    files = [*root.glob(".github/**/*.yml"), *root.glob("*.md"), *root.glob("docs/**/*.md")]
    for file in files:
        for names in re.findall(r"nox (?:-R )?-s ([a-z ]*[a-z])(?![\w{])", file.read_text()):
            assert set(names.split()) <= sessions, file


def test_the_matrix_of_the_workflow_holds_sessions_that_exist(root: Path, sessions: set[str]) -> None:
    (matrix,) = re.findall(r"session: \[([\w, ]+)\]", (root / ".github/workflows/ci.yml").read_text())
    assert set(matrix.split(", ")) <= sessions


def test_continuous_integration_runs_the_test_command_of_the_readme(root: Path) -> None:
    command = (root / ".ci/run").read_text().splitlines()[-1]
    assert command in (root / "README.md").read_text().splitlines()
