"""What commands write: JSON as bytes, tables for people on a terminal, tab-separated lines into a pipe.

Rich is imported when a table is drawn on a terminal, never before.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memcore_cli.item_json import item_line
from memcore_cli.json_text import write_json
from memcore_cli.text import clipped, moment, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memcore.items.model import MemoryItem

SHOWN: Final = 500
"""Characters of a content that a table shows."""


class Summary(NamedTuple):
    """A cell with a content, and what else is known of it, on a line of its own."""

    content: str
    details: str


def prepare_streams() -> None:
    """Make stdout and stderr take any text whatever the locale: what they cannot encode becomes an escape."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed before we started
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for the process's life
        elif isinstance(stream.buffer, io.RawIOBase):  # `python -u` loses what a pipe does not take at once
            buffer = io.BufferedWriter(stream.buffer)
            whole = io.TextIOWrapper(buffer, stream.encoding, "backslashreplace", line_buffering=True)
            setattr(sys, name, whole)
        else:
            stream.reconfigure(errors="backslashreplace")


def discard_unwritable() -> None:
    """Let what cannot be written any more vanish, instead of failing once more when Python exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_bytes(data: bytes) -> None:
    """Write data to stdout as they are, whatever the locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def write_document(document: object) -> None:
    """Write one JSON document to stdout, in ASCII."""
    write_bytes(write_json(document))


def write_items(items: Iterable[MemoryItem]) -> None:
    """Write a JSON array with one item a line to stdout, as the items come."""
    before = b"[\n"
    for item in items:
        write_bytes(before + item_line(item).rstrip(b"\n"))
        before = b",\n"
    write_bytes(b"\n]\n" if before == b",\n" else b"[]\n")


def say(text: str) -> None:
    """Write one line for people to stdout."""
    sys.stdout.write(printable(text) + "\n")


def tell(text: str) -> None:
    """Write one line for people to stderr, where it is in no program's way."""
    sys.stderr.write(printable(text) + "\n")


def show_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Show names with their values, one a line; lines within a value stay lines."""
    rows = list(fields)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        indented = printable(value, keep="\n").replace("\n", "\n" + " " * (width + 2))
        sys.stdout.write(f"{name:<{width}}  {indented}\n")


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Show rows: a table on a terminal, else one line a row with a tab between its cells."""
    if sys.stdout.isatty():
        draw_table(columns, rows)
        return
    for row in rows:
        sys.stdout.write("\t".join(map(printable, row)) + "\n")


def draw_table(columns: Sequence[str], rows: Iterable[Sequence[str | Summary]]) -> None:
    """Draw a table for a terminal."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(*columns, box=SIMPLE_HEAD, show_edge=False)
    for row in rows:
        table.add_row(*map(_cell, row))
    Console(file=sys.stdout, markup=False, highlight=False, emoji=False).print(table)


def show_items(items: Iterable[MemoryItem], *, first: int = 1) -> None:
    """Show items: content, id, time, tags and metadata on a terminal, else id, time, tags and content."""
    if sys.stdout.isatty():
        draw_table(("", "memory"), ((str(number), _summary(item)) for number, item in enumerate(items, start=first)))
        return
    rows = ((str(item.id), moment(item.created_at), ",".join(item.tags), content_text(item)) for item in items)
    show_table((), rows)


def content_text(item: MemoryItem) -> str:
    """Return a content as text: a string as it is, anything else as JSON."""
    return item.content if isinstance(item.content, str) else compact(item.content)


def compact(value: object) -> str:
    """Return a value as JSON for people."""
    return json.dumps(value, ensure_ascii=False, default=repr)


def _summary(item: MemoryItem) -> Summary:
    details = [str(item.id), moment(item.created_at), *(f"#{tag}" for tag in item.tags)]
    if item.metadata:
        details.append(clipped(compact(item.metadata), limit=SHOWN))
    return Summary(clipped(content_text(item), limit=SHOWN), "  ".join(details))


def _cell(cell: str | Summary) -> Any:  # noqa: ANN401 - a text of rich, which is loaded here
    from rich.text import Text  # noqa: PLC0415

    if isinstance(cell, str):
        return Text(printable(cell))
    return Text.assemble(printable(cell.content, keep="\n"), "\n", (printable(cell.details), "dim"))
