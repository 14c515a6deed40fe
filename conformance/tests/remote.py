"""A reference adapter with a transport: a service in this process, reached through a wire that can be cut.

It is what an adapter over a network looks like, small enough to read at once, and it claims what can be proven of it.
The suite's own tests try the faults on it, and mutants break it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self
from uuid import UUID

from memcore import (
    Capabilities,
    Health,
    MalformedMemoryPayload,
    MemoryAdapterError,
    MemoryAdapterManifest,
    MemoryAdapterUnavailable,
    MemoryQuery,
    Page,
)
from memcore.backend import not_offered
from memcore.items.in_memory import InMemoryItems
from memcore.items.manifest import ITEM_FIELDS
from memcore.items.payload import SizeLimits, decode_item, encode_item, encode_items
from memcore.kit.lifecycle import Lifecycle
from memcore.kit.query import (
    check_erasure,
    check_id,
    check_ids,
    check_page_limit,
    check_query,
    decode_cursor,
    encode_cursor,
    matches_filters,
)
from memcore.settings import AdapterSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memcore import MemoryItem
    from memcore_conformance.harness import Fault

Row = tuple[str, float, str]
"""Id, time and payload, as they travel."""

SCHEMA = 1


class Service:
    """What the other side keeps: rows by namespace, and an index that lags behind until somebody shows it."""

    def __init__(self) -> None:
        self.schema = SCHEMA
        self.rows: dict[str, dict[str, Row | None]] = defaultdict(dict)
        self._indexes: dict[str, InMemoryItems] = {}

    async def put(self, namespace: str, rows: Sequence[Row]) -> dict[str, Any]:
        self.rows[namespace].update({row[0]: row for row in rows})
        return {"ids": [row[0] for row in rows]}

    async def get(self, namespace: str, item_id: str) -> dict[str, Any]:
        return {"row": self.rows[namespace].get(item_id)}

    async def find(self, namespace: str, query: dict[str, Any]) -> dict[str, Any]:
        found = await self._index(namespace).search(MemoryQuery(**query))
        return {"rows": [self.rows[namespace].get(str(item.id)) for item in found]}

    async def remove(self, namespace: str, ids: Sequence[str]) -> dict[str, Any]:
        gone = [item_id for item_id in dict.fromkeys(ids) if self.rows[namespace].pop(item_id, None)]
        await self._index(namespace).delete_many([UUID(item_id) for item_id in gone])
        return {"removed": len(gone)}

    async def scan(self, namespace: str, after: str, limit: int) -> dict[str, Any]:
        ids = sorted(item_id for item_id, row in self.rows[namespace].items() if row and item_id > after)
        return {"rows": [self.rows[namespace][item_id] for item_id in ids[:limit]]}

    async def count(self, namespace: str) -> dict[str, Any]:
        return {"count": sum(row is not None for row in self.rows[namespace].values())}

    async def drop(self, namespace: str) -> dict[str, Any]:
        self.rows.pop(namespace, None)
        self._indexes.pop(namespace, None)
        return {}

    async def ping(self) -> dict[str, Any]:
        return {}

    def clear(self) -> None:
        self.rows.clear()
        self._indexes.clear()

    async def show(self, namespace: str, rows: Sequence[Row | None]) -> None:
        await self._index(namespace).store_many([_decode(row) for row in rows if row])

    async def show_all(self) -> None:
        for namespace, rows in self.rows.items():
            await self.show(namespace, list(rows.values()))

    def _index(self, namespace: str) -> InMemoryItems:
        if namespace not in self._indexes:
            lifecycle = Lifecycle("the index", opening=_nothing, closing=_nothing)
            self._indexes[namespace] = InMemoryItems(lifecycle, SizeLimits(), namespace=namespace)
        return self._indexes[namespace]


class Wire:
    """The transport: every call is JSON, is counted, and can be made to fail."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.calls = 0
        self.down = False
        self.fault: Fault | None = None

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        self.calls += 1
        fault, self.fault = self.fault, None
        await asyncio.sleep(0)
        if self.down or fault == "refused":
            raise ConnectionRefusedError("nobody listens")
        if fault == "timeout":
            raise TimeoutError("no answer")
        if fault == "denied":
            raise PermissionError("credentials refused")
        answer = await getattr(self.service, name)(*json.loads(json.dumps(arguments)))
        await asyncio.sleep(0)
        if fault == "lost_answer":
            raise ConnectionResetError("reset by peer")
        text = "<html>" if fault == "malformed" else "{}" if fault == "no_identity" else json.dumps(answer)
        return json.loads(text) | {"schema": self.service.schema}


