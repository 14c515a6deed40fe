"""What `import memcore` offers, and what it costs (style of the house: a change of the interface is a decision)."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import ModuleType

import memcore
import pytest
from memcore import Page
from memcore.plugins import BrokenPlugin, registry
from pydantic import ValidationError

HERE = Path(__file__).parent


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def loaded_by(code: str) -> set[str]:
    return set(python(f"import sys\n{code}\nprint(*sys.modules)").split())


def test_the_public_names_are_those_in_all_and_sorted() -> None:
    public = {
        name for name, value in vars(memcore).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    }

    assert set(memcore.__all__) == public
    assert memcore.__all__ == sorted(memcore.__all__)


def test_the_interface_is_the_one_on_record() -> None:
    printed = subprocess.run(
        [sys.executable, HERE / "public_api.py"], check=True, capture_output=True, text=True
    ).stdout
    recorded = (HERE / "public_api.txt").read_text(encoding="utf-8")

    assert printed.splitlines() == recorded.splitlines(), "see public_api.py for how to record a change"


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (Page([], None), "next"),
        (BrokenPlugin("a", "b", "c"), "error"),
        (registry().adapters()[0], "name"),
        (memcore.SizeLimits(), "tags"),
        (memcore.Capabilities(contracts=frozenset()), "durable"),
        (memcore.Health(status="ok", latency=0, versions={}), "status"),
        (memcore.CheckReport(checked=1), "checked"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_at_the_edges_are_frozen(value: object, field: str) -> None:
    with pytest.raises((FrozenInstanceError, ValidationError)):
        setattr(value, field, getattr(value, field))


def test_importing_memcore_adds_pluggy_alone_to_what_pydantic_loads() -> None:
    model = "import pydantic\nclass Model(pydantic.BaseModel):\n    a: int"
    added = {name.partition(".")[0] for name in loaded_by("import memcore") - loaded_by(model)}

    assert added - sys.stdlib_module_names - {"pydantic"} == {"memcore", "pluggy"}


def test_importing_memcore_loads_no_event_loop_no_driver_and_no_analysis() -> None:
    loaded = loaded_by("import memcore")

    assert loaded.isdisjoint({"asyncio", "sqlite3", "aiosqlite", "snowballstemmer", "typer", "rich"})
    assert loaded.isdisjoint({"memcore.in_memory", "memcore.kit.text", "memcore.kit.lifecycle", "memcore.events"})


def test_listing_the_adapters_loads_no_driver() -> None:
    loaded = loaded_by("from memcore.plugins import registry\nregistry().adapters()")

    assert loaded.isdisjoint({"aiosqlite", "sqlite3", "asyncpg", "httpx", "snowballstemmer"})


def test_every_module_can_be_imported_first() -> None:
    root = Path(memcore.__file__).parent
    modules = [".".join(("memcore", *path.relative_to(root).with_suffix("").parts)) for path in root.rglob("*.py")]
    code = f"""
import importlib, sys
for module in {modules}:
    for name in [name for name in sys.modules if name.startswith("memcore")]:
        del sys.modules[name]
    print(importlib.import_module(module).__name__)
"""

    assert python(code).split() == modules
