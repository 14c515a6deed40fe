"""The harness of `memory://`, and the smallest example of one."""

from __future__ import annotations

from typing import ClassVar, Literal

from memcore import Backend, connect
from memcore.records.clock import StillClock


class MemoryHarness:
    """Makes backends that each have their own data; there is no transport to break."""

    name: ClassVar[str] = "memory"
    in_process: Literal[True] = True

    def __init__(self) -> None:
        self._clock: StillClock | None = None

    async def make_backend(self, **settings: object) -> Backend:
        """Connect to `memory://`."""
        return connect("memory://", **self.timed(settings))

    async def reset(self) -> None:
        """Every backend starts empty."""

    async def make_search_index_visible(self) -> None:
        """It always is."""

    async def make_transport_unavailable(self) -> None:
        """There is none."""

    async def restore_transport(self) -> None:
        """There is none."""

    async def close(self) -> None:
        """Hold nothing."""

    def advance(self, seconds: float) -> None:
        """Stop the clock of all backends that are made from now on, and move it."""
        self._clock = self._clock or StillClock()
        self._clock.advance(seconds)

    def timed(self, settings: dict[str, object]) -> dict[str, object]:
        """Return the settings, with the clock if it was stopped."""
        return settings if self._clock is None else {"clock": self._clock, **settings}
