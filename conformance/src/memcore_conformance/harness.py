"""What an adapter author writes so that the suite can judge the adapter: a harness, and the faculties it also has.

Everything here is structural: a harness imports nothing of this package. A harness is made anew for every case, in
an event loop of its own, by a factory with a `name` (a class with a `name` is one); what is expensive, such as a
server process, belongs to the factory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, get_args, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore import Backend, ExternalMemoryStore, MemoryItem


class Disposable(Protocol):
    """What every harness can do; the suite calls `reset` before a case and `close` after it."""

    async def reset(self) -> None:
        """Empty the disposable part of the service that this harness works in."""
        ...

    async def make_search_index_visible(self) -> None:
        """Return once a search finds everything that was stored."""
        ...

    async def make_transport_unavailable(self) -> None:
        """Break what stands between adapter and data, until `close`."""
        ...

    async def close(self) -> None:
        """Release everything, after a failure too."""
        ...


@runtime_checkable
class Harness(Disposable, Protocol):
    """One adapter under test."""

    async def make_backend(self, **settings: object) -> Backend:
        """Make a backend, not open yet, on the disposable part of the service.

        The same settings again give another backend on the same data, where the adapter is durable or shared.
        `namespace` (B-04) and `limits` (I-45) are settings that every adapter has.
        """
        ...

    async def restore_transport(self) -> None:
        """Mend what `make_transport_unavailable` broke."""
        ...


@runtime_checkable
class StoreHarness(Disposable, Protocol):
    """A harness of five methods, for an adapter that offers plain items; its grade is `portable` at most."""

    async def make_store(self) -> ExternalMemoryStore:
        """Make a store on the disposable part of the service."""
        ...


class HarnessFactory(Protocol):
    """What the hook `memcore_harnesses()` returns."""

    @property
    def name(self) -> str:
        """What the adapter is called on the command line."""
        ...

    def __call__(self) -> Harness | StoreHarness:
        """Make a harness; the event loop it will live in is running."""
        ...


@runtime_checkable
class InProcess(Protocol):
    """A harness of an adapter without any transport says so; its adapter can be neither durable nor shared."""

    in_process: Literal[True]


Fault = Literal["refused", "timeout", "lost_answer", "malformed", "no_identity", "denied"]
"""What one call of the transport can be made to do.

`refused` and `timeout` never reach the service; `lost_answer` reaches it and the answer does not come back;
`malformed` answers with what is not the service's contract, `no_identity` with a success that names no item;
`denied` refuses the credentials.
"""

StorageFault = Literal["full", "read_only", "garbage", "missing", "locked"]
"""What can happen to the place where the data are."""


@runtime_checkable
class FaultControl(Protocol):
    """Counts the calls of the adapter's own transport and makes chosen ones fail; deterministic."""

    @property
    def faults(self) -> frozenset[Fault]:
        """The faults that this transport knows."""
        ...

    def calls(self) -> int:
        """Return how often the adapter called its transport so far."""
        ...

    def fail_next(self, fault: Fault) -> None:
        """Make the next call of the transport fail, and no other."""
        ...


@runtime_checkable
class IndexControl(Protocol):
    """Delays the index of a service that is searched with a delay."""

    def delay_index(self) -> None:
        """Keep new items out of the index until `make_search_index_visible`."""
        ...


@runtime_checkable
class RawView(Protocol):
    """Reads and writes what is stored, past the adapter."""

    async def plant_foreign(self, item_id: UUID) -> None:
        """Store something of that identity that is no memory item."""
        ...

    async def truncate(self, item_id: UUID) -> None:
        """Cut the stored payload of the item, or the record, of that id short."""
        ...

    async def make_newer(self) -> None:
        """Mark the data as written by a newer version of the adapter."""
        ...

    async def fingerprint(self) -> str:
        """Return a digest of everything that is stored: equal means untouched."""
        ...

    async def holds(self, text: str) -> bool:
        """Tell whether this text, plain ASCII, stands anywhere in what is stored, indexes included."""
        ...


@runtime_checkable
class StorageControl(Protocol):
    """Breaks the place where the data are, and mends it."""

    @property
    def storage_faults(self) -> frozenset[StorageFault]:
        """The faults that this storage knows."""
        ...

    async def break_storage(self, fault: StorageFault) -> None:
        """Break the storage of the backends that were made; all of them are closed if it is to hold garbage."""
        ...

    async def mend_storage(self) -> None:
        """Make it as it was before."""
        ...


@runtime_checkable
class ClockControl(Protocol):
    """Moves the clock that records are timed by, whoever reads it: the adapter or its service.

    A case that needs it begins with `advance(0.0)`, before it makes a backend: from then on the clock of all backends
    stands still between two calls. Without that, the adapter runs on its own clock.
    """

    def advance(self, seconds: float) -> None:
        """Move it forward, or back where the number is negative; whole microseconds."""
        ...


@runtime_checkable
class Processes(Protocol):
    """Lets other processes reach the same data; the suite starts and kills them itself."""

    def url(self) -> str:
        """Return the URL that `memcore.connect` in another process takes for the default settings."""
        ...


@runtime_checkable
class IndexDamage(Protocol):
    """Breaks what is derived from items, past the adapter: what maintenance is there to find and to mend."""

    async def damage_index(self, item_id: UUID) -> None:
        """Take that item, and no other, out of every index; the item itself stays."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One documented loss: a named pair of what is given and what comes back."""

    name: str
    rule: str
    given: MemoryItem
    kept: MemoryItem


@runtime_checkable
class LossFixtures(Protocol):
    """Shows every loss of an adapter that is declared lossy (I-40, I-51)."""

    def losses(self) -> Sequence[Loss]:
        """Return one fixture for each documented rule; any objects with the attributes of `Loss`."""
        ...


Faculty = Literal["faults", "index", "raw", "storage", "clock", "processes", "damage", "losses"]
FACULTIES: Final[dict[Faculty, type]] = dict(
    zip(
        get_args(Faculty),
        (FaultControl, IndexControl, RawView, StorageControl, ClockControl, Processes, IndexDamage, LossFixtures),
        strict=True,
    )
)
