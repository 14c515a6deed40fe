"""Records for people: a table, one with all it holds, and a chain as a tree."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Final, NamedTuple

from memcore_cli.json_text import write_json
from memcore_cli.output import SHOWN, Summary, compact, draw_table, show_fields, show_table, write_bytes
from memcore_cli.record_json import record_document
from memcore_cli.text import clipped, printable, time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from memcore.records.model import MemoryRecord, Status


class _Glyphs(NamedTuple):
    valid: str
    ended: str
    along: str
    fork: str
    last: str


_DRAWN: Final = _Glyphs("●", "○", "│ ", "├─", "└─")
_PLAIN: Final = _Glyphs("*", "o", "| ", "|-", "`-")
"""Where the output cannot take the others."""


def status_of(record: MemoryRecord, as_of: datetime | None = None) -> Status:
    """Return what a record is that a store gave back, or what it was at a moment.

    Without a moment its end counts, not when that was: the clock of the store may be ahead of ours.
    """
    if as_of is not None:
        return record.status_at(as_of)
    if record.invalid_at is None:
        return "valid"
    return "invalidated" if record.superseded_by is None else "superseded"


def write_records(documents: Iterable[Mapping[str, object]]) -> None:
    """Write a JSON array with one record or hit a line to stdout."""
    lines = [write_json(document).rstrip(b"\n") for document in documents]
    write_bytes(b"[\n" + b",\n".join(lines) + b"\n]\n" if lines else b"[]\n")


def show_records(records: Sequence[MemoryRecord], *, as_of: datetime | None = None) -> None:
    """Show records: a table on a terminal, else id, time, status, kind, scope, tags and content with tabs between."""
    if sys.stdout.isatty():
        rows = ((str(number), _summary(record, as_of)) for number, record in enumerate(records, start=1))
        draw_table(("", "record"), rows)
        return
    show_table((), (_row(record, as_of) for record in records))


def show_record(record: MemoryRecord) -> None:
    """Show what a record holds, but for what it has not."""
    document = record_document(record)
    fields = {
        "id": str(record.id),
        "status": status_of(record) + _ending(record),
        "kind": record.kind,
        "scope": _scope(record),
        "content": record.content,
        "context": record.context,
        "tags": ", ".join(record.tags),
        "from": _known(document["provenance"]),
        "payload": None if record.payload is None else compact(record.payload),
        "target": None if record.target is None else compact(record.target),
        "supports": "\n".join(_known(provenance) for provenance in map(dict, record.supports)),
        "created": time_text(record.created_at),
        "ended": _time(record.invalid_at),
        "successor": record.superseded_by and str(record.superseded_by),
        "expires": _time(record.expires_at),
        "tier": record.tier,
        "hits": str(record.hits) if record.hits else None,
        "last hit": _time(record.last_hit_at),
        "refreshed": _time(record.refreshed_at),
    }
    show_fields((name, value) for name, value in fields.items() if value)


def show_history(records: Sequence[MemoryRecord]) -> None:
    """Draw a chain as a tree: what is newest at the top, below each record what it superseded."""
    drawn = (sys.stdout.encoding or "").lower().startswith("utf")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in _tree(records, _DRAWN if drawn else _PLAIN, width):
        sys.stdout.write(line + "\n")


def _tree(records: Sequence[MemoryRecord], glyphs: _Glyphs, width: int | None) -> Iterator[str]:
    """Yield the lines of a tree; several branches under a record are a merge."""
    before: dict[UUID, list[MemoryRecord]] = {record.id: [] for record in records}
    for record in records:
        if record.superseded_by in before:
            before[record.superseded_by].append(record)
    head = next((record for record in records if record.superseded_by not in before), records[-1])
    waiting = [("", "", head)]
    while waiting:
        first, rest, record = waiting.pop()
        older = before.pop(record.id, [])
        mark = glyphs.valid if record.invalid_at is None else glyphs.ended
        title, *details = _described(record, None if width is None else width - len(rest) - 4)
        yield f"{first}{mark} {title}"
        margin = rest + (glyphs.along if older else "  ")
        yield from (f"{margin}  {detail}" for detail in details)
        if len(older) == 1:
            waiting.append((rest, rest, older[0]))
            continue
        for place, branch in enumerate(older):  # the oldest is drawn last, as everywhere in the tree
            joint, beside = (glyphs.last, "  ") if place == 0 else (glyphs.fork, glyphs.along)
            waiting.append((rest + joint, rest + beside, branch))


def _described(record: MemoryRecord, width: int | None) -> Iterator[str]:
    status = status_of(record)
    until = f" to {_time(record.invalid_at)}" if record.invalid_at else ""
    yield printable(f"{status}  {time_text(record.created_at)}{until}{_ending(record)}")
    for line in clipped(record.content, limit=SHOWN).split("\n"):
        text = printable(line)
        yield from (textwrap.wrap(text, max(width, 20)) or [""]) if width else [text]
    parts = [str(record.id), _author(record), f"expires {_time(record.expires_at)}" if record.expires_at else ""]
    yield printable("  ".join(filter(None, parts)))


def _summary(record: MemoryRecord, as_of: datetime | None) -> Summary:
    status = status_of(record, as_of)
    details = [
        str(record.id),
        time_text(record.created_at),
        "" if status == "valid" else status + _ending(record),
        record.kind,
        _scope(record),
        *(f"#{tag}" for tag in record.tags),
    ]
    return Summary(clipped(record.content, limit=SHOWN), "  ".join(filter(None, details)))


def _row(record: MemoryRecord, as_of: datetime | None) -> list[str]:
    facts = [str(record.id), time_text(record.created_at), status_of(record, as_of), record.kind]
    return [*facts, _scope(record), ",".join(record.tags), record.content]


def _ending(record: MemoryRecord) -> str:
    by = f" by {record.invalidated_by}" if record.invalidated_by else ""
    return by + (f": {record.invalid_reason}" if record.invalid_reason else "")


def _author(record: MemoryRecord) -> str:
    return f"from {record.provenance.author}" if record.provenance.author else ""


def _scope(record: MemoryRecord) -> str:
    return ", ".join(f"{key}={value}" for key, value in record.scope.items())


def _known(provenance: object) -> str:
    names = provenance if isinstance(provenance, dict) else {}
    return ", ".join(f"{name} {value}" for name, value in names.items() if value is not None)


def _time(time: datetime | None) -> str | None:
    return None if time is None else time_text(time)
