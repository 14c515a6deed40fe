"""How long to wait before a call is made again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """Waits that double, of random length so that clients do not come back all at once."""

    first: float
    longest: float

    def after(self, retries: int, *, asked: float | None = None) -> float:
        """Return the seconds to wait after so many retries; `asked` is what the service wants, within the longest."""
        if asked is not None:
            return min(asked, self.longest)
        return min(self.first * 2.0**retries, self.longest) * random.uniform(0.5, 1)  # noqa: S311 - no secret


def read_retry_after(text: str | None, *, now: float) -> float | None:
    """Return the seconds that a `Retry-After` header asks for, as seconds or as a date; `None` if it is neither."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None
