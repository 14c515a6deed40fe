"""Where a measurement was made: without this its figures say nothing."""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

_OF_INTEREST: Final = ("memcore", "aiosqlite", "asyncpg", "langgraph", "pydantic", "snowballstemmer")
_MEMORY_FOLDER: Final = Path("/dev/shm")  # noqa: S108 - a memory file system, where there is one
_MOUNTS: Final = Path("/proc/self/mounts")


def default_folder() -> Path:
    """Return a folder on a memory file system where there is one: the cost of the processor, steady."""
    return _MEMORY_FOLDER if os.access(_MEMORY_FOLDER, os.W_OK) else Path(tempfile.gettempdir())


def describe(folder: Path) -> dict[str, str]:
    """Return what a reader must know about this machine and this folder."""
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "load": ", ".join(f"{load:.2f}" for load in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown",
        "file system": f"{file_system(folder)} ({folder})",
        "versions": ", ".join(f"{name} {version}" for name, version in _versions().items()),
    }


def file_system(folder: Path, *, mounts: str | None = None) -> str:
    """Return the kind of file system that a folder lies on, by the table of mounts."""
    if mounts is None:
        mounts = _MOUNTS.read_text() if _MOUNTS.exists() else ""
    best, kind = Path(), "unknown file system"
    for line in mounts.splitlines():
        _device, point, name, *_ = line.split()
        place = Path(point)
        if folder.resolve().is_relative_to(place) and len(place.parts) >= len(best.parts):
            best, kind = place, name
    return kind


def _versions() -> dict[str, str]:
    installed = {dist.name: dist.version for dist in distributions() if dist.name.startswith(_OF_INTEREST)}
    return {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version} | dict(sorted(installed.items()))
