"""Fixtures: backends on real files, other processes, and eyes on what SQLite is told."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from memcore_sqlite.backend import SqliteBackend
from memcore_sqlite.settings import SqliteSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

SECONDS = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that is not there yet."""
    return tmp_path / "memory.db"


@pytest.fixture
async def connect(path: Path) -> AsyncIterator[Callable[..., SqliteBackend]]:
    """Make backends on the file (or on `path=…`), not open yet, and close them at the end."""
    async with contextlib.AsyncExitStack() as stack:

        def make(**settings: object) -> SqliteBackend:
            backend = SqliteBackend(SqliteSettings(**{"path": path, **settings}))
            stack.push_async_callback(backend.close)
            return backend

        yield make


@pytest.fixture
async def backend(connect: Callable[..., SqliteBackend]) -> SqliteBackend:
    """An open backend on the file."""
    backend = connect()
    await backend.open()
    return backend


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the file past the adapter."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python programs with arguments; they are killed and reaped at the end."""
    children: list[subprocess.Popen[str]] = []

    def run(program: str, *arguments: object, options: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, *options, "-c", textwrap.dedent(program), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        children.append(child)
        return child

    yield run
    for child in children:
        child.kill()
        child.communicate()


@pytest.fixture
def run(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., str]:
    """Run a Python program to its end; return what it printed, after it ended well and without a word of error."""

    def finish(program: str, *arguments: object, options: tuple[str, ...] = ()) -> str:
        child = start(program, *arguments, options=options)
        output, errors = child.communicate(timeout=SECONDS)
        assert (child.returncode, errors) == (0, "")
        return output

    return finish
