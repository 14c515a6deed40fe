"""What this distribution adds to memcore: the harness of `memory://`, and the command `memcore conformance`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import hookimpl

from memcore_conformance.memory import MemoryHarness

if TYPE_CHECKING:
    import typer

    from memcore_conformance.harness import HarnessFactory


@hookimpl
def memcore_harnesses() -> list[HarnessFactory]:
    """Return the harness of the adapter that comes with the core."""
    return [MemoryHarness]


@hookimpl
def memcore_commands() -> list[typer.Typer]:
    """Return `memcore conformance`."""
    from memcore_conformance.cli import app  # noqa: PLC0415 - typer is loaded where a command line is

    return [app]
