"""The time of records: the system's, or what a test says it is (R-18)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memcore.errors import MemoryConfigurationError
from memcore.records.rows import to_micros

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime


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
