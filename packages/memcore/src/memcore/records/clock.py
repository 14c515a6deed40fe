"""The time of records: the system's, or what a test says it is (R-18)."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memcore.errors import MemoryConfigurationError
from memcore.records.rows import to_micros

if TYPE_CHECKING:
    from collections.abc import Callable


class StillClock:
    """A clock for the setting `clock` of a test: it stands still until it is moved."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime.now(UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move it forward, or back where the number is negative."""
        self._now += timedelta(seconds=seconds)


def clock_of(told: Callable[[], datetime] | None) -> Callable[[], int]:
    """Return a clock that tells microseconds since 1970: the system's, if no other is given.

    The clock returned raises `MemoryConfigurationError` where the given one tells no aware time.
    """
    return _system_time if told is None else lambda: _checked(told())


def _system_time() -> int:
    return time.time_ns() // 1_000


def _checked(moment: datetime) -> int:
    if moment.utcoffset() is None:
        msg = "the clock of the settings must tell times with a zone"
        raise MemoryConfigurationError(msg)
    return to_micros(moment)
