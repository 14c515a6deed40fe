"""The exit codes of the `memcore` command, for scripts."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class ExitCode(IntEnum):
    """What became of a command; every member says what it means."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Make a member that is an int and knows its meaning."""
        code = int.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    OK = 0, "done"
    FAILED = 1, "not found, or not done as asked (bad lines, faults, an answer of no)"
    USAGE = 2, "the command line is wrong"
    UNAVAILABLE = 3, "the store cannot be reached or used now"
    REFUSED = 4, "the store refuses this item or query"
    CONFIGURATION = 5, "unknown scheme, bad setting, or not offered by this store"
    MALFORMED = 6, "what is stored is damaged, or no store of memcore"
    INTERRUPTED = 130, "stopped by Ctrl-C"
    CLOSED_PIPE = 141, "the reader of the output went away, as in `... | head -1`"
