"""Items as JSON: one object each, the form of `export`, `import` and `--json`.

What is written is ASCII, so that every string survives every wire; what is read is exact or refused, never repaired.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn
from uuid import UUID, uuid5

from memcore.errors import MalformedMemoryPayload
from memcore.items.model import MemoryItem
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from memcore.items.payload import ItemLike

MAX_LINE: Final = 64 * 2**20
"""Bytes of one line of input; the default limits of a store let an item have about 11 million."""

_UNNAMED: Final = UUID("8c2fdb43-2a0c-4f0e-93a5-6e1a1a0c7d55")
"""The namespace of the ids of items that come without one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of input: an item, or the reason why it is none."""

    place: str
    """Where it stands, such as `line 3`."""
    size: int
    """How many bytes of the input it takes."""
    item: MemoryItem | None = None
    fault: str | None = None


def item_document(item: ItemLike) -> dict[str, object]:
    """Return the JSON object of an item."""
    return {
        "id": str(item.id),
        "created_at": item.created_at,
        "content": item.content,
        "metadata": item.metadata,
        "tags": item.tags,
    }


def item_line(item: ItemLike) -> bytes:
    """Return an item as one line of ASCII JSON.

    Raises:
        MalformedMemoryPayload: a store gave back what is not JSON.
    """
    try:
        return write_json(item_document(item))
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedMemoryPayload(f"item {item.id} holds what is not JSON") from error


def write_json(document: object) -> bytes:
    """Return a document as one line of ASCII JSON.

    Raises:
        TypeError: a part is not JSON.
        ValueError: a number is not finite.
    """
    return json.dumps(document, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def read_json(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON text; unlike `json.loads`, take no NaN, no infinity and no key twice.

    Raises:
        ValueError: the text is not such.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise ValueError(f"not JSON: {error.msg} at {line}column {error.colno}") from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    except ValueError as error:  # of our own checks, or of an integer with too many digits
        raise ValueError(str(error).partition("; use sys.")[0]) from None


def read_items(source: BinaryIO) -> Iterator[Entry]:
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
    if "id" not in document:
        document = {**document, "id": uuid5(_UNNAMED, json.dumps(document, sort_keys=True))}
    try:
        return Entry(place, size, MemoryItem.model_validate(document))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        texts = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].removeprefix('Value error, ')}" for fault in faults
        ]
        return Entry(place, size, fault="; ".join(texts))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:40]!a} stands twice in one object")
    return document
