"""Stores in which namespaces meet."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from memcore.kit.query import check_id

from mutants import RemoteBackend, RemoteItems, Service, mutant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore.items.in_memory import InMemoryItems


@mutant("B-04b")
class ComposesNames(RemoteItems):
    """Names are compared in their composed form."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)  # type: ignore[arg-type]
        self._namespace = unicodedata.normalize("NFC", self._namespace)


@mutant("B-04b")
class CutsNames(RemoteItems):
    """Names are cut to 63 characters."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)  # type: ignore[arg-type]
        self._namespace = self._namespace[:63]


@mutant("B-04c")
class ErasesEverywhere(RemoteItems):
    """An id is erased in every namespace."""

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        erased = await super().delete_many(item_ids)
        for namespace in list(self._wire.service.rows):
            await self._wire.call("remove", namespace, [str(check_id(item_id)) for item_id in item_ids])
        return erased


@mutant("B-04d")
class DropsByPrefix(RemoteBackend):
    """What is dropped is a prefix."""

    async def drop_namespace(self) -> None:
        await self.open()
        for name in list(self._wire.service.rows):
            if name.startswith(self._settings.namespace):
                await self._wire.call("drop", name)


@mutant("B-04e")
class OneIndexForAll(Service):
    """All namespaces share one index, and what is found is sorted out afterwards."""

    def _index(self, _namespace: str) -> InMemoryItems:
        return super()._index("all")

    async def find(self, namespace: str, query: dict[str, Any]) -> dict[str, Any]:
        rows = self.rows[namespace]
        self.rows["all"] = {key: row for part in list(self.rows.values()) for key, row in part.items()}
        found = (await super().find("all", query | {"limit": 1 << 20}))["rows"]
        del self.rows["all"]
        return {"rows": [row for row in found if row and row[0] in rows][: query["limit"]]}
