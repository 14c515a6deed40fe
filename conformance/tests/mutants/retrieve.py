"""Broken readers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from memcore import MemoryAdapterManifest, MemoryItem

from mutants import Items, RemoteItems, mutant

if TYPE_CHECKING:
    from uuid import UUID


@mutant("I-50a")
class RaisesOnAMiss(Items):
    """An unknown id is an error."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        found = await super().retrieve(item_id)
        if found is None:
            raise KeyError(item_id)
        return found


@mutant("I-50b")
class TakesAnything(RemoteItems):
    """What is no memory item is made one."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        return await super().retrieve(item_id) or MemoryItem(id=item_id)


@mutant("I-51a")
class RoundsTimes(Items):
    """Times are kept in milliseconds."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        found = await super().retrieve(item_id)
        return found and found.model_copy(update={"created_at": math.floor(found.created_at * 1000) / 1000})


class _DropsMetadata(Items):
    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._manifest = MemoryAdapterManifest(
            adapter="memory",
            native_item_fields=frozenset({"id", "content", "tags", "created_at"}),
            dropped_item_fields=frozenset({"metadata"}),
            supported_filters=frozenset(),
            search_consistency="immediate",
            retrieve_fidelity="native_fields",
            search_fidelity="native_fields",
            search_returns_tags=True,
            preserves_metadata=False,
        )


@mutant("I-51b")
class KeepsWhatItDrops(_DropsMetadata):
    """Metadata are declared dropped, and come back at times."""


@mutant("I-51c")
class ClaimsLosses(Items):
    """Is declared lossy, and shows no losses."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._manifest = self._manifest.model_copy(update={"retrieve_fidelity": "lossy"})