class RemoteSettings(AdapterSettings):
    limits: SizeLimits = SizeLimits()


class RemoteItems:
    """The items of the service."""

    def __init__(self, wire: Wire, lifecycle: Lifecycle, settings: RemoteSettings) -> None:
        self._wire = wire
        self._lifecycle = lifecycle
        self._limits = settings.limits
        self._namespace = settings.namespace
        self._manifest = self.make_manifest()

    def make_manifest(self) -> MemoryAdapterManifest:
        return MemoryAdapterManifest(
            adapter="remote",
            native_item_fields=ITEM_FIELDS,
            dropped_item_fields=frozenset(),
            supported_filters=frozenset(),
            open_filters=True,
            search_consistency="eventual",
            retrieve_fidelity="full",
            search_fidelity="full",
            search_returns_tags=True,
            preserves_metadata=True,
        )

    @property
    def manifest(self) -> MemoryAdapterManifest:
        self._lifecycle.require_open("the manifest")
        return self._manifest

    async def store(self, item: MemoryItem) -> UUID:
        await self._lifecycle.open()
        encoded = encode_item(item, self._limits)
        return (await self._put([(str(encoded.id), encoded.created_at, encoded.payload)]))[0]

    async def store_many(self, items: Sequence[MemoryItem]) -> list[UUID]:
        await self._lifecycle.open()
        encoded = encode_items(items, self._limits)
        return await self._put([(str(one.id), one.created_at, one.payload) for one in encoded]) if encoded else []

    async def retrieve(self, item_id: UUID) -> MemoryItem | None:
        await self._lifecycle.open()
        answer = await self.call("get", str(check_id(item_id)))
        with mapped():
            return _decode(answer["row"]) if answer["row"] else None

    async def search(self, query: MemoryQuery) -> list[MemoryItem]:
        await self._lifecycle.open()
        checked = check_query(query, self._manifest.supports_filter)
        if checked.limit == 0:
            return []
        asked = {"text": checked.text, "tags": list(checked.tags), "filters": checked.filters, "limit": checked.limit}
        return await self._rows("find", asked)

    async def delete(self, item_id: UUID) -> bool:
        return await self.delete_many([item_id]) == 1

    async def delete_many(self, item_ids: Sequence[UUID]) -> int:
        await self._lifecycle.open()
        answer = await self.call("remove", [str(item_id) for item_id in check_ids(item_ids, most=self._limits.batch)])
        with mapped():
            return int(answer["removed"])

    async def delete_where(self, filters: Mapping[str, Any]) -> int:
        await self._lifecycle.open()
        checked = check_erasure(filters, self._manifest.supports_filter)
        every = await self._rows("scan", "", 1 << 31)
        return await self.delete_many([item.id for item in every if matches_filters(item.metadata, checked)])

    async def scan(self, *, after: str | None = None, limit: int = 500) -> Page:
        await self._lifecycle.open()
        size = check_page_limit(limit)
        start = "" if after is None else str(decode_cursor(self._namespace, after))
        items = await self._rows("scan", start, size + 1)
        return Page(items[:size], encode_cursor(self._namespace, items[size - 1].id) if len(items) > size else None)

    async def count(self) -> int:
        await self._lifecycle.open()
        answer = await self.call("count")
        with mapped():
            return int(answer["count"])

    async def call(self, name: str, *arguments: object) -> dict[str, Any]:
        with mapped():
            answer = await self._wire.call(name, self._namespace, *arguments)
        if answer["schema"] > SCHEMA:
            raise MemoryAdapterUnavailable("the data were written by a newer version")
        return answer

    async def _put(self, rows: list[Row]) -> list[UUID]:
        answer = await self.call("put", rows)
        with mapped():
            ids = [UUID(item_id) for item_id in answer["ids"]]
        if [str(item_id) for item_id in ids] != [row[0] for row in rows]:
            raise MalformedMemoryPayload("the service names other items")
        return ids

    async def _rows(self, name: str, *arguments: object) -> list[MemoryItem]:
        answer = await self.call(name, *arguments)
        with mapped():
            return [_decode(row) for row in answer["rows"]]


