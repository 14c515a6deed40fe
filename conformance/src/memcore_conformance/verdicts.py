"""What a case can end in. There is no skip and no waiver.

The exceptions are how a case ends before its last line; the engine makes verdicts of them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Outcome = Literal["passed", "failed", "error", "unproven", "not_claimed"]


class Failure(BaseModel):
    """What an author needs to see of a case that failed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    done: tuple[str, ...]
    """The steps that were taken, in order; the last one is where it broke."""
    expected: str
    got: str


class Verdict(BaseModel):
    """How one case ended on one adapter.

    `error` means that the service or the harness was missing, `unproven` that the harness lacks a faculty,
    `not_claimed` that the adapter does not promise what the case proves.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    case: str
    outcome: Outcome
    seconds: float = 0.0
    failure: Failure | None = None
    note: str | None = None
    """Why it is `error`, `unproven` or `not_claimed`."""


class Ending(Exception):
    """A case has come to its end."""


class Mismatch(Ending):
    """Something came that was not expected: `failed`."""

    def __init__(self, *, expected: str, got: str) -> None:
        self.expected = expected
        self.got = got
        super().__init__(f"expected {expected}, got {got}")


class ServiceMissing(Ending):
    """The harness failed, or its service cannot be reached: `error`, nothing can be said about the adapter."""


class Unproven(Ending):
    """The harness cannot do what the case needs: `unproven`."""
