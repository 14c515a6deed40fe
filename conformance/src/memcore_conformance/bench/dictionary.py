"""The limit of memory: a dictionary, scanned for every question as most in-memory stores do."""

from __future__ import annotations

import heapq
from itertools import islice
from typing import TYPE_CHECKING, cast

from memcore_conformance.bench.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore_conformance.bench.workload import Item, Question


class DictDriver(Driver):
    """Items by id in order of insertion; hands out its own objects."""

    async def open(self) -> None:
        """Begin empty."""
        self._items: dict[UUID, Item] = {}

    async def put(self, item: Item) -> None:
        """Keep a copy."""
        self._items[item.id] = item._replace(tags=list(item.tags), metadata=dict(item.metadata))

    async def get(self, item_id: UUID) -> object:
        """Look up."""
        return self._items.get(item_id)

    async def find(self, question: Question) -> Sequence[object]:
        """Scan: the newest that match, or those with most of the words in them."""
        if not question.words:
            newest = (item for item in reversed(self._items.values()) if _meets(item, question))
            return list(islice(newest, question.limit))
        scored = [
            (sum(word in text for word in question.words), item.created_at, item)
            for item in self._items.values()
            if _meets(item, question)
            for text in (item.text.lower(),)
        ]
        found = (scores for scores in scored if scores[0])
        return [item for *_, item in heapq.nlargest(question.limit, found, key=lambda scores: scores[:2])]

    def id_of(self, hit: object) -> UUID:
        """Return the item's id."""
        return cast("Item", hit).id


def _meets(item: Item, question: Question) -> bool:
    if question.tag is not None and question.tag not in item.tags:
        return False
    return question.entry is None or item.metadata.get(question.entry[0]) == question.entry[1]