class RemoteBackend:
    """One client of the service."""

    name: ClassVar[str] = "remote"
    items_type: ClassVar[type[RemoteItems]] = RemoteItems

    def __init__(self, wire: Wire, settings: RemoteSettings) -> None:
        self._lifecycle = Lifecycle(repr(self), opening=self._connect, closing=_nothing)
        self._settings = settings
        self._items = self.items_type(wire, self._lifecycle, settings)
        self._wire = wire

    @property
    def items(self) -> RemoteItems:
        return self._items

    @property
    def records(self) -> NoReturn:
        raise not_offered(self.name, "records")

    @property
    def conversations(self) -> NoReturn:
        raise not_offered(self.name, "conversations")

    @property
    def capabilities(self) -> Capabilities:
        self._lifecycle.require_open("the capabilities")
        return Capabilities(
            contracts=frozenset({"items"}),
            analysed=True,
            search="keyword",
            extensions=frozenset({"managed"}),
            limits=self._settings.limits,
        )

    async def open(self) -> None:
        await self._lifecycle.open()

    async def close(self) -> None:
        await self._lifecycle.close()

    async def ping(self) -> Health:
        await self.open()
        with mapped():
            answer = await self._wire.call("ping")
        return Health(status="ok", latency=0.0, versions={"schema": str(answer["schema"])})

    async def drop_namespace(self) -> None:
        await self.open()
        await self._items.call("drop")

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _connect(self) -> None:
        with mapped():
            answer = await self._wire.call("ping")
        if answer["schema"] > SCHEMA:
            raise MemoryAdapterUnavailable("the data were written by a newer version")


class RemoteHarness:
    """The harness of the reference adapter, with every faculty that its service can have."""

    name: ClassVar[str] = "remote"
    backend_type: ClassVar[type[RemoteBackend]] = RemoteBackend
    wire_type: ClassVar[Callable[[Service], Wire]] = Wire
    service_type: ClassVar[Callable[[], Service]] = Service

    def __init__(self) -> None:
        self.service = self.service_type()
        self.wire = self.wire_type(self.service)

    async def make_backend(self, **settings: object) -> RemoteBackend:
        return self.backend_type(self.wire, RemoteSettings.resolve("remote://", settings, prefix="REMOTE_", environ={}))

    async def reset(self) -> None:
        self.service.clear()

    async def make_search_index_visible(self) -> None:
        await self.service.show_all()

    async def make_transport_unavailable(self) -> None:
        self.wire.down = True

    async def restore_transport(self) -> None:
        self.wire.down = False

    async def close(self) -> None:
        self.service.rows.clear()

    @property
    def faults(self) -> frozenset[Fault]:
        return frozenset({"refused", "timeout", "lost_answer", "malformed", "no_identity", "denied"})

    def calls(self) -> int:
        return self.wire.calls

    def fail_next(self, fault: Fault) -> None:
        self.wire.fault = fault

    def delay_index(self) -> None:
        """It always lags."""

    async def plant_foreign(self, item_id: UUID) -> None:
        self.service.rows["default"][str(item_id)] = None

    async def truncate(self, item_id: UUID) -> None:
        key, created_at, payload = self.service.rows["default"][str(item_id)] or ("", 0.0, "")
        self.service.rows["default"][str(item_id)] = (key, created_at, payload[:-3])

    async def make_newer(self) -> None:
        self.service.schema += 1

    async def fingerprint(self) -> str:
        return hashlib.sha256(repr((self.service.schema, dict(self.service.rows))).encode()).hexdigest()

    async def holds(self, text: str) -> bool:
        return text in repr(dict(self.service.rows))


@contextmanager
def mapped() -> Iterator[None]:
    """Turn what the wire raises, and answers that are not the contract, into errors of memcore."""
    try:
        yield
    except PermissionError as error:
        raise MemoryAdapterError("the service refuses the credentials") from error
    except OSError as error:
        raise MemoryAdapterUnavailable("the service cannot be reached") from error
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedMemoryPayload("the answer is not the service's contract") from error


def _decode(row: Row) -> MemoryItem:
    item_id, created_at, payload = row
    return decode_item(UUID(item_id), created_at, payload)


async def _nothing() -> None: ...
