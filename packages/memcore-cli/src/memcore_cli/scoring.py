"""How well answers hold the evidence that a conversation names."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


@dataclass(frozen=True, slots=True)
class Score:
    """The evidence found among the first hits, over all questions that name evidence."""

    questions: int
    with_any_evidence: int
    """Questions of which at least one piece of evidence is among the hits."""
    with_all_evidence: int
    mean_recall: float
    """The mean, over the questions, of the part of their evidence that is among the hits."""

    @classmethod
    def of(cls, judged: Iterable[tuple[Collection[str], Collection[str]]]) -> Score | None:
        """Score pairs of evidence and what was found; `None` if no question names evidence."""
        parts = [sum(turn in found for turn in evidence) / len(evidence) for evidence, found in judged if evidence]
        if not parts:
            return None
        return cls(
            len(parts), sum(part > 0 for part in parts), sum(part == 1 for part in parts), sum(parts) / len(parts)
        )

    def document(self) -> dict[str, object]:
        """Return the score as a JSON object."""
        return asdict(self)
