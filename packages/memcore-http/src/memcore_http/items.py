"""The items contract over a memory service: every call is checked here first, then one request (I-40, I-62, I-63)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcore.errors import MalformedMemoryPayload, MemoryConfigurationError
from memcore.items.payload import encode_item, encode_items
from memcore.items.store import Page
from memcore.kit.query import check_erasure, check_id, check_ids, check_page_limit, check_query

from memcore_http import wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore.items.manifest import MemoryAdapterManifest
    from memcore.items.model import MemoryItem, MemoryQuery
    from memcore.items.payload import EncodedItem, SizeLimits
    from memcore.kit.lifecycle import Lifecycle

    from memcore_http.transport import Transport


class HttpPlainItems:
    """An `ExternalMemoryStore` that keeps, finds and orders as the store behind the service does.

    Any number of tasks may call it at once.
    """

    def __init__(self, transport: Transport, lifecycle: Lifecycle) -> None:
        self._transport = transport
        self._lifecycle = lifecycle

    def claim(self, manifest: MemoryAdapterManifest, limits: SizeLimits, *, is_managed: bool) -> None:
        """Take over what the service claims, when the backend opens (I-32)."""
        self._manifest = manifest
        self._limits = limits
        self._is_managed = is_managed
        # the same object for the life of the backend, whose protocols are known from now on
        self.__class__ = HttpItems if is_managed else HttpPlainItems

    @property
    def manifest(self) -> MemoryAdapterManifest:
        """What the service said when the backend opened."""
        self._lifecycle.require_open("the manifest")
        return self._manifest

    async def store(self, item: MemoryItem) -> UUID:
        """Create or replace the item by its id (I-42)."""
        await self._ready()
        encoded = encode_item(item, self._limits)
        body = _body(encoded)
        answer = await self._transport.write(
            wire.STORE, lambda ticket: wire.StoreRequest(ticket=ticket, item=body), wire.IdsAnswer
        )
        return wire.expect_ids(answer, [encoded.id])[0]

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        """Return the item, or `None` (I-50)."""
        await self._ready()
        key = check_id(item_id)
        answer = await self._transport.ask(wire.RETRIEVE, wire.RetrieveRequest(id=key), wire.ItemAnswer)
        if answer.item is None:
            return None
        if answer.item.id != key:
            raise MalformedMemoryPayload(f"the service answered another item than {key}")
        return answer.item.decode()

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        """Return the best matches, as the store behind the service ranks them (I-60 to I-68)."""
        await self._ready()
        checked = check_query(query, self._manifest.supports_filter)
        if checked.limit == 0:
            return []
        request = wire.SearchRequest(query=wire.encode_query(checked))
        answer = await self._transport.ask(wire.SEARCH, request, wire.ItemsAnswer)
        return _decode(answer.items, most=checked.limit)

    async def _ready(self, *, managing: bool = False) -> None:
        """Open on first use; whoever took the object before that may ask for what is not offered."""
        if not self._lifecycle.ready():
            await self._lifecycle.open()
        if managing and not self._is_managed:
            raise MemoryConfigurationError("the store behind the service can neither list nor erase its items")


class HttpItems(HttpPlainItems):
    """A `ManagedMemoryStore`, where the service offers one; and until it has been asked whether it does."""

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        """Store all items or none, in one request (I-80)."""
        await self._ready(managing=True)
        encoded = encode_items(items, self._limits)
        if not encoded:
            return []
        bodies = [_body(item) for item in encoded]
        answer = await self._transport.write(
            wire.STORE_MANY, lambda ticket: wire.StoreManyRequest(ticket=ticket, items=bodies), wire.IdsAnswer
        )
        return wire.expect_ids(answer, [item.id for item in encoded])

    async def delete(self, item_id: UUID) -> bool:
        """Erase the item; tell whether it was there (I-81)."""
        await self._ready(managing=True)
        return await self.delete_many([item_id]) == 1

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        """Erase these items in one request; return how many were there (I-81)."""
        await self._ready(managing=True)
        ids = check_ids(item_ids, most=self._limits.batch)
        if not ids:
            return 0
        answer = await self._transport.write(
            wire.DELETE, lambda ticket: wire.DeleteRequest(ticket=ticket, ids=ids), wire.CountAnswer
        )
        if answer.count > len(ids):
            raise MalformedMemoryPayload("the service erased more items than it was asked to")
        return answer.count

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        """Erase the items that match every filter (I-81)."""
        await self._ready(managing=True)
        text = wire.encode_filters(check_erasure(filters, self._manifest.supports_filter))
        answer = await self._transport.write(
            wire.DELETE_WHERE, lambda ticket: wire.DeleteWhereRequest(ticket=ticket, filters=text), wire.CountAnswer
        )
        return answer.count

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        """Return the next page in order of id (I-82)."""
        await self._ready(managing=True)
        size = check_page_limit(limit)
        request = wire.ScanRequest(after=wire.check_cursor(after), limit=size)
        answer = await self._transport.ask(wire.SCAN, request, wire.PageAnswer)
        return Page(_decode(answer.items, most=size), answer.next)

    async def count(self) -> int:
        """Return how many items there are (I-82)."""
        await self._ready(managing=True)
        return (await self._transport.ask(wire.COUNT, None, wire.CountAnswer)).count


def _body(item: EncodedItem) -> wire.ItemBody:
    return wire.ItemBody(id=item.id, created_at=item.created_at, payload=item.payload)


def _decode(bodies: Sequence[wire.ItemBody], *, most: int) -> list[MemoryItem]:
    if len(bodies) > most:
        raise MalformedMemoryPayload("the service answered more items than it was asked for")
    return [body.decode() for body in bodies]
