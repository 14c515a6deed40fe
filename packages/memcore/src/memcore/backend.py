"""`Backend`: one connection to one service, and the contracts it offers (B-02)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, runtime_checkable

from pydantic import BaseModel, Field

from memcore.errors import MemoryConfigurationError
from memcore.items.payload import SizeLimits

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from memcore.items.store import ExternalMemoryStore
    from memcore.records.store import RecordStore

Contract = Literal["items", "records", "conversations"]
SearchMode = Literal["keyword", "semantic", "hybrid"]


class Capabilities(BaseModel, frozen=True, extra="forbid"):
    """What a backend claims besides its manifest; the conformance suite proves each claim."""

    contracts: frozenset[Contract]
    durable: bool = False
    """What was acknowledged survives the death of the process (I-44)."""
    power_safe: bool = False
    """It survives power loss too."""
    shared: bool = False
    """Several processes may use the same data at once."""
    analysed: bool = False
    """Search follows the `analysed` profile (I-66 to I-68)."""
    search: SearchMode | None = None
    extensions: frozenset[str] = frozenset()
    """Protocols beyond the contracts: `managed` of items, `history`, `lifecycle` and `transfer` of records,
    `maintenance` of the backend."""
    limits: SizeLimits | None = None


class Health(BaseModel, frozen=True, extra="forbid"):
    """The answer of a ping that reached the service."""

    status: Literal["ok", "degraded"]
    """`degraded` works, but needs attention: see `detail`."""
    latency: float = Field(ge=0)
    """Seconds that one round trip took."""
    versions: dict[str, str]
    """What takes part: the adapter, its driver, the service, the schema."""
    detail: str | None = None


class CheckReport(BaseModel, frozen=True, extra="forbid"):
    """What a check of the derived indexes found; each fault names what was wrong, never the content."""

    checked: int
    """Items and records that were compared with a fresh analysis of their payload."""
    faults: tuple[str, ...] = ()
    repaired: bool = False
    """Whether the faults were repaired by this check."""


class Backend(Protocol):
    """One connection to one service; opens on first use or explicitly, belongs to one event loop.

    Not runtime-checkable: Python 3.11 reads the properties to check them, and some raise until the backend is open.
    """

    @property
    def name(self) -> str:
        """The adapter's name."""
        ...

    @property
    def items(self) -> ExternalMemoryStore:
        """The items contract; the same object for the life of the backend.

        Raises:
            MemoryConfigurationError: not offered; likewise `records` and `conversations`.
        """
        ...

    @property
    def records(self) -> RecordStore:
        """The records contract; extensions, where `capabilities` name them, are protocols that it satisfies too."""
        ...

    @property
    def conversations(self) -> Any:  # noqa: ANN401 - narrows when the contract arrives
        """The conversations contract."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """The claims of this instance as configured, fixed when it opens.

        Raises:
            MemoryConfigurationError: not open yet.
        """
        ...

    async def open(self) -> None:
        """Connect; does nothing when it is open.

        Raises:
            MemoryAdapterUnavailable: the service cannot be reached, or its data need another version.
            MemoryConfigurationError: closed already, or another event loop.
        """
        ...

    async def close(self) -> None:
        """Finish what was accepted and release everything; again does nothing."""
        ...

    async def ping(self) -> Health:
        """Make one round trip to the service.

        Raises:
            MemoryAdapterUnavailable: it cannot be reached.
        """
        ...

    async def drop_namespace(self) -> None:
        """Erase everything in this backend's namespace: the one call that empties a store."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


@runtime_checkable
class Maintenance(Protocol):
    """What a backend with derived indexes also offers (extension `maintenance`), for every namespace of its store."""

    async def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Rebuild every derived index from the payloads, in bounded batches; return how many items and records it did.

        Safe while others read and write. `progress` is told (done, total) after each batch.
        """
        ...

    async def check(self, *, repair: bool = True, progress: Callable[[int, int], None] | None = None) -> CheckReport:
        """Compare the derived indexes with a fresh analysis of the payloads, and repair what differs."""
        ...

    async def purge(self) -> None:
        """Remove the bytes of what was erased from the files or tables of the store."""
        ...


def not_offered(adapter: str, contract: Contract) -> MemoryConfigurationError:
    """Return the error of a contract that an adapter does not offer (B-02)."""
    return MemoryConfigurationError(f"adapter {adapter!r} does not offer the {contract} contract")
