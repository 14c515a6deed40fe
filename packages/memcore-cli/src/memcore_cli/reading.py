"""What stands in an input: items and records, each known by its form; exact or refused, never repaired."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

from memcore.items.model import MemoryItem
from memcore.records.model import MemoryRecord
from pydantic import ValidationError

from memcore_cli.json_text import read_json
from memcore_cli.record_json import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

MAX_LINE: Final = 64 * 2**20
"""Bytes of one line of input; the default limits of a store let an item have about 11 million."""

_UNNAMED: Final = UUID("8c2fdb43-2a0c-4f0e-93a5-6e1a1a0c7d55")
"""The namespace of the ids of items that come without one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of input: an item, a record, or the reason why it is neither."""

    place: str
    """Where it stands, such as `line 3`."""
    size: int
    """How many bytes of the input it takes."""
    content: MemoryItem | MemoryRecord | None = None
    fault: str | None = None


def read_input(source: BinaryIO) -> Iterator[Entry]:
    """Yield what stands in JSON lines, or in one JSON array.

    A UTF-8 byte order mark and blank lines are skipped, CRLF ends a line too. An item without an id gets one that
    follows from what it holds, so that reading the same input again gives the same item.
    """
    number = 0
    may_be_array = True
    while line := source.readline(MAX_LINE):
        number += 1
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not text.strip():
            continue
        if may_be_array and text.lstrip().startswith(b"["):
            yield from _read_array(text + source.read(), number)
        elif len(line) == MAX_LINE and not line.endswith(b"\n"):
            yield Entry(f"line {number}", len(line) + _skip_line(source), fault=f"longer than {MAX_LINE:,} bytes")
        else:
            yield _read_line(text, f"line {number}", size=len(line))
        may_be_array = False


def faults_of(error: ValidationError) -> str:
    """Return what a model has against its input, without the input."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(
        ": ".join(filter(None, [".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")]))
        for fault in faults
    )


def _read_array(data: bytes, line: int) -> Iterator[Entry]:
    try:
        documents = read_json("\n" * (line - 1) + _decode(data))  # so that a fault is told by its line in the input
    except ValueError as error:
        yield Entry(f"array from line {line} on", len(data), fault=str(error))
        return
    for number, document in enumerate(documents, start=1):
        yield _entry(document, f"item {number}", size=len(data) // len(documents))


def _read_line(line: bytes, place: str, *, size: int) -> Entry:
    try:
        document = read_json(_decode(line.rstrip(b"\r\n")))
    except ValueError as error:
        return Entry(place, size, fault=str(error))
    return _entry(document, place, size=size)


def _skip_line(source: BinaryIO) -> int:
    skipped = 0
    while part := source.readline(MAX_LINE):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from None


def _entry(document: object, place: str, *, size: int) -> Entry:
    if not isinstance(document, dict):
        return Entry(place, size, fault="not a JSON object")
    if document.keys() == {MARK} and not isinstance(document[MARK], dict):
        return Entry(place, size, fault=f"{MARK}: not a JSON object")
    try:
        if document.keys() == {MARK}:
            return Entry(place, size, MemoryRecord.model_validate(document[MARK]))
        if "id" not in document:
            document = {**document, "id": uuid5(_UNNAMED, json.dumps(document, sort_keys=True))}
        return Entry(place, size, MemoryItem.model_validate(document))
    except ValidationError as error:
        return Entry(place, size, fault=faults_of(error))
