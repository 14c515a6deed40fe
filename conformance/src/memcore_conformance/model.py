"""A plain model of a store: what any sequence of calls has to answer, said as simply as possible.

It shares nothing with the kit. Its texts are words that no analysis changes, so that a word is what stands between
blanks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from memcore import MemoryItem


class Model:
    """The items by id, in a dict."""

    def __init__(self) -> None:
        self.items: dict[UUID, MemoryItem] = {}

    def store(self, items: Iterable[MemoryItem]) -> None:
        """Create or replace each, in order."""
        self.items.update((item.id, item) for item in items)

    def erase(self, ids: Iterable[UUID]) -> int:
        """Forget these and tell how many there were."""
        return sum(self.items.pop(item_id, None) is not None for item_id in list(ids))

    def matching(self, text: str, tags: Sequence[str], filters: Mapping[str, Any]) -> list[MemoryItem]:
        """Return what meets every condition that is given, newest first."""
        return sorted(
            (
                item
                for item in self.items.values()
                if (not text or not words(item).isdisjoint(text.split()))
                and (not tags or not set(tags).isdisjoint(item.tags))
                and all(equal(item.metadata.get(key), value) for key, value in filters.items())
            ),
            key=lambda item: (item.created_at, item.id),
            reverse=True,
        )

    def in_order(self) -> list[MemoryItem]:
        """Return everything in order of id."""
        return sorted(self.items.values(), key=lambda item: item.id)


def words(item: MemoryItem) -> set[str]:
    """Return the words of the content and of the tags."""
    content = item.content if isinstance(item.content, list) else [item.content]
    return {word for text in [*content, *item.tags] if isinstance(text, str) for word in text.split()}


def equal(one: object, other: object) -> bool:
    """Tell whether two values are the same in JSON: `1` is `1.0`, and `True` is neither."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return isinstance(one, bool) == isinstance(other, bool) and one == other
