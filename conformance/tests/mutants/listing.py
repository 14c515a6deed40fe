"""Searches that list too much or too little, and readers that take ids for less than they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from memcore import MemoryAdapterManifest, MemoryItem
from memcore_conformance.harness import Loss

from mutants import Backend, Harness, Items, RemoteItems, Service, harmless, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import MemoryQuery


@mutant("I-61b")
class ListsForeignRows(Service):
    """Whatever is stored is listed as an item."""

    async def find(self, namespace: str, query: dict[str, Any]) -> dict[str, Any]:
        answer = await super().find(namespace, query)
        foreign = [key for key, row in self.rows[namespace].items() if row is None]
        payload = '{"content":null,"metadata":{},"tags":[]}'
        listed = [] if query["text"] or query["tags"] or query["filters"] else foreign
        return {"rows": [*answer["rows"], *((key, 0.0, payload) for key in listed)]}


@mutant("I-61c")
class NoTagsIsNothing(Items):
    """An empty list of tags matches no item."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return [] if query.tags == [] else await super().search(query)


@mutant("I-62e")
class OneHitPerTag(Items):
    """An item that matches by two tags is found twice."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        found: list[MemoryItem] = []
        for tag in query.tags or [None]:
            found += await super().search(query.model_copy(update={"tags": tag and [tag]}))
        return found


@mutant("I-62e")
class PagesOfTen(Items):
    """No more than ten items are found, whatever the limit is."""

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        return (await super().search(query))[:10]


@mutant("I-63c")
class RefusesTooLate(RemoteItems):
    """The service is asked before a filter is refused."""

    def make_manifest(self) -> MemoryAdapterManifest:
        return super().make_manifest().model_copy(update={"open_filters": False})

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        if query.filters:
            await self.call("count")
        return await super().search(query)


@mutant("I-64c")
class ErasesAtNight(Service):
    """What is deleted stays until the index is made anew."""

    async def remove(self, namespace: str, ids: Sequence[str]) -> dict[str, Any]:
        self.doomed = [*getattr(self, "doomed", []), (namespace, ids)]
        return {"removed": len([key for key in dict.fromkeys(ids) if self.rows[namespace].get(key)])}

    async def show_all(self) -> None:
        for namespace, ids in getattr(self, "doomed", []):
            await super().remove(namespace, ids)
        self.doomed: list[tuple[str, Sequence[str]]] = []
        await super().show_all()


@mutant("I-50c")
class HalfOfTheId(Items):
    """An id is looked up by its first half."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        near = next(
            (entry.id for entry in self._index.entries.values() if entry.id.int >> 64 == item_id.int >> 64), None
        )
        return await super().retrieve(near or item_id)


@mutant("I-50d")
class NilIsNothing(Items):
    """An id of zeros counts as none."""

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        return await super().retrieve(item_id) if item_id.int else None


class _Partial(Items):
    """Keeps less than `memory://`, and says so."""

    claims: ClassVar[dict[str, object]]

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._manifest = MemoryAdapterManifest.model_validate(self._manifest.model_dump() | self.claims)


class _DropsTimes(_Partial):
    claims: ClassVar[dict[str, object]] = {
        "native_item_fields": frozenset({"id", "content", "tags", "metadata"}),
        "dropped_item_fields": frozenset({"created_at"}),
        "retrieve_fidelity": "native_fields",
        "search_fidelity": "native_fields",
    }


@mutant("I-51b")
class KeepsTimes(_DropsTimes):
    """Times are declared dropped, and come back."""


class _DropsMetadata(_Partial):
    claims: ClassVar[dict[str, object]] = {
        "native_item_fields": frozenset({"id", "content", "tags", "created_at"}),
        "dropped_item_fields": frozenset({"metadata"}),
        "open_filters": False,
        "retrieve_fidelity": "native_fields",
        "search_fidelity": "native_fields",
        "preserves_metadata": False,
    }

    async def store(self, item: MemoryItem) -> UUID:
        await super().store(item)  # which refuses what is no item
        return await super().store(
            MemoryItem(id=item.id, created_at=item.created_at, content=item.content, tags=item.tags)
        )


@harmless
class DropsMetadata(_DropsMetadata):
    """Metadata are declared dropped, and are."""


class _Lowers(_Partial):
    claims: ClassVar[dict[str, object]] = {"retrieve_fidelity": "lossy", "search_fidelity": "lossy"}

    async def store(self, item: MemoryItem) -> UUID:
        await super().store(item)  # which refuses what is no item
        content = item.content.lower() if isinstance(item.content, str) else item.content
        fields = {name: getattr(item, name) for name in ("id", "created_at", "metadata", "tags")}
        return await super().store(MemoryItem(content=content, **fields))


@harmless
class DeclaresItsLosses(Harness):
    """Texts come back in lower case, and a fixture shows it."""

    class backend_type(Backend):  # noqa: N801 - the part that the harness exchanges
        items_type = _Lowers

    def losses(self) -> list[Any]:
        return [_loss("TEA", "tea")]


@mutant("I-51c")
class LosesMoreThanItShows(DeclaresItsLosses.factory):  # type: ignore[name-defined, misc]
    """A fixture says that texts are kept, and they come back in lower case."""

    def losses(self) -> list[Any]:
        return [_loss("TEA", "tea"), _loss("Tea for two", "Tea for two")]


def _loss(given: str, kept: str) -> Loss:
    fields: dict[str, Any] = {"id": "11111111-1111-4111-8111-111111111111", "created_at": 1.5}
    items = MemoryItem(content=given, **fields), MemoryItem(content=kept, **fields)
    return Loss(name=given, rule="texts are in lower case", given=items[0], kept=items[1])
