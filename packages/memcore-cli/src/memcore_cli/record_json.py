"""Records as JSON: one object each with every field, exactly; among items, a line `{"record": …}` holds one."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from memcore.errors import MalformedMemoryPayload
from memcore.records.model import MemoryRecord, Provenance
from memcore.scope import Scope

from memcore_cli.json_text import write_json

if TYPE_CHECKING:
    from memcore.records.model import MemoryHit

MARK: Final = "record"
"""The one key of a line that holds a record; no item has such a field."""


def record_document(record: MemoryRecord) -> dict[str, object]:
    """Return the JSON object of a record; times have microseconds and are in UTC."""
    return {name: _plain(getattr(record, name)) for name in MemoryRecord.model_fields}


def hit_document(hit: MemoryHit) -> dict[str, object]:
    """Return the JSON object of a hit: the record, its score, and the cursor of what comes behind it."""
    return {MARK: record_document(hit.record), "score": hit.score, "cursor": hit.cursor}


def record_line(record: MemoryRecord) -> bytes:
    """Return a record as one line of ASCII JSON.

    Raises:
        MalformedMemoryPayload: a store gave back what is not JSON.
    """
    try:
        return write_json({MARK: record_document(record)})
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedMemoryPayload(f"record {record.id} holds what is not JSON") from error


def _plain(value: object) -> object:
    """Return the JSON form of what is none yet; a payload is JSON already."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, (Scope, Provenance)):
        return dict(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value
