"""The cursor of a listing, newest first: where its last record stands, opaque and checked (R-05)."""

from __future__ import annotations

import base64
from contextlib import suppress
from hashlib import blake2b
from typing import Final
from uuid import UUID

from memcore.errors import UnsupportedMemoryQuery

_TIME_BYTES: Final = 8
_ID_BYTES: Final = 16
_CHECK_BYTES: Final = 4

Place = tuple[int, UUID]
"""`created_at` in microseconds since 1970, and the id: what a listing is ordered by."""


def encode_place(created_at: int, record_id: UUID) -> str:
    """Return the cursor behind the record of that time, in microseconds since 1970, and id."""
    data = created_at.to_bytes(_TIME_BYTES, "big", signed=True) + record_id.bytes
    return base64.urlsafe_b64encode(data + blake2b(data, digest_size=_CHECK_BYTES).digest()).decode("ascii")


def decode_place(cursor: str) -> Place:
    """Return the place that a cursor stands for.

    Raises:
        UnsupportedMemoryQuery: it is no cursor that `encode_place` made.
    """
    with suppress(ValueError):  # not ASCII, not base64, too short
        data = base64.urlsafe_b64decode(cursor.encode("ascii"))
        created_at = int.from_bytes(data[:_TIME_BYTES], "big", signed=True)
        record_id = UUID(bytes=data[_TIME_BYTES : _TIME_BYTES + _ID_BYTES])
        if encode_place(created_at, record_id) == cursor:
            return created_at, record_id
    raise UnsupportedMemoryQuery(["after"], reason="not the cursor of a hit")
