"""Rankings are scored by the usual definitions."""

from __future__ import annotations

from math import log2

import pytest
from memcore_conformance.quality.metrics import Score, interval, mean, score


def test_recall_is_the_share_of_the_evidence_within_the_depth() -> None:
    ranked = [f"d{number}" for number in range(20)]
    result = score(ranked, ["d0", "d7", "d15", "elsewhere"])
    assert (result.recall_5, result.recall_10, result.recall_20) == (0.25, 0.5, 0.75)


def test_the_reciprocal_rank_is_that_of_the_first_evidence_within_ten() -> None:
    assert score(["a", "b", "c"], ["c", "b"]).mrr_10 == 0.5
    assert score([*"abcdefghij", "k"], ["k"]).mrr_10 == 0


def test_the_gain_is_discounted_and_normalised_by_the_best_order() -> None:
    assert score(["a", "b"], ["a", "b"]).ndcg_10 == 1
    expected = (1 / log2(3)) / (1 + 1 / log2(3))
    assert score(["x", "a"], ["a", "b"]).ndcg_10 == pytest.approx(expected)


def test_nothing_found_scores_nothing_and_is_told() -> None:
    assert score([], ["a"]) == Score(0, 0, 0, 0, 0, nothing=1)


def test_the_mean_is_taken_of_every_figure() -> None:
    assert mean([Score(1, 1, 1, 1, 1, 0), Score(0, 1, 0.5, 0, 0.5, 1)]) == Score(0.5, 1, 0.75, 0.5, 0.75, 0.5)


def test_the_interval_holds_the_mean_and_is_always_the_same() -> None:
    values = [0.0, 1.0] * 50
    low, high = interval(values)
    assert 0.35 < low < 0.5 < high < 0.65
    assert interval(values) == (low, high)
