"""The `memcore` command: every command by its name, and the one place where errors become exit codes."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer
from memcore import plugins
from typer.main import get_command

from memcore_cli.commands import demo, inspection, items, records, transfer, upkeep
from memcore_cli.exit_codes import ExitCode
from memcore_cli.failures import tell_failure
from memcore_cli.group import CommandGroup, StoreCommand
from memcore_cli.output import discard_unwritable, prepare_streams, say, tell
from memcore_cli.parameters import decode_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memcore.plugins import Registry

_DEBUG = "--debug"

app = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    rich_markup_mode=None,  # plain help: quick, and the same on every terminal
    epilog="\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {code.meaning}" for code in ExitCode),
)
app.command("demo")(demo.demo)
app.command("adapters")(inspection.adapters)
app.command("manifest", cls=StoreCommand)(inspection.manifest)
app.command("ping", cls=StoreCommand)(inspection.ping)
app.command("add", cls=StoreCommand)(items.add)
app.command("search", cls=StoreCommand)(items.search)
app.command("get", cls=StoreCommand)(items.get)
app.command("list", cls=StoreCommand)(items.list_items)
app.command("delete", cls=StoreCommand)(items.delete)
app.command("import", cls=StoreCommand)(transfer.import_contents)
app.command("export", cls=StoreCommand)(transfer.export_contents)
app.command("copy")(transfer.copy)
app.command("reindex", cls=StoreCommand)(upkeep.reindex)
app.command("check", cls=StoreCommand)(upkeep.check)
app.command("purge", cls=StoreCommand)(upkeep.purge)
app.add_typer(records.app)


@app.callback(invoke_without_command=True)
def memcore(
    context: typer.Context,
    *,
    show_version: Annotated[bool, typer.Option("--version", help="Show the versions and exit.")] = False,
    _debug: Annotated[bool, typer.Option(_DEBUG, help="Show the trace of an error; may stand anywhere.")] = False,
) -> None:
    """Look into, fill, search, move and check any store of memories.

    A store is named by a URL: sqlite:///memory.db, or what other adapters serve; see `memcore adapters`. Where the
    environment variable MEMCORE_URL names one, the URL may be left out.
    """
    if show_version:
        say(f"memcore {version('memcore')} (memcore-cli {version('memcore-cli')}, Python {platform.python_version()})")
        raise typer.Exit
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")


def main(arguments: Sequence[str], *, registry: Callable[[], Registry] = plugins.registry) -> int:
    """Run one command line and return its exit code; no exception leaves it.

    Args:
        arguments: what follows the name of the program.
        registry: where adapters and plugins come from.
    """
    prepare_streams()
    try:
        return _guarded(arguments, registry)
    except BrokenPipeError:
        return ExitCode.CLOSED_PIPE
    finally:
        discard_unwritable()


def _guarded(arguments: Sequence[str], registry: Callable[[], Registry]) -> int:
    debug, rest = _take_debug(arguments)
    try:
        code = _execute([decode_argument(argument) for argument in rest], registry)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, typer.Abort):  # a question that gets no answer aborts
        tell("memcore: interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - every error becomes two lines and a code
        return tell_failure(error, debug=debug, arguments=arguments)
    return code


def _execute(arguments: list[str], registry: Callable[[], Registry]) -> int:
    command = get_command(app)
    try:
        with command.make_context("memcore", arguments, obj=registry) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return ExitCode.OK


def _take_debug(arguments: Sequence[str]) -> tuple[bool, list[str]]:
    """Find --debug before a `--` and take it out, wherever it stands."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = list(arguments[:end])
    found = _DEBUG in options
    return found, [option for option in options if option != _DEBUG] + list(arguments[end:])
