"""Commands that move items and records: `import` and `export` as JSON lines, `copy` from store to store."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from memcore.items.model import MemoryItem
from memcore.records.model import MemoryRecord

from memcore_cli.connection import connected, warn_if_forgetful
from memcore_cli.exit_codes import ExitCode
from memcore_cli.failures import CommandFailed
from memcore_cli.importing import Import
from memcore_cli.item_json import item_line
from memcore_cli.listing import Contents
from memcore_cli.output import say, tell, write_bytes, write_document
from memcore_cli.parameters import AcceptedLosses, AsJson, Url
from memcore_cli.progress import progress
from memcore_cli.reading import Entry, read_input
from memcore_cli.record_json import record_line
from memcore_cli.source import opened
from memcore_cli.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def import_contents(
    context: typer.Context,
    url: Url,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines or a JSON array; - reads standard input.")],
    *,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Bad lines do not make the import fail.")] = False,
    accept_losses: AcceptedLosses = None,
    as_json: AsJson = False,
) -> None:
    """Store the items and records of a file of JSON lines.

    An item is {"id", "created_at", "content", "metadata", "tags"}, each of which may be missing; a record is
    {"record": {...}}, with all that an export wrote. Lines that are neither are told on stderr, with the reason, and
    left out. All is stored by id, so an import that was interrupted is simply run again, and never doubles anything.
    """
    with opened(file) as (source, size), connected(context, url) as store, progress("importing") as advance:
        work = Import(store, accepted=accept_losses or ())
        _run(work, read_input(source), lambda done: advance(done, size), skip_bad=skip_bad, as_json=as_json)
        warn_if_forgetful(store)
    if work.bad and not skip_bad:
        raise CommandFailed(
            f"{plural(work.bad, 'bad line')}", advice="mend them and run the import again, or add --skip-bad"
        )


def export_contents(
    context: typer.Context,
    url: Url,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - is standard output.")] = "-",
    *,
    accept_losses: AcceptedLosses = None,
    as_json: AsJson = False,
) -> None:
    """Write every record and every item as one line of JSON, records first, each in order of id.

    A file appears only once it is complete, and only its owner may read it. `import` gives back all of it exactly.
    With --json, an export to a file prints a summary.
    """
    shown = file != "-" or not sys.stdout.isatty()
    with connected(context, url) as store, progress("exporting", shown=shown) as advance:
        contents = Contents(store, accepted=accept_losses or ())
        records, items = contents.count_records(), contents.count_items()
        with _destination(file) as write:
            done: Counter[bool] = Counter()
            for page in contents.pages():
                write(b"".join(map(_line, page)))
                done[isinstance(page[0], MemoryRecord)] += len(page)
                advance(done.total(), records + items)
    if as_json and file != "-":
        summary = {"exported": done.total(), "items": done[False], "records": done[True]}
        write_document({**summary, "file": str(Path(file).absolute())})
    else:
        tell(f"exported {_counted(items=done[False], records=done[True])}" + ("" if file == "-" else f" to {file}"))


def copy(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The store to read, by its URL.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The store to write, by its URL.")],
    *,
    accept_losses: AcceptedLosses = None,
    as_json: AsJson = False,
) -> None:
    """Copy every record and every item from one store into another.

    Ids, times, links and uses stay as they are. What the target cannot keep is told before anything is copied. All is
    stored by id, so a copy that was interrupted is simply run again; what only the target holds stays.
    """
    if source == target:
        what = "source and target are the same store"
        raise CommandFailed(what, advice="name two stores", code=ExitCode.USAGE)
    accepted = accept_losses or ()
    with connected(context, source) as old, connected(context, target) as new, progress("copying") as advance:
        contents = Contents(old, accepted=accepted)
        work = Import(new, accepted=accepted)
        records, items = contents.count_records(), contents.count_items()
        for kind, number in ((MemoryRecord, records), (MemoryItem, items)):
            if number:
                work.refuse_losses(kind)
        _run(work, _entries(contents), lambda _size: advance(work.read, records + items), as_json=as_json)
        warn_if_forgetful(new)
    if work.bad:
        what = f"{plural(work.bad, 'entry', 'entries')} refused by the target"
        raise CommandFailed(what, advice="raise its limits, or mend them in the source, and copy again")


def _entries(contents: Contents) -> Iterator[Entry]:
    for page in contents.pages():
        for content in page:
            name = "record" if isinstance(content, MemoryRecord) else "item"
            yield Entry(f"{name} {content.id}", len(_line(content)), content)


def _line(content: MemoryItem | MemoryRecord) -> bytes:
    return record_line(content) if isinstance(content, MemoryRecord) else item_line(content)


def _run(
    work: Import,
    entries: Iterable[Entry],
    advance: Callable[[int], None],
    *,
    skip_bad: bool = False,
    as_json: bool,
) -> None:
    try:
        work.run(entries, advance)
    except CommandFailed:  # the store cannot take it, however often it is tried
        raise
    except BaseException:
        tell("not finished: run the same command again to go on")
        raise
    finally:
        _summarise(work, skip_bad=skip_bad, as_json=as_json)


def _summarise(work: Import, *, skip_bad: bool, as_json: bool) -> None:
    skipped, failed = (work.bad, 0) if skip_bad else (0, work.bad)
    skipped += work.left_out
    if as_json:
        write_document({"read": work.read, "stored": work.stored, "skipped": skipped, "failed": failed})
    else:
        say(f"read {work.read:,}, stored {work.stored:,}, skipped {skipped:,}, failed {failed:,}")


def _counted(*, items: int, records: int) -> str:
    """Return both numbers in words; that of records where there are any."""
    return plural(items, "item") + (f" and {plural(records, 'record')}" if records else "")


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
