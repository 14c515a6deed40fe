"""Checks of a query at the adapter's door, before any transport (I-50, I-62, I-63, I-82)."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

from memcore.errors import UnsupportedMemoryItem, UnsupportedMemoryQuery
from memcore.kit import exact_json

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST_LIMIT: Final = (1 << 31) - 1
"""A limit above this is this: more than any page can hold, and every database takes it."""

MOST_FILTERS: Final = 500
"""Filters of one query at most: databases bound how many conditions a statement may have."""

_TAGS: Final = (list, tuple, set, frozenset)  # not an iterator: whoever looks at one takes its tags away
_MAX_FILTER_CHARS: Final = 1_000_000
_CHECK_BYTES: Final = 4
_ID_BYTES: Final = 16


class QueryLike(Protocol):
    """What an adapter accepts as a query."""

    @property
    def text(self) -> str | None:
        """Words to look for."""
        ...

    @property
    def tags(self) -> list[str] | None:
        """Any of them."""
        ...

    @property
    def filters(self) -> dict[str, Any] | None:
        """All of them."""
        ...

    @property
    def limit(self) -> int:
        """At most so many items."""
        ...


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query that the store can answer; an empty axis is no predicate."""

    text: str
    tags: tuple[str, ...]
    filters: dict[str, Any]
    limit: int


def check_query(query: QueryLike, supports_filter: Callable[[str], bool]) -> CheckedQuery:
    """Check every axis of a query and return it in one form.

    Raises:
        UnsupportedMemoryQuery: the limit is negative, an axis has a wrong type, or a filter is not supported;
            all offending keys at once.
    """
    try:
        text, tags, filters, limit = query.text, query.tags, query.filters, query.limit
    except AttributeError as error:
        reason = f"a MemoryQuery is needed: {type(query).__name__} has no attribute {error.name!r}"
        raise UnsupportedMemoryQuery(["query"], reason=reason) from error
    fits = {
        "text": text is None or isinstance(text, str),
        "tags": tags is None or (isinstance(tags, _TAGS) and all(isinstance(tag, str) for tag in tags)),
        "limit": type(limit) is int and limit >= 0,
    }
    rejected = [axis for axis, fit in fits.items() if not fit]
    rejected += [] if filters is None else _rejected_filters(filters, supports_filter)
    if rejected:
        raise UnsupportedMemoryQuery(rejected)
    checked = dict(filters or {})
    check_filter_values(checked)
    return CheckedQuery(text or "", tuple(dict.fromkeys(tags or ())), checked, min(limit, LARGEST_LIMIT))


def check_filter_values(filters: Mapping[str, Any]) -> None:
    """Refuse filters that no JSON entry can equal, such as NaN or a tuple, and more than `MOST_FILTERS` (I-45).

    Raises:
        UnsupportedMemoryQuery: names every such key, or `filters` if there are too many.
    """
    if len(filters) > MOST_FILTERS:
        raise UnsupportedMemoryQuery(["filters"], reason=f"over the limit of {MOST_FILTERS} filters in one query")
    reasons: dict[str, str] = {}
    for key, value in filters.items():
        try:
            exact_json.encode({key: value}, field="filters", max_chars=_MAX_FILTER_CHARS)
        except UnsupportedMemoryItem as error:
            reasons[key] = f"{error.path}: {error.reason}"
    if reasons:
        raise UnsupportedMemoryQuery(reasons, reason="; ".join(reasons.values()))


def check_erasure(filters: Mapping[str, Any], supports_filter: Callable[[str], bool]) -> dict[str, Any]:
    """Check the filters of `delete_where` (I-81): an empty condition would empty the store.

    Raises:
        UnsupportedMemoryQuery: the filters are empty, not supported, or no JSON values.
    """
    if not filters:
        raise UnsupportedMemoryQuery(["filters"], reason="an empty filter would erase everything")
    rejected = _rejected_filters(filters, supports_filter)
    if rejected:
        raise UnsupportedMemoryQuery(rejected)
    check_filter_values(filters)
    return dict(filters)


def matches_filters(metadata: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Tell whether the metadata equal every filter as JSON (I-67): `None` matches a missing key or null."""
    return all(_equal(metadata.get(key), value) for key, value in filters.items())


def check_id(item_id: object) -> UUID:
    """Return the id if it is a UUID.

    Raises:
        UnsupportedMemoryQuery: it is something else, which could only be a miss by mistake.
    """
    if isinstance(item_id, UUID):
        return item_id
    raise UnsupportedMemoryQuery(["id"], reason=f"a UUID is needed, not {type(item_id).__name__}")


def check_ids(item_ids: Collection[object], *, most: int) -> list[UUID]:
    """Return the ids of one call, each once, in order.

    Raises:
        UnsupportedMemoryQuery: it is no collection, or one of them is no UUID.
        UnsupportedMemoryItem: there are more than `most` (I-45).
    """
    if not isinstance(item_ids, Collection):
        raise UnsupportedMemoryQuery(["ids"], reason=f"a collection is needed, not {type(item_ids).__name__}")
    if len(item_ids) > most:
        raise UnsupportedMemoryItem(field="ids", reason=f"over the limit of {most:,} ids in one call")
    return list(dict.fromkeys(map(check_id, item_ids)))


def check_page_limit(limit: object) -> int:
    """Return the page limit of a scan, at most `LARGEST_LIMIT`.

    Raises:
        UnsupportedMemoryQuery: it is not a positive integer: an empty page would end the scan.
    """
    if type(limit) is int and limit > 0:
        return min(limit, LARGEST_LIMIT)
    raise UnsupportedMemoryQuery(["limit"], reason="a page needs a limit of at least 1")


def encode_cursor(namespace: str, last: UUID) -> str:
    """Return the opaque cursor of the page after the item `last`."""
    data = last.bytes + _checksum(namespace, last.bytes)
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def decode_cursor(namespace: str, cursor: object) -> UUID:
    """Return the id that a cursor of this namespace stands for.

    Raises:
        UnsupportedMemoryQuery: it is no cursor that `encode_cursor` made for this namespace.
    """
    if isinstance(cursor, str):
        with suppress(ValueError):  # not ASCII, not base64, not 16 bytes
            last = UUID(bytes=base64.urlsafe_b64decode(cursor.encode("ascii") + b"=")[:_ID_BYTES])
            if encode_cursor(namespace, last) == cursor:
                return last
    raise UnsupportedMemoryQuery(["after"], reason="not a cursor of this store")


def _rejected_filters(filters: object, supports_filter: Callable[[str], bool]) -> list[str]:
    if not isinstance(filters, Mapping) or not all(isinstance(key, str) for key in filters):
        return ["filters"]
    return [key for key in filters if not supports_filter(key)]


def _checksum(namespace: str, data: bytes) -> bytes:
    return blake2b(namespace.encode("utf-8", "surrogatepass") + data, digest_size=_CHECK_BYTES).digest()


def _equal(stored: object, wanted: object) -> bool:
    simple = type(stored) is type(wanted) and not isinstance(stored, (dict, list))
    return stored == wanted if simple else exact_json.canonical(stored) == exact_json.canonical(wanted)
