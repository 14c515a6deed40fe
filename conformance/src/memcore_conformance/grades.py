"""What a complete run comes to: a level and the capabilities, always together with what is not claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from memcore_conformance.claims import CAPABILITIES, CONTRACTS, CORE, LIMITS, Claim, Claims

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memcore_conformance.catalogue import Case
    from memcore_conformance.verdicts import Verdict

Level = Literal["none", "portable", "core"]


class Grade(BaseModel):
    """The grade of one adapter; no percentage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Level
    """`none` where a case that must pass did not, or no contract is offered; `portable` where something is unproven."""
    proven: tuple[Claim, ...] = ()
    """The capabilities whose cases all passed."""
    without_proof: tuple[Claim, ...] = ()
    """Capabilities that are claimed and that this version of the suite has no case for."""
    not_claimed: tuple[Claim, ...] = ()
    not_met: tuple[str, ...] = ()
    """The cases that broke, or recommendations that are not followed."""

    def __str__(self) -> str:
        parts = [" + ".join([self.level, *self.proven]) if self.level != "none" else "no grade"]
        if self.without_proof:
            parts.append(f"claimed without proof: {_listed(self.without_proof)}")
        parts.append(f"NOT claimed: {_listed(self.not_claimed) or 'nothing is left out'}")
        if self.not_met:
            parts.append(f"not met: {', '.join(self.not_met)}")
        return "; ".join(parts)


def grade(claims: Claims, cases: Iterable[Case], verdicts: Mapping[str, Verdict]) -> Grade:
    """Return the grade of a complete run."""
    owed = list(cases)
    tried = [part for part in owed if verdicts[part.id].outcome != "not_claimed"]
    broken = [part for part in owed if verdicts[part.id].outcome in {"failed", "error"}]
    claimed = [name for name in CAPABILITIES if name in claims.names]
    judged = {name for part in tried for name in part.claims}
    lost = {
        name for part in tried if verdicts[part.id].outcome != "passed" and part.level == "must" for name in part.claims
    }
    return Grade(
        level="none" if any(part.level == "must" for part in broken) else _level(claims, owed, verdicts),
        proven=tuple(name for name in claimed if name in judged and name not in lost),
        without_proof=tuple(name for name in claimed if name not in judged),
        not_claimed=tuple(name for name in ("items", *LIMITS, *CAPABILITIES) if name not in claims.names),
        not_met=tuple(part.id for part in broken),
    )


def _level(claims: Claims, owed: Iterable[Case], verdicts: Mapping[str, Verdict]) -> Level:
    if not claims.names & CONTRACTS:
        return "none"
    unproven = any(verdicts[part.id].outcome == "unproven" for part in owed if part.level == "must")
    return "core" if claims.names >= CORE and not unproven else "portable"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)
