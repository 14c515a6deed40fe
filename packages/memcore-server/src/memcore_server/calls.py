"""One call of a client: who asks for what, whether that is offered, and its place among the writes of the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import unquote

from fastapi import Depends, Header, Request, Response
from memcore.backend import not_offered
from memcore.errors import MemoryConfigurationError
from memcore_http import wire
from memcore_http.wire_errors import ErrorBody

from memcore_server.faults import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memcore.items.store import ExternalMemoryStore, ManagedMemoryStore
    from memcore.records.store import RecordStore
    from pydantic import BaseModel

    from memcore_server.backends import Backends, Served

DEFAULT_NAMESPACE: Final = "default"
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorBody, "description": text}
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

    @property
    def records(self) -> RecordStore:
        """The records of the namespace.

        Raises:
            MemoryConfigurationError: the store does not offer them.
        """
        if self.opening.records is None:
            raise not_offered(self.served.backend.name, "records")
        return self.served.backend.records

    def extended(self, extension: Literal["history", "lifecycle", "transfer"]) -> Any:  # noqa: ANN401 - the caller's
        """Return the records, of a store that offers the extension.

        Raises:
            MemoryConfigurationError: it does not.
        """
        records = self.records
        if not getattr(self.opening.records, extension):
            raise MemoryConfigurationError(f"the store that is served does not offer {extension!r} of its records")
        return records

    async def write(
        self, ticket: wire.Ticket, work: Callable[[], Awaitable[BaseModel]], *, remember: wire.Route | None = None
    ) -> Response:
        """Make a write in its place among the writes of its client; the answer of a route to remember is kept.

        Raises:
            Refused: the token allows reading alone, or the client has gone on.
        """
        if not self.may_write:
            raise Refused("forbidden", "the token allows reading alone")
        return answer(await self.served.fence.run(ticket, work, remembered_as=remember and remember.path))


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


def answer(message: BaseModel) -> Response:
    """Return the response that holds a message."""
    return Response(message.model_dump_json(), media_type="application/json")
