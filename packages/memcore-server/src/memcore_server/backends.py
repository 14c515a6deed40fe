"""The backends behind the service: one for each namespace, opened when it is first asked for and kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memcore.errors import MemoryConfigurationError
from memcore.items.store import ManagedMemoryStore
from memcore.records.store import RecordHistory, RecordLifecycle, Transfer
from memcore_http.wire import Opening

from memcore_server.faults import Refused
from memcore_server.fence import Fence

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore.backend import Backend
    from memcore.records.store import RecordCapabilities

    from memcore_server.limits import ServiceLimits

_EXTENSIONS: Final = {"history": RecordHistory, "lifecycle": RecordLifecycle, "transfer": Transfer}


@dataclass(slots=True)
class Served:
    """One namespace that is served."""

    backend: Backend
    fence: Fence = field(default_factory=Fence)
    opening: Opening | None = None
    """What clients are told; known once the backend is open."""
    is_managed: bool = False


class Backends:
    """Opens backends and keeps them.

    Args:
        connect: makes a backend, not yet open, for a namespace.
        limits: how many there may be, and what clients are told about requests.
    """

    def __init__(self, connect: Callable[[str], Backend], limits: ServiceLimits) -> None:
        self._connect = connect
        self._limits = limits
        self._served: dict[str, Served] = {}

    async def get(self, namespace: str) -> Served:
        """Return the namespace with its backend open.

        Raises:
            Refused: there are too many of them already, or none can have that name.
            MemcoreError: it cannot be opened now.
        """
        served = self._served.get(namespace)
        if served is None:
            if len(self._served) >= self._limits.namespaces:
                raise Refused("busy", "the memory service has too many namespaces in use; nothing was begun")
            try:
                served = self._served[namespace] = Served(self._connect(namespace))
            except MemoryConfigurationError as error:
                raise Refused("invalid_request", "the store takes no namespace of that name") from error
        if served.opening is None:
            await served.backend.open()
            served.is_managed = isinstance(served.backend.items, ManagedMemoryStore)
            served.opening = self._describe(namespace, served)
        return served

    async def close(self) -> None:
        """Close every backend, each whatever becomes of the others."""
        closing = [served.backend.close() for served in self._served.values()]
        results = await asyncio.gather(*closing, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    def _describe(self, namespace: str, served: Served) -> Opening:
        """Return what clients may rely on: that of the backend, which many of them share here."""
        claimed = served.backend.capabilities
        records = _describe_records(served.backend)
        extensions = {name for name in _EXTENSIONS if getattr(records, name, False)}
        capabilities = claimed.model_copy(
            update={
                "contracts": claimed.contracts & {"items", "records"},
                "extensions": frozenset(extensions | ({"managed"} if served.is_managed else set())),
                "shared": True,
            }
        )
        manifest = served.backend.items.manifest
        most = self._limits.request_bytes
        return Opening.of(namespace, manifest, capabilities, records, max_request_bytes=most)


def _describe_records(backend: Backend) -> RecordCapabilities | None:
    """Return what the records can do, if there are any; of the extensions, those that are really there."""
    if "records" not in backend.capabilities.contracts:
        return None
    records = backend.records
    extensions = {name: isinstance(records, protocol) for name, protocol in _EXTENSIONS.items()}
    return records.capabilities().model_copy(update=extensions)
