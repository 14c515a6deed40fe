"""The life of a backend: new, open, closed, and the one event loop it belongs to (B-02)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memcore.errors import MemoryConfigurationError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Lifecycle:
    """Opens once, on first use or explicitly; closes once; refuses use after that or from another event loop.

    Concurrent calls of `open` and `close` wait for each other. An opening that fails may be tried again.
    """

    def __init__(
        self, name: str, *, opening: Callable[[], Awaitable[None]], closing: Callable[[], Awaitable[None]]
    ) -> None:
        self._name = name
        self._opening = opening
        self._closing = closing
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock: asyncio.Lock | None = None
        self._is_open = False
        self._is_closed = False

    @property
    def is_open(self) -> bool:
        """Whether it was opened and not closed since."""
        return self._is_open

    def ready(self) -> bool:
        """Tell whether an operation may start at once, without opening first.

        Raises:
            MemoryConfigurationError: closed already, or called from another event loop.
        """
        if self._loop is not asyncio.get_running_loop() and self._loop is not None:
            msg = f"{self._name} belongs to another event loop; connect once per event loop"
            raise MemoryConfigurationError(msg)
        self._refuse_closed()
        return self._is_open

    async def open(self) -> None:
        """Open, unless it is open.

        Raises:
            MemoryConfigurationError: closed already, or called from another event loop.
        """
        if self.ready():
            return
        async with self._hold():
            if not self.ready():
                await self._opening()
                self._is_open = True

    async def close(self) -> None:
        """Close, and return when it is closed; again does nothing.

        Raises:
            MemoryConfigurationError: called from another event loop.
        """
        if not self._is_closed:
            self.ready()
        async with self._hold():
            was_open, self._is_open, self._is_closed = self._is_open, False, True
            if was_open:
                await self._closing()

    def require_open(self, what: str) -> None:
        """Refuse to tell something that is fixed only when the backend opens (I-32).

        Raises:
            MemoryConfigurationError: not open.
        """
        self._refuse_closed()
        if not self._is_open:
            msg = f"{what} of {self._name} is known once it is open: use `async with`, or await open()"
            raise MemoryConfigurationError(msg)

    def _refuse_closed(self) -> None:
        if self._is_closed:
            msg = f"{self._name} is closed; connect again"
            raise MemoryConfigurationError(msg)

    def _hold(self) -> asyncio.Lock:
        if self._lock is None:
            self._loop, self._lock = asyncio.get_running_loop(), asyncio.Lock()
        return self._lock
