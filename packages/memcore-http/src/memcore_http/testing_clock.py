"""The `memcore` command on a clock that stands in a file: for the harness, whose service is a process of its own.

    python -m memcore_http.testing_clock FILE serve URL

Whatever that process connects to is given the clock by the setting `clock`, as a test within one process gives it.
"""

from __future__ import annotations

import runpy
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import memcore


class FileClock:
    """A clock that several processes read; it stands still until one of them moves it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self) -> datetime:
        """Return the time."""
        return datetime.fromisoformat(self.path.read_text(encoding="ascii"))

    def start(self) -> None:
        """Set it to the system's time."""
        self._set(datetime.now(UTC))

    def advance(self, seconds: float) -> None:
        """Move it forward, or back where the number is negative."""
        self._set(self() + timedelta(seconds=seconds))

    def _set(self, moment: datetime) -> None:
        """Replace the file as a whole: another process may read it at any time."""
        made = self.path.with_suffix(".new")
        made.write_text(moment.isoformat(), encoding="ascii")
        made.replace(self.path)


def main() -> None:
    """Run the command."""
    _, path, *arguments = sys.argv
    memcore.connect = partial(memcore.connect, clock=FileClock(Path(path)))
    sys.argv = ["memcore", *arguments]
    runpy.run_module("memcore_cli", run_name="__main__")


if __name__ == "__main__":
    main()
