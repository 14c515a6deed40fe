"""What the `analysed` profile says of a set of items, worked out with the kit alone: every backend must equal it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.kit.ranking import ITEM_WEIGHTS, Candidate, rank
from memcore.kit.text import analyse_item, analyse_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore import MemoryItem


def sharing(items: Sequence[MemoryItem], text: str) -> list[MemoryItem]:
    """Return the items that share an analysed word with a text, in the order given."""
    wanted = frozenset(analyse_query(text))
    return [item for item in items if not all(wanted.isdisjoint(words) for words in analyse_item(*_searchable(item)))]


def ranked(items: Sequence[MemoryItem], text: str) -> list[MemoryItem]:
    """Return the items that share an analysed word with a text, in the order that up to 300 of them have."""
    candidates = [
        Candidate(item, item.created_at, item.id, tuple(map(" ".join, analyse_item(*_searchable(item)))))
        for item in sharing(items, text)
    ]
    best = rank(analyse_query(text), candidates, weights=ITEM_WEIGHTS, limit=len(candidates))
    return [candidate.key for candidate, _score in best]


def _searchable(item: MemoryItem) -> tuple[object, list[str]]:
    return item.content, item.tags
