"""How memcore finds the adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import memcore
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_sqlite_url_connects_to_this_adapter() -> None:
    assert isinstance(memcore.connect("sqlite://"), SqliteBackend)


def test_finding_the_adapter_loads_no_driver(run: Callable[..., str]) -> None:
    program = """
        import sys
        from memcore.plugins import registry
        names = {adapter.name for adapter in registry().adapters()}
        print("sqlite" in names, "aiosqlite" in sys.modules)
    """
    assert run(program) == "True False\n"


def test_connecting_touches_no_file(path: Path) -> None:
    memcore.connect(f"sqlite:///{path}")
    assert not path.exists()
