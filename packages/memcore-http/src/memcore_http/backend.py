"""`http://` and `https://`: a memory service as a backend (B-02).

When connections open: on first use, on `open()`, or by `async with`, which asks the service for its manifest and
claims; further ones as calls need them. Concurrency: any number of tasks of one event loop, `max_connections` requests
at once. Closing: closes the connections, but not a client that was brought along. Retries: see `transport`. Scope: one
namespace, which the token fixes, or the setting where there is no token. Conflicts: the last write of an item wins; of
writes that supersede one record the first.
Health: `ping()`, which lets the service make a round trip to its store.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self

import httpx
from memcore.backend import Capabilities, Health, not_offered
from memcore.items.payload import SizeLimits
from memcore.kit.lifecycle import Lifecycle

from memcore_http import wire
from memcore_http.items import HttpItems
from memcore_http.records import HttpUnopenedRecords
from memcore_http.transport import Transport

if TYPE_CHECKING:
    from memcore_http.records import HttpRecords
    from memcore_http.settings import HttpSettings


class HttpBackend:
    """One client of one memory service.

    Args:
        settings: where it is, who asks, and how long to wait.
        transport: what carries the requests; a test may bring another clock or other pauses.
    """

    name: ClassVar[str] = "http"

    def __init__(self, settings: HttpSettings, *, transport: Transport | None = None) -> None:
        self._settings = settings
        self._transport = transport or Transport(settings)
        self._lifecycle = Lifecycle(repr(self), opening=self._open, closing=self._transport.close)
        self._items = HttpItems(self._transport, self._lifecycle)
        self._records: HttpRecords = HttpUnopenedRecords(self._transport, self._lifecycle)

    @property
    def items(self) -> HttpItems:
        """The items behind the service; it is known once this is open whether they are managed."""
        return self._items

    @property
    def records(self) -> HttpRecords:
        """The records behind the service; it is known once this is open whether there are any, and which extensions.

        Raises:
            MemoryConfigurationError: the service does not offer them.
        """
        if self._lifecycle.is_open and self._opening.records is None:
            raise not_offered(self.name, "records")
        return self._records

    @property
    def conversations(self) -> NoReturn:
        """Not offered."""
        raise not_offered(self.name, "conversations")

    @property
    def capabilities(self) -> Capabilities:
        """The claims of the store behind the service, once this is open."""
        self._lifecycle.require_open("the capabilities")
        return self._capabilities

    async def open(self) -> None:
        """Connect, and learn what the service claims.

        Raises:
            MemoryAdapterUnavailable: it cannot be reached, or speaks another version of the protocol.
            MemoryAdapterError: it refuses the token.
            MalformedMemoryPayload: what answers there is no memory service.
        """
        await self._lifecycle.open()

    async def close(self) -> None:
        """Close the connections; again does nothing."""
        await self._lifecycle.close()

    async def ping(self) -> Health:
        """Make one round trip to the service, and let it make one to its store; never retried."""
        await self.open()
        started = time.perf_counter()
        answer = await self._transport.ask(wire.PING, None, wire.PingAnswer, once=True)
        latency = time.perf_counter() - started
        own = {"memcore-http": version("memcore-http"), "httpx": httpx.__version__}
        return answer.health.model_copy(update={"latency": latency, "versions": own | answer.health.versions})

    async def drop_namespace(self) -> None:
        """Erase everything in the namespace; the token must allow to write."""
        await self.open()
        name = self._opening.namespace
        await self._transport.write(
            wire.DROP_NAMESPACE,
            lambda ticket: wire.DropNamespaceRequest(ticket=ticket, namespace=name),
            wire.Answer,
        )

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{self._settings.base_url} backend, namespace {self._settings.namespace!r}>"

    async def _open(self) -> None:
        self._opening = await self._transport.open()
        claimed = self._opening.capabilities
        limits = _narrower(claimed.limits, self._settings.limits)
        contracts = claimed.contracts & {"items", "records"}
        self._capabilities = claimed.model_copy(update={"contracts": contracts, "limits": limits})
        manifest = self._opening.manifest.model_copy(update={"adapter": self.name})
        self._items.claim(manifest, limits, is_managed="managed" in claimed.extensions)
        self._records.claim(self._opening.records, limits)


def _narrower(theirs: SizeLimits | None, ours: SizeLimits) -> SizeLimits:
    """Return the limits that hold on both sides."""
    if theirs is None:
        return ours
    return SizeLimits(**{name: min(getattr(theirs, name), getattr(ours, name)) for name in SizeLimits.model_fields})
