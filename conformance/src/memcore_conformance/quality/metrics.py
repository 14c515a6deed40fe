"""How good a ranking is: recall, reciprocal rank and discounted gain of the labelled evidence."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

DEPTH: Final = 20
"""As many hits are asked for."""
_RANKED: Final = 10  # reciprocal rank and gain look at so many
_SAMPLES: Final = 1_000


@dataclass(frozen=True, slots=True)
class Score:
    """How one question was answered; all figures are shares from 0 to 1."""

    recall_5: float
    recall_10: float
    recall_20: float
    mrr_10: float
    ndcg_10: float
    nothing: float
    """1 if there was no hit at all."""


def score(ranked: Sequence[str], evidence: Collection[str]) -> Score:
    """Compare a ranking without repeats with the evidence, of which there must be some."""
    gold = set(evidence)
    places = [place for place, name in enumerate(ranked[:_RANKED]) if name in gold]
    best_gain = sum(map(_discount, range(min(_RANKED, len(gold)))))
    return Score(
        recall_5=_recall(ranked, gold, 5),
        recall_10=_recall(ranked, gold, 10),
        recall_20=_recall(ranked, gold, 20),
        mrr_10=1 / (places[0] + 1) if places else 0.0,
        ndcg_10=sum(map(_discount, places)) / best_gain,
        nothing=0.0 if ranked else 1.0,
    )


def mean(scores: Sequence[Score]) -> Score:
    """Return the mean of every figure over all questions."""
    return Score(*(fmean(getattr(each, name) for each in scores) for name in Score.__slots__))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the bounds of the 95 % interval of a mean by resampling the questions, always the same way."""
    chance = random.Random(0)  # noqa: S311 - reproducible, not secret
    means = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(_SAMPLES))
    return means[round(0.025 * _SAMPLES)], means[round(0.975 * _SAMPLES)]


def _recall(ranked: Sequence[str], gold: set[str], depth: int) -> float:
    return len(gold.intersection(ranked[:depth])) / len(gold)


def _discount(place: int) -> float:
    return 1 / math.log2(place + 2)
