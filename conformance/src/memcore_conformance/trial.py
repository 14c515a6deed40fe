"""What a case works with: backends and stores on a fresh disposable namespace, everything that it does recorded."""

from __future__ import annotations

import hashlib
import random
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, runtime_checkable
from uuid import UUID

from memcore import MemoryAdapterUnavailable, MemoryConfigurationError, MemoryItem, MemoryWrite

from memcore_conformance import expect
from memcore_conformance.child import Child
from memcore_conformance.harness import FACULTIES, Harness, StoreHarness
from memcore_conformance.items import Items
from memcore_conformance.records import Records
from memcore_conformance.verdicts import ServiceMissing, Unproven

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from memcore import Backend

    from memcore_conformance.claims import Claims
    from memcore_conformance.harness import (
        ClockControl,
        Faculty,
        FaultControl,
        IndexControl,
        IndexDamage,
        LossFixtures,
        Processes,
        RawView,
        StorageControl,
    )

T = TypeVar("T")


@runtime_checkable
class _Closable(Protocol):
    async def close(self) -> None: ...


class Trial:
    """One case on one adapter. Whatever it opened is closed by the engine, after a failure too."""

    def __init__(self, harness: Harness | StoreHarness, claims: Claims, *, needs: Sequence[Faculty], seed: str) -> None:
        self.claims = claims
        self.random = random.Random(hashlib.sha256(seed.encode()).digest())  # noqa: S311 - to be repeated
        self.done: list[str] = []
        self._harness = harness
        self._needs = needs
        self._closing: list[Callable[[], Awaitable[None]]] = []

    async def items(self, **settings: object) -> Items:
        """Return the items of an open backend; the same settings again give another backend on the same data."""
        if isinstance(self._harness, Harness):
            backend = await self.backend(**settings)
            return Items(backend.items, self)
        store = await self.harness_does("make_store()", self._harness.make_store())
        if isinstance(store, _Closable):
            self._closing.append(store.close)
        return Items(store, self)

    async def records(self, **settings: object) -> Records:
        """Return the records of an open backend; the same settings again give another backend on the same data."""
        return Records((await self.backend(**settings)).records, self)

    async def backend(self, **settings: object) -> Backend:
        """Return an open backend."""
        backend = await self.make_backend(**settings)
        try:
            await self.does("open()", backend.open())
        except MemoryAdapterUnavailable as error:
            msg = f"the service cannot be reached: {error}"
            raise ServiceMissing(msg) from error
        return backend

    async def make_backend(self, **settings: object) -> Backend:
        """Return a backend that is not open yet.

        Raises:
            MemoryConfigurationError: the adapter refuses the settings.
        """
        if not isinstance(self._harness, Harness):
            msg = "this harness makes stores, not backends"
            raise Unproven(msg)
        text = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        refusal = (MemoryConfigurationError,) if settings else ()
        made = self._harness.make_backend(**settings)
        backend = await self.harness_does(f"make_backend({text})", made, passing=refusal)
        self._closing.append(backend.close)
        return backend

    async def process(self) -> Child:
        """Start another process on the data of the default settings; needs the faculty `processes`."""
        url = cast("Processes", self._faculty("processes")).url()
        child = await self.does("start another process", Child.start(url))
        self._closing.append(child.kill)  # it need not take its time, and may hang
        return child

    def item(self, content: Any = "tea", **fields: Any) -> MemoryItem:  # noqa: ANN401 - whatever an item may hold
        """Return an item with an id that is the same in every run."""
        return MemoryItem(**{"id": self.id(), "created_at": 1_700_000_000.25, "content": content} | fields)

    def write(self, content: str = "tea", **fields: Any) -> MemoryWrite:  # noqa: ANN401 - whatever a write may hold
        """Return a write with an id that is the same in every run, for one user unless the fields say otherwise."""
        return MemoryWrite.model_validate({"id": self.id(), "scope": {"user": "ada"}, "content": content} | fields)

    def id(self) -> UUID:
        """Return an id that is new, and the same in every run."""
        return UUID(int=self.random.getrandbits(128), version=4)

    async def show_index(self) -> None:
        """Wait until a search finds everything that was stored."""
        await self.harness_does("make_search_index_visible()", self._harness.make_search_index_visible())

    @asynccontextmanager
    async def outage(self) -> AsyncIterator[None]:
        """Break the transport for the length of a block; a plain harness cannot mend it afterwards."""
        await self.harness_does("make_transport_unavailable()", self._harness.make_transport_unavailable())
        yield
        if isinstance(self._harness, Harness):
            await self.harness_does("restore_transport()", self._harness.restore_transport())

    async def reset(self) -> None:
        """Close what was opened and start again on an empty namespace."""
        await self.close()
        await self.harness_does("reset()", self._harness.reset())
        self.done.clear()
        if "clock" in self._needs:
            self.advance(0.0)

    @property
    def faults(self) -> FaultControl:
        """The faculty of the same name, as are the others: a case declares that it `needs` it."""
        return cast("FaultControl", self._faculty("faults"))

    @property
    def index(self) -> IndexControl:
        """See `IndexControl`."""
        return cast("IndexControl", self._faculty("index"))

    @property
    def raw(self) -> RawView:
        """See `RawView`."""
        return cast("RawView", self._faculty("raw"))

    @property
    def storage(self) -> StorageControl:
        """See `StorageControl`."""
        return cast("StorageControl", self._faculty("storage"))

    def advance(self, seconds: float) -> None:
        """Move the clock of the adapter; needs the faculty `clock`, and then it stands still from the start."""
        self.step(f"harness: advance({seconds!r})")
        cast("ClockControl", self._faculty("clock")).advance(seconds)

    @property
    def damage(self) -> IndexDamage:
        """See `IndexDamage`."""
        return cast("IndexDamage", self._faculty("damage"))

    @property
    def losses(self) -> LossFixtures:
        """See `LossFixtures`."""
        return cast("LossFixtures", self._faculty("losses"))

    def unproven(self, reason: str) -> Unproven:
        """Return what to raise where this harness cannot do one particular thing."""
        return Unproven(reason)

    def step(self, text: str) -> None:
        """Note something that was done."""
        self.done.append(text)

    async def does(self, text: str, call: Awaitable[T]) -> T:
        """Await something that the adapter does, and note it with its outcome."""
        place = len(self.done)
        self.done.append(text)
        try:
            answer = await call
        except Exception as error:
            self.done[place] += f" raised {type(error).__name__}"
            raise
        self.done[place] += "" if answer is None else f" -> {expect.describe(answer)}"
        return answer

    async def harness_does(self, text: str, call: Awaitable[T], *, passing: tuple[type[Exception], ...] = ()) -> T:
        """Await something that the harness does; what fails there, but for `passing`, is no failure of the adapter."""
        self.done.append(f"harness: {text}")
        try:
            return await call
        except passing:
            raise
        except Exception as error:
            msg = f"the harness failed in {text}: {expect.describe(error)}"
            raise ServiceMissing(msg) from error

    async def close(self) -> None:
        """Close everything that was opened, the last first; the engine calls it."""
        async with AsyncExitStack() as stack:
            for closing in self._closing:
                stack.push_async_callback(self._close, closing)
            self._closing.clear()

    async def _close(self, closing: Callable[[], Awaitable[None]]) -> None:
        await self.does("close()", closing())

    def _faculty(self, name: Faculty) -> object:
        if name not in self._needs:
            msg = f"the case does not declare that it needs {name!r}"
            raise TypeError(msg)
        return self._harness


def lacking(harness: object, needs: Iterable[Faculty]) -> list[Faculty]:
    """Return the faculties of `needs` that a harness does not have."""
    return [name for name in needs if not isinstance(harness, FACULTIES[name])]
