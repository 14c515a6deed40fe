"""Commands that move items in and out as JSON lines: `import`, `export`."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memcore_cli.commands.items import pages
from memcore_cli.connection import connected, warn_if_forgetful
from memcore_cli.failures import CommandFailed
from memcore_cli.importing import Import
from memcore_cli.item_json import item_line, read_items
from memcore_cli.output import say, tell, write_bytes, write_document
from memcore_cli.parameters import AsJson, Url
from memcore_cli.progress import progress
from memcore_cli.source import opened
from memcore_cli.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def import_items(
    context: typer.Context,
    url: Url,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines or a JSON array; - reads standard input.")],
    *,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Bad lines do not make the import fail.")] = False,
    as_json: AsJson = False,
) -> None:
    """Store the items of a file of JSON lines.

    An item is {"id", "created_at", "content", "metadata", "tags"}, each of which may be missing. Lines that are no
    items are told on stderr, with the reason, and left out. Items are stored by id, so an import that was
    interrupted is simply run again, and never doubles an item.
    """
    with opened(file) as (source, size), connected(context, url) as store, progress("importing") as advance:
        work = Import(store)
        try:
            work.run(read_items(source), lambda done: advance(done, size))
        except BaseException:
            tell("not finished: run the same import again to go on")
            raise
        finally:
            _summarise(work, skip_bad=skip_bad, as_json=as_json)
        warn_if_forgetful(store)
    if work.bad and not skip_bad:
        raise CommandFailed(
            f"{plural(work.bad, 'bad line')}", advice="mend them and run the import again, or add --skip-bad"
        )


def export_items(
    context: typer.Context,
    url: Url,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - is standard output.")] = "-",
    *,
    as_json: AsJson = False,
) -> None:
    """Write every item as one line of JSON, in order of id.

    A file appears only once it is complete, and only its owner may read it. `import` gives back every item exactly.
    With --json, an export to a file prints a summary.
    """
    shown = file != "-" or not sys.stdout.isatty()
    with connected(context, url) as store, progress("exporting", shown=shown) as advance:
        total = store.run(store.managed.count())
        with _destination(file) as write:
            done = 0
            for page in pages(store):
                write(b"".join(map(item_line, page)))
                done += len(page)
                advance(done, total)
    if as_json and file != "-":
        write_document({"exported": done, "file": str(Path(file).absolute())})
    else:
        tell(f"exported {plural(done, 'item')}" + ("" if file == "-" else f" to {file}"))


def _summarise(work: Import, *, skip_bad: bool, as_json: bool) -> None:
    skipped, failed = (work.bad, 0) if skip_bad else (0, work.bad)
    if as_json:
        write_document({"read": work.read, "stored": work.stored, "skipped": skipped, "failed": failed})
    else:
        say(f"read {work.read:,}, stored {work.stored:,}, skipped {skipped:,}, failed {failed:,}")


@contextmanager
def _destination(name: str) -> Iterator[Callable[[bytes], object]]:
    """Yield what writes to standard output, to a device, or to a file that replaces the old one when it is complete."""
    if name == "-":
        yield write_bytes
        return
    path = Path(os.path.realpath(name))  # Path.resolve() of Python 3.11 and 3.12 fails at links that go round
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device.write
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # readable by its owner only
    try:
        with os.fdopen(handle, "wb") as file:
            yield file.write
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
