"""What is committed must be of use to anyone: no host of a package registry, no lock file, no path of one machine."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# Each pattern is written so that it does not match itself.
REGISTRY_HOST = re.compile(r"p[y]pi\.org|p[y]thonhosted|n[p]mjs\.|d[e]b\.debian")
PRIVATE_PATH = re.compile(r"(?<![\w.])/(?:farm|home|root|work|Users)/")


@pytest.fixture
def committed(root: Path) -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    return [root / name for name in listing.split("\0") if (root / name).is_file()]


@pytest.mark.parametrize("pattern", [REGISTRY_HOST, PRIVATE_PATH], ids=["registry host", "path of one machine"])
def test_no_committed_file_names_a(pattern: re.Pattern[str], committed: list[Path]) -> None:
    assert [file for file in committed if pattern.search(file.read_text(encoding="utf-8", errors="replace"))] == []


def test_no_lock_file_is_committed(committed: list[Path]) -> None:
    assert [file for file in committed if file.name.endswith(".lock")] == []


@pytest.mark.parametrize("host", ["files.{}thonhosted.org", "{}pi.org/simple"])
def test_the_search_finds_a_registry_host(host: str) -> None:
    assert REGISTRY_HOST.search("https://" + host.format("py"))


@pytest.mark.parametrize("folder", ["home", "work"])
def test_the_search_finds_a_path_of_one_machine(folder: str) -> None:
    assert PRIVATE_PATH.search(f'open("/{folder}/someone/file")')
