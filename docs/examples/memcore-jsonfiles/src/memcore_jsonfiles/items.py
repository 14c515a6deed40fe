"""The items: one file each, named by the item's id, searched by reading them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import MalformedMemoryPayload, MemoryAdapterManifest
from memcore.items.manifest import ITEM_FIELDS
from memcore.items.payload import encode_item, restore_item
from memcore.kit import exact_json
from memcore.kit.query import check_id, check_query, matches_filters
from memcore.kit.ranking import ITEM_WEIGHTS, Candidate, rank
from memcore.kit.text import analyse_item, analyse_query

if TYPE_CHECKING:
    from uuid import UUID

    from memcore import MemoryItem, MemoryQuery, SizeLimits
    from memcore.items.payload import EncodedItem
    from memcore.kit.lifecycle import Lifecycle
    from memcore.kit.query import CheckedQuery

    from memcore_jsonfiles.folder import Folder


class JsonItems:
    """An `ExternalMemoryStore` over a folder; not managed, as no folder replaces several files at once."""

    def __init__(self, folder: Folder, lifecycle: Lifecycle, limits: SizeLimits) -> None:
        self._folder = folder
        self._lifecycle = lifecycle
        self._limits = limits
        self._manifest = MemoryAdapterManifest(
            adapter="jsonfiles",
            native_item_fields=ITEM_FIELDS,
            dropped_item_fields=frozenset(),
            supported_filters=frozenset(),
            open_filters=True,
            search_consistency="immediate",
            retrieve_fidelity="full",
            search_fidelity="full",
            search_returns_tags=True,
            preserves_metadata=True,
        )

    @property
    def manifest(self) -> MemoryAdapterManifest:
        """Nothing is lost, and any metadata key may be filtered."""
        self._lifecycle.require_open("the manifest")
        return self._manifest

    async def store(self, item: MemoryItem) -> UUID:
        """Create or replace the item's file (I-42)."""
        await self._lifecycle.open()
        encoded = encode_item(item, self._limits)
        text = _encode(encoded)
        if await self._folder.write(encoded.id, text) != len(text):
            msg = "the file of the item does not hold what was written"
            raise MalformedMemoryPayload(msg)
        return encoded.id

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Read the item's file (I-50)."""
        await self._lifecycle.open()
        known = check_id(item_id)
        text = await self._folder.read(known)
        return None if text is None else _decode(known, text)

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Read every file and return the best matches (I-66 to I-68)."""
        await self._lifecycle.open()
        checked = check_query(query, self._manifest.supports_filter)
        if checked.limit == 0:
            return []
        texts = await self._folder.read_all()
        found = [item for item_id, text in texts.items() if (item := _decode(item_id, text))]
        eligible = [item for item in found if _meets(item, checked)]
        return _ranked(eligible, checked) if checked.text else _newest(eligible, checked.limit)


def _encode(item: EncodedItem) -> str:
    parts = {"created_at": item.created_at, "content": item.content, "metadata": item.metadata, "tags": item.tags}
    return exact_json.encode_checked({"memcore": "item", **parts})


def _decode(item_id: UUID, text: str) -> MemoryItem | None:
    """Return the item of a text; `None` if it is JSON of another kind."""
    match exact_json.decode(text):
        case {
            "memcore": "item",
            "created_at": float(created_at),
            "content": content,
            "metadata": dict(metadata),
            "tags": list(tags),
        }:
            return restore_item(item_id, created_at, content, metadata, tags)
        case {"memcore": "item"}:
            msg = f"the file of item {item_id} lacks a field"
            raise MalformedMemoryPayload(msg)
    return None


def _meets(item: MemoryItem, query: CheckedQuery) -> bool:
    has_tag = not query.tags or not set(query.tags).isdisjoint(item.tags)
    return has_tag and matches_filters(item.metadata, query.filters)


def _newest(items: list[MemoryItem], limit: int) -> list[MemoryItem]:
    return sorted(items, key=lambda item: (item.created_at, item.id), reverse=True)[:limit]


def _ranked(items: list[MemoryItem], query: CheckedQuery) -> list[MemoryItem]:
    """Return those that share a word with the query, best first; the kit knows what a word is."""
    words = analyse_query(query.text)
    matches = []
    for item in items:
        fields = analyse_item(item.content, item.tags)
        if not set(words).isdisjoint(fields[0] + fields[1]):
            matches.append(Candidate(item, item.created_at, item.id, (" ".join(fields[0]), " ".join(fields[1]))))
    ranked = rank(words, matches, weights=ITEM_WEIGHTS, limit=query.limit)
    return [candidate.key for candidate, _score in ranked]
