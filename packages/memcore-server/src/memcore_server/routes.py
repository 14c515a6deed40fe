"""The routes of the service itself and of items: take a request apart, ask the backend, put the answer together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request, Response, Security
from fastapi.security import HTTPBearer
from memcore.errors import MalformedMemoryPayload
from memcore_http import wire

from memcore_server.calls import ERRORS, Begun, answer
from memcore_server.faults import Refused

if TYPE_CHECKING:
    from memcore.items.model import MemoryItem

router: Final = APIRouter(responses=ERRORS, dependencies=[Security(HTTPBearer(auto_error=False))])
probes: Final = APIRouter(responses={503: ERRORS[503]})


@probes.get("/health", summary="Whether the service runs")
async def health() -> dict[str, str]:
    """Answer, whatever the state of the store."""
    return {"status": "ok"}


@probes.get("/ready", summary="Whether the store can be used")
async def ready(request: Request) -> dict[str, str]:
    """Make a round trip to the store."""
    served = await request.app.state.backends.get(request.app.state.probed)
    return {"status": (await served.backend.ping()).status}


@router.get(wire.OPEN.path, response_model=wire.Opening, summary="What the service claims")
async def describe(call: Begun) -> Response:
    """Return the claims that hold for the life of a client."""
    return answer(call.opening)


@router.get(wire.PING.path, response_model=wire.PingAnswer, summary="Make a round trip to the store")
async def ping(call: Begun) -> Response:
    """Return the health of the store."""
    found = await call.served.backend.ping()
    return answer(wire.PingAnswer(health=found))


@router.post(wire.STORE.path, response_model=wire.IdsAnswer, summary="Create or replace an item")
async def store(body: wire.StoreRequest, call: Begun) -> Response:
    """Create or replace one item by its id."""
    item = _decode(body.item)

    async def work() -> wire.IdsAnswer:
        return wire.IdsAnswer(ids=[await call.items.store(item)])

    return await call.write(body.ticket, work)


@router.post(wire.STORE_MANY.path, response_model=wire.IdsAnswer, summary="Create or replace all items or none")
async def store_many(body: wire.StoreManyRequest, call: Begun) -> Response:
    """Create or replace all items or none."""
    items = [_decode(item) for item in body.items]

    async def work() -> wire.IdsAnswer:
        return wire.IdsAnswer(ids=await call.managed.store_many(items))

    return await call.write(body.ticket, work)


@router.post(wire.RETRIEVE.path, response_model=wire.ItemAnswer, summary="Return an item")
async def retrieve(body: wire.RetrieveRequest, call: Begun) -> Response:
    """Return the item of that id, or null."""
    item = await call.items.retrieve(body.id)
    return answer(wire.ItemAnswer(item=None if item is None else wire.ItemBody.of(item)))


@router.post(wire.SEARCH.path, response_model=wire.ItemsAnswer, summary="Return the best matches")
async def search(body: wire.SearchRequest, call: Begun) -> Response:
    """Return the best matches of a query."""
    try:
        query = wire.decode_query(body.query)
    except MalformedMemoryPayload as error:
        raise Refused("invalid_request", "query: not one") from error
    return answer(wire.ItemsAnswer(items=_encode(await call.items.search(query))))


@router.post(wire.SCAN.path, response_model=wire.PageAnswer, summary="Return the next page")
async def scan(body: wire.ScanRequest, call: Begun) -> Response:
    """Return the next page in order of id."""
    page = await call.managed.scan(after=body.after, limit=body.limit)
    return answer(wire.PageAnswer(items=_encode(page.items), next=page.next))


@router.get(wire.COUNT.path, response_model=wire.CountAnswer, summary="Count the items")
async def count(call: Begun) -> Response:
    """Return how many items there are."""
    return answer(wire.CountAnswer(count=await call.managed.count()))


@router.post(wire.DELETE.path, response_model=wire.CountAnswer, summary="Erase items by id")
async def delete(body: wire.DeleteRequest, call: Begun) -> Response:
    """Erase items by their ids; return how many were there."""

    async def work() -> wire.CountAnswer:
        return wire.CountAnswer(count=await call.managed.delete_many(body.ids))

    return await call.write(body.ticket, work, remember=wire.DELETE)


@router.post(wire.DELETE_WHERE.path, response_model=wire.CountAnswer, summary="Erase items by their metadata")
async def delete_where(body: wire.DeleteWhereRequest, call: Begun) -> Response:
    """Erase what matches every filter; return how many did."""
    try:
        filters = wire.decode_filters(body.filters)
    except MalformedMemoryPayload as error:
        raise Refused("invalid_request", "filters: not an object") from error

    async def work() -> wire.CountAnswer:
        return wire.CountAnswer(count=await call.managed.delete_where(filters))

    return await call.write(body.ticket, work, remember=wire.DELETE_WHERE)


@router.post(wire.DROP_NAMESPACE.path, response_model=wire.Answer, summary="Erase everything in the namespace")
async def drop_namespace(body: wire.DropNamespaceRequest, call: Begun) -> Response:
    """Erase everything in the namespace, if its name was given once more."""
    if body.namespace != call.opening.namespace:
        raise Refused("forbidden", "the namespace that was named is another one")

    async def work() -> wire.Answer:
        await call.served.backend.drop_namespace()
        return wire.Answer()

    return await call.write(body.ticket, work, remember=wire.DROP_NAMESPACE)


def _encode(items: list[MemoryItem]) -> list[wire.ItemBody]:
    return [wire.ItemBody.of(item) for item in items]


def _decode(body: wire.ItemBody) -> MemoryItem:
    try:
        return body.decode()
    except MalformedMemoryPayload as error:
        raise Refused("invalid_request", "item: its payload is not one") from error
