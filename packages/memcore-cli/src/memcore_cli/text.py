"""Text that is fit for a terminal: whatever was stored, it cannot move the cursor, hide itself or reorder a line."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Final

_SUSPECT: Final = re.compile(r"[^\x20-\x7e]")
_JOINERS: Final = "\u200c\u200d"
"""Emoji and several scripts need them; they show nothing and move nothing."""
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (direction marks, invisible tags), surrogate, line and paragraph separators."""


def printable(text: str, *, keep: str = "") -> str:
    """Return the text with every character that could act on a terminal shown as an escape, but those to keep."""
    if text.isascii() and text.isprintable():
        return text
    return _SUSPECT.sub(lambda match: match[0] if match[0] in keep else _shown(match[0]), text)


def clipped(text: str, *, limit: int) -> str:
    """Return the text, or its beginning and how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def moment(seconds: float) -> str:
    """Return a time as people read it, in UTC, or the bare number where no calendar reaches."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return repr(seconds)


def time_text(time: datetime) -> str:
    """Return a time as people read it, in UTC."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plural(number: int, noun: str, several: str | None = None) -> str:
    """Return a number with its noun: `1 item`, `1,200 items`."""
    return f"{number:,} " + (noun if number == 1 else several or noun + "s")


def _shown(character: str) -> str:
    if unicodedata.category(character) in _UNSAFE and character not in _JOINERS:
        return character.encode("unicode_escape").decode("ascii")
    return character
