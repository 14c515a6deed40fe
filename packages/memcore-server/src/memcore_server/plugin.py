"""What memcore finds when this distribution is installed; loads no web framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.plugins import hookimpl

if TYPE_CHECKING:
    import typer


@hookimpl
def memcore_commands() -> list[typer.Typer]:
    """Add `memcore serve`."""
    from memcore_server.command import app  # noqa: PLC0415 - loads typer

    return [app]
