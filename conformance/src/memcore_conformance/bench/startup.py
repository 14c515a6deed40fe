"""What a process pays before its first result: fresh interpreters, timed from inside."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

IMPORT_MEMCORE: Final = """
import time
started = time.perf_counter()
import memcore
print(time.perf_counter() - started)
"""
IMPORT_PYDANTIC: Final = """
import time
started = time.perf_counter()
import pydantic

class Model(pydantic.BaseModel):
    name: str = ""

print(time.perf_counter() - started)
"""


def run_fresh(program: str, *, folder: Path) -> float:
    """Run a program that prints seconds in a new interpreter, with the folder as its working directory.

    The program goes through standard input: a URL with a secret in it does not show in the list of processes.
    """
    command = [sys.executable, "-P", "-"]
    finished = subprocess.run(command, input=program, cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603
    return float(finished.stdout)
