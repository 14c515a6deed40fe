"""What a caller stores and asks for: `MemoryItem` and `MemoryQuery` (I-01 to I-03).

The models are permissive on purpose: what a store cannot keep exactly is refused at the store's door,
by `memcore.kit`, not here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sized
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID, uuid4

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer


def _now() -> float:
    return datetime.now(UTC).timestamp()


def _epoch_seconds(value: object) -> float:
    seconds = _parse_time(value)
    if not math.isfinite(seconds):
        msg = "created_at must be a finite number of seconds"
        raise ValueError(msg)
    return seconds + 0.0  # -0.0 + 0.0 is 0.0


def _parse_time(value: object) -> float:
    if isinstance(value, datetime):
        return (value if value.utcoffset() is not None else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, str):
        return _parse_time_text(value.strip())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError as error:
            msg = "created_at must be a finite number of seconds"
            raise ValueError(msg) from error
    msg = "created_at must be UTC epoch seconds, a datetime, an ISO 8601 string or a numeric string"
    raise ValueError(msg)


def _parse_time_text(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return _parse_time(datetime.fromisoformat(text))


def _as_dict(value: object) -> dict[Any, Any]:
    if value is None or (isinstance(value, Sized) and len(value) == 0):
        return {}
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, Mapping):
        return dict(value)
    msg = "metadata must be a mapping, a pydantic model or None"
    raise ValueError(msg)


class MemoryItem(BaseModel, extra="forbid"):
    """One thing to remember, known by its `id` (I-01).

    Two items are equal when their ids are, whatever else they hold; an item is always true.
    """

    id: Annotated[UUID, PlainSerializer(str)] = Field(default_factory=uuid4, frozen=True)
    created_at: Annotated[float, BeforeValidator(_epoch_seconds)] = Field(default_factory=_now, frozen=True)
    """UTC epoch seconds; also accepts a datetime (naive means UTC), an ISO 8601 or a numeric string."""
    metadata: Annotated[dict[Any, Any], BeforeValidator(_as_dict)] = Field(default_factory=dict)
    content: Any = None
    tags: list[str] = Field(default_factory=list)

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, MemoryItem) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __bool__(self) -> bool:
        return True


class MemoryQuery(BaseModel, extra="forbid"):
    """What to look for; an axis that is `None` or empty is no predicate, several are ANDed (I-02).

    An unknown axis is refused: a mistyped one that was ignored would find what the caller meant to exclude.
    """

    text: str | None = None
    tags: list[str] | None = None
    filters: dict[str, Any] | None = None
    limit: int = 20
