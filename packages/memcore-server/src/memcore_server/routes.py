"""Every route of the service: take the request apart, ask the backend, put the answer together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Request, Response, Security
from fastapi.security import HTTPBearer
from memcore.errors import MalformedMemoryPayload, MemoryConfigurationError
from memcore.items.store import ManagedMemoryStore
from memcore_http import wire

from memcore_server.backends import Backends, Served
from memcore_server.faults import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memcore.items.model import MemoryItem
    from memcore.items.store import ExternalMemoryStore
    from pydantic import BaseModel

DEFAULT_NAMESPACE: Final = "default"
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": wire.ErrorBody, "description": text}
    for status, text in {
        400: "The protocol is another one, or the body is no JSON.",
        401: "There is no token, or an unknown one.",
        403: "The token does not allow this.",
        404: "There is no such route or record.",
        405: "The route has another method.",
        409: "The client has gone on, or the claims have changed.",
        413: "The request is too large.",
        422: "The store refuses the item or the query, or the request is not what the protocol says.",
        500: "The service failed.",
        501: "The store does not offer this.",
        502: "What is stored is damaged.",
        503: "The store cannot be used now, or the service is busy.",
    }.items()
}

router = APIRouter(responses=ERRORS, dependencies=[Security(HTTPBearer(auto_error=False))])
probes = APIRouter(responses={503: ERRORS[503]})


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a namespace that is open."""

    served: Served
    opening: wire.Opening
    may_write: bool

    @property
    def items(self) -> ExternalMemoryStore:
        """The items of the namespace."""
        return self.served.backend.items

    @property
    def managed(self) -> ManagedMemoryStore:
        """The items, of a store that can list and erase them.

        Raises:
            MemoryConfigurationError: it cannot.
        """
        if not self.served.is_managed:
            raise MemoryConfigurationError("the store that is served can neither list nor erase its items")
        items: Any = self.items
        managed: ManagedMemoryStore = items
        return managed

    async def write(
        self, ticket: wire.Ticket, work: Callable[[], Awaitable[BaseModel]], *, remember: bool = False
    ) -> Response:
        """Make a write in its place among the writes of its client.

        Raises:
            Refused: the token allows reading alone, or the client has gone on.
        """
        if not self.may_write:
            raise Refused("forbidden", "the token allows reading alone")
        return _answer(await self.served.fence.run(ticket, work, remember=remember))


async def _begin(
    request: Request,
    protocol: Annotated[str, Header(alias=wire.PROTOCOL_HEADER, json_schema_extra={"const": str(wire.PROTOCOL)})],
    namespace: Annotated[str | None, Header(alias=wire.NAMESPACE_HEADER, description="Percent-encoded.")] = None,
    claims: Annotated[str | None, Header(alias=wire.CLAIMS_HEADER)] = None,
) -> Call:
    if protocol != str(wire.PROTOCOL):
        raise Refused("other_protocol")
    token = request.state.token
    wanted = unquote(namespace) if namespace else None
    if token is not None and wanted not in {None, token.namespace}:
        raise Refused("forbidden", "the token is for another namespace")
    name = token.namespace if token else wanted or DEFAULT_NAMESPACE
    request.state.namespace = name
    backends: Backends = request.app.state.backends
    served = await backends.get(name)
    assert served.opening is not None  # noqa: S101 - it is open
    if claims is not None and claims != served.opening.claims:
        raise Refused("other_claims")
    return Call(served, served.opening, may_write=token is None or token.access == "write")


Begun = Annotated[Call, Depends(_begin)]


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
    return _answer(call.opening)


@router.get(wire.PING.path, response_model=wire.PingAnswer, summary="Make a round trip to the store")
async def ping(call: Begun) -> Response:
    """Return the health of the store."""
    found = await call.served.backend.ping()
    return _answer(wire.PingAnswer(health=found))


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
    return _answer(wire.ItemAnswer(item=None if item is None else wire.ItemBody.of(item)))


@router.post(wire.SEARCH.path, response_model=wire.ItemsAnswer, summary="Return the best matches")
async def search(body: wire.SearchRequest, call: Begun) -> Response:
    """Return the best matches of a query."""
    try:
        query = wire.decode_query(body.query)
    except MalformedMemoryPayload as error:
        raise Refused("invalid_request", "query: not one") from error
    return _answer(wire.ItemsAnswer(items=_encode(await call.items.search(query))))


@router.post(wire.SCAN.path, response_model=wire.PageAnswer, summary="Return the next page")
async def scan(body: wire.ScanRequest, call: Begun) -> Response:
    """Return the next page in order of id."""
    page = await call.managed.scan(after=body.after, limit=body.limit)
    return _answer(wire.PageAnswer(items=_encode(page.items), next=page.next))


@router.get(wire.COUNT.path, response_model=wire.CountAnswer, summary="Count the items")
async def count(call: Begun) -> Response:
    """Return how many items there are."""
    return _answer(wire.CountAnswer(count=await call.managed.count()))


@router.post(wire.DELETE.path, response_model=wire.CountAnswer, summary="Erase items by id")
async def delete(body: wire.DeleteRequest, call: Begun) -> Response:
    """Erase items by their ids; return how many were there."""

    async def work() -> wire.CountAnswer:
        return wire.CountAnswer(count=await call.managed.delete_many(body.ids))

    return await call.write(body.ticket, work, remember=True)


@router.post(wire.DELETE_WHERE.path, response_model=wire.CountAnswer, summary="Erase items by their metadata")
async def delete_where(body: wire.DeleteWhereRequest, call: Begun) -> Response:
    """Erase what matches every filter; return how many did."""
    try:
        filters = wire.decode_filters(body.filters)
    except MalformedMemoryPayload as error:
        raise Refused("invalid_request", "filters: not an object") from error

    async def work() -> wire.CountAnswer:
        return wire.CountAnswer(count=await call.managed.delete_where(filters))

    return await call.write(body.ticket, work, remember=True)


@router.post(wire.DROP_NAMESPACE.path, response_model=wire.Answer, summary="Erase everything in the namespace")
async def drop_namespace(body: wire.DropNamespaceRequest, call: Begun) -> Response:
    """Erase everything in the namespace, if its name was given once more."""
    if body.namespace != call.opening.namespace:
        raise Refused("forbidden", "the namespace that was named is another one")

    async def work() -> wire.Answer:
        await call.served.backend.drop_namespace()
        return wire.Answer()

    return await call.write(body.ticket, work, remember=True)


def _answer(message: BaseModel) -> Response:
    return Response(message.model_dump_json(), media_type="application/json")


def _encode(items: list[MemoryItem]) -> list[wire.ItemBody]:
    return [wire.ItemBody.of(item) for item in items]


def _decode(body: wire.ItemBody) -> MemoryItem:
    try:
        return body.decode()
    except MalformedMemoryPayload as error:
        raise Refused("invalid_request", "item: its payload is not one") from error
