"""How the command line is taken apart: commands of plugins beside our own, and a URL that may be left out."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

import typer
from memcore.plugins import BrokenPlugin
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from memcore_cli.connection import installed
from memcore_cli.parameters import URL_VARIABLE, decode_argument

if TYPE_CHECKING:
    from memcore.plugins import Registry

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class CommandGroup(TyperGroup):
    """Our commands, and those that plugins add."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer keeps the class of its contexts private
        """Return the names of all commands, our own first."""
        own = super().list_commands(ctx)
        return own + sorted(plugin_commands(installed(ctx), own)[0])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - as above
        """Return a command by its name; plugins are asked only if it is none of ours."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        return plugin_commands(installed(ctx), super().list_commands(ctx))[0].get(cmd_name)


class StoreCommand(TyperCommand):
    """A command on a store: its first argument is a URL, unless the environment names the store."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as above
        """Take the arguments apart; the URL of the environment is put before them if none stands there."""
        default = os.environ.get(URL_VARIABLE)
        if default and not self._names_store(ctx, args):
            args = [decode_argument(default), *args]
        return super().parse_args(ctx, args)

    def _names_store(self, ctx: Any, args: list[str]) -> bool:  # noqa: ANN401 - as above
        values, _, _ = self.make_parser(ctx).parse_args(list(args))
        return bool(_URL.match(values.get("url") or ""))


def plugin_commands(registry: Registry, own: list[str]) -> tuple[dict[str, Any], list[BrokenPlugin]]:
    """Return the commands that plugins add, by name, and those that cannot be used.

    Args:
        registry: what is installed.
        own: names that no plugin may take.
    """
    commands: dict[str, Any] = {}
    broken: list[BrokenPlugin] = []
    for distribution, app in registry.commands():
        name = app.info.name if isinstance(app, typer.Typer) and isinstance(app.info.name, str) else ""
        try:
            commands[name] = _command(app, name, {*own, *commands})
        except Exception as error:  # noqa: BLE001 - whatever typer says about a foreign app
            broken.append(BrokenPlugin(distribution, f"command {name!r}", f"{type(error).__name__}: {error}"))
    return commands, broken


def _command(app: typer.Typer, name: str, taken: set[str]) -> Any:  # noqa: ANN401 - as above
    if not name:
        raise TypeError("a command must be a typer app with a name")
    if name in taken:
        raise ValueError("there is a command of that name already")
    command = get_command(app)
    command.name = name
    return command
