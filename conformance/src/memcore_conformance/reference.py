"""What the `analysed` profile says of items, or of records, worked out with the kit: every backend must equal it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.kit.ranking import ITEM_WEIGHTS, RECORD_WEIGHTS, Candidate, rank
from memcore.kit.text import analyse_item, analyse_query, analyse_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore import MemoryItem, MemoryRecord


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


def ranked_records(records: Sequence[MemoryRecord], text: str) -> list[MemoryRecord]:
    """Return the records that share an analysed word with a text, in the order that up to 300 of them have."""
    wanted = frozenset(analyse_query(text))
    analysed = [(record, analyse_record(record.content, record.tags, record.context)) for record in records]
    candidates = [
        Candidate(record, record.created_at.timestamp(), record.id, tuple(map(" ".join, fields)))
        for record, fields in analysed
        if not all(map(wanted.isdisjoint, fields))
    ]
    best = rank(analyse_query(text), candidates, weights=RECORD_WEIGHTS, limit=len(candidates))
    return [candidate.key for candidate, _score in best]


def _searchable(item: MemoryItem) -> tuple[object, list[str]]:
    return item.content, item.tags
