"""Watches what this process reaches for outside itself, by the audit events of Python."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_EVENTS: Final = frozenset({"socket.connect", "socket.bind", "sqlite3.connect", "subprocess.Popen", "os.posix_spawn"})
_WRITING: Final = frozenset("wax+")


@contextmanager
def reaching_out() -> Iterator[list[str]]:
    """Collect, for the length of a block, sockets, databases, processes and files opened for writing."""
    watchers, events = _watchers(), list[str]()
    watchers.append(events)
    try:
        yield events
    finally:
        watchers.remove(events)


@cache
def _watchers() -> list[list[str]]:
    """Install the one audit hook of this process (it stays) and return those that it tells."""
    watchers: list[list[str]] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if watchers and (event in _EVENTS or (event == "open" and _WRITING.intersection(str(arguments[1] or "")))):
            for events in watchers:
                events.append(event)

    sys.addaudithook(hook)
    return watchers
