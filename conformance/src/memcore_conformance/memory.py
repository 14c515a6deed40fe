"""The harness of `memory://`, and the smallest example of one."""

from __future__ import annotations

from typing import ClassVar, Literal

from memcore import Backend, connect


class MemoryHarness:
    """Makes backends that each have their own data; there is no transport to break."""

    name: ClassVar[str] = "memory"
    in_process: Literal[True] = True

    async def make_backend(self, **settings: object) -> Backend:
        """Connect to `memory://`."""
        return connect("memory://", **settings)

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
