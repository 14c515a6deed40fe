"""An item and the one text that keeps it: the exact payload from which everything else is derived.

Every adapter stores the id, `created_at` and this text; words, terms and vectors can be made from them again.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from memcore.errors import MalformedMemoryPayload, UnsupportedMemoryItem
from memcore.items.model import MemoryItem
from memcore.kit import exact_json
from memcore.kit.trusted import build

if TYPE_CHECKING:
    from collections.abc import Sequence


class SizeLimits(BaseModel, frozen=True, extra="forbid"):
    """How large an item and a batch may be; over a limit a store refuses, it never cuts (I-45).

    Where a setting is text, as in a URL or the environment, it is JSON: `{"content": 1000}`.
    """

    content: int = Field(default=4_000_000, gt=0)
    """Characters of the content as JSON text."""
    metadata: int = Field(default=1_000_000, gt=0)
    """Characters of the metadata as JSON text."""
    tags: int = Field(default=1_000, gt=0)
    """Tags of one item."""
    tag: int = Field(default=1_000, gt=0)
    """Characters of one tag."""
    batch: int = Field(default=10_000, gt=0)
    """Items, or ids, of one call."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return json.loads(value) if isinstance(value, str) else value


class ItemLike(Protocol):
    """What an adapter accepts: a host's own item class needs no more (I-11)."""

    @property
    def id(self) -> UUID:
        """The identity."""
        ...

    @property
    def created_at(self) -> float:
        """UTC epoch seconds."""
        ...

    @property
    def metadata(self) -> dict[str, Any]:
        """Top-level entries can be filtered."""
        ...

    @property
    def content(self) -> Any:  # noqa: ANN401 - any JSON value
        """What is remembered."""
        ...

    @property
    def tags(self) -> list[str]:
        """Matched exactly, any of them."""
        ...


class EncodedItem(NamedTuple):
    """An item that passed every check at the door, with its payload."""

    id: UUID
    created_at: float
    content: Any
    metadata: dict[str, Any]
    tags: list[str]
    payload: str


def encode_item(item: ItemLike, limits: SizeLimits, *, place: str = "") -> EncodedItem:
    """Check an item and encode what it holds (I-40, I-41, I-45).

    Args:
        item: any object with the five attributes.
        limits: the limits of the store.
        place: what an error's path starts with, such as `items[3].` in a batch.

    Raises:
        UnsupportedMemoryItem: a part would not come back exactly, or is over a limit.
    """
    try:
        item_id, created_at = item.id, item.created_at
        content, metadata, tags = item.content, item.metadata, item.tags
    except AttributeError as error:
        raise _refusal(place, "item", f"{type(item).__name__} has no attribute {error.name!r}") from error
    if not isinstance(item_id, UUID):
        raise _refusal(place, "id", f"a UUID is needed, not {type(item_id).__name__}")
    seconds = _check_time(created_at, place)
    if type(metadata) is not dict:
        raise _refusal(place, "metadata", f"a dict is needed, not {type(metadata).__name__}")
    _check_tags(tags, limits, place)
    try:
        payload = _encode_parts(content, metadata, tags, limits)
    except UnsupportedMemoryItem as error:
        raise (error if not place else _refusal(place, error.field, error.reason, error.path)) from error.__cause__
    plain_id = item_id if type(item_id) is UUID else UUID(int=item_id.int)
    return EncodedItem(plain_id, seconds, content, metadata, tags, payload)


def encode_items(items: Sequence[ItemLike], limits: SizeLimits) -> list[EncodedItem]:
    """Check a whole batch before any of it is written (I-80).

    Raises:
        UnsupportedMemoryItem: one item is refused (its path starts with its place), or there are too many.
    """
    if len(items) > limits.batch:
        raise UnsupportedMemoryItem(field="items", reason=f"over the limit of {limits.batch:,} items in one call")
    return [encode_item(item, limits, place=f"items[{place}].") for place, item in enumerate(items)]


def decode_item(item_id: UUID, created_at: float, payload: str) -> MemoryItem:
    """Return the item of a stored row; decoded, not judged again.

    Raises:
        MalformedMemoryPayload: the row is not what `encode_item` made.
    """
    data = exact_json.decode(payload)
    try:
        content, metadata, tags = data["content"], data["metadata"], data["tags"]
    except (TypeError, KeyError) as error:
        msg = f"the stored payload of item {item_id} lacks a field"
        raise MalformedMemoryPayload(msg) from error
    if type(metadata) is not dict or type(tags) is not list or type(created_at) is not float:
        msg = f"the stored payload of item {item_id} has a field of the wrong type"
        raise MalformedMemoryPayload(msg)
    return restore_item(item_id, created_at, content, metadata, tags)


def restore_item(
    item_id: UUID, created_at: float, content: object, metadata: dict[str, Any], tags: list[str]
) -> MemoryItem:
    """Build an item from parts that were checked when they came in."""
    return build(
        MemoryItem, {"id": item_id, "created_at": created_at, "metadata": metadata, "content": content, "tags": tags}
    )


_ESCAPED: Final = 12
"""The most characters that one character becomes in ASCII JSON: two escaped surrogates."""


def _encode_parts(content: object, metadata: dict[str, Any], tags: list[str], limits: SizeLimits) -> str:
    """Encode all parts at once: a text that is short as a whole leaves no limit to check."""
    bounds = (limits.content, limits.metadata, limits.tags * (limits.tag * _ESCAPED + 3) + 2)
    parts = {"content": content, "metadata": metadata, "tags": tags}
    for (field, part), bound in zip(parts.items(), bounds, strict=True):
        exact_json.check(part, field=field, max_chars=bound)
    try:
        text = exact_json.encode_checked(parts)
        if len(text) <= min(bounds):
            return text
    except ValueError:
        pass  # one of the parts cannot be written here: the next lines say which
    for (field, part), bound in zip(parts.items(), bounds, strict=True):
        exact_json.encode(part, field=field, max_chars=bound)
    return text


def _check_time(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refusal(place, "created_at", f"UTC epoch seconds are needed, not {type(value).__name__}")
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    if not math.isfinite(seconds) or seconds != value:
        raise _refusal(place, "created_at", "a finite number of seconds that a float keeps exactly is needed")
    return seconds + 0.0  # -0.0 + 0.0 is 0.0


def _check_tags(tags: object, limits: SizeLimits, place: str) -> None:
    if type(tags) is not list:
        raise _refusal(place, "tags", f"a list is needed, not {type(tags).__name__}")
    if len(tags) > limits.tags:
        raise _refusal(place, "tags", f"over the limit of {limits.tags:,} tags")
    for number, tag in enumerate(tags):
        if type(tag) is not str:
            raise _refusal(place, "tags", f"a str is needed, not {type(tag).__name__}", f"tags[{number}]")
        if len(tag) > limits.tag:
            raise _refusal(place, "tags", f"over the limit of {limits.tag:,} characters", f"tags[{number}]")


def _refusal(place: str, field: str, reason: str, path: str | None = None) -> UnsupportedMemoryItem:
    return UnsupportedMemoryItem(field=field, path=place + (path or field), reason=reason)
