"""The examples of the README do the same on every scheme, with their URL alone changed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = re.compile(r"```python\n(?P<program>.*?)```\n\n```text\n(?P<printed>.*?)```", re.DOTALL)
URL = '"sqlite:///memory.db"'
SECONDS = 60


@pytest.mark.parametrize("contract", ["items", "records"])
@pytest.mark.parametrize("scheme", ["memory", "sqlite", "postgresql", "http"])
def test_the_example_prints_what_the_readme_says(
    request: pytest.FixtureRequest, root: Path, tmp_path: Path, scheme: str, contract: str
) -> None:
    examples = EXAMPLE.finditer((root / "README.md").read_text(encoding="utf-8"))
    (example,) = [example for example in examples if f"backend.{contract}" in example["program"]]
    assert example["program"].count(URL) == 1
    program = example["program"].replace(URL, repr(request.getfixturevalue(f"{scheme}_url")))
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MEMCORE_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        check=False,
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (done.stdout, done.stderr) == (example["printed"], "")
