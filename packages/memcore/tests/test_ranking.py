"""Ranking: bm25 among the candidates of one search, the same for every backend (I-66, I-68)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore.kit.ranking import ITEM_WEIGHTS, Candidate, rank

if TYPE_CHECKING:
    from random import Random


def candidate(key: str, text: str, *, tags: str = "", created_at: float = 0.0, number: int = 0) -> Candidate[str]:
    return Candidate(key, created_at, UUID(int=number), (text, tags))


def ranked(query: str, *candidates: Candidate[str], limit: int = 20) -> list[str]:
    return [found.key for found, _ in rank(query.split(), candidates, weights=ITEM_WEIGHTS, limit=limit)]


def test_a_word_that_fewer_candidates_have_counts_more() -> None:
    common = [candidate(f"common{n}", "tea in the pot", number=n) for n in range(3)]

    assert ranked("tea kettl", *common, candidate("rare", "milk in the kettl"))[0] == "rare"


def test_a_word_that_occurs_more_often_counts_more() -> None:
    once, twice = candidate("once", "tea pot cup pan", created_at=1.0), candidate("twice", "tea tea cup pan")

    assert ranked("tea", once, twice) == ["twice", "once"]


def test_two_words_once_count_more_than_one_of_them_often() -> None:
    often, both = candidate("often", "tea tea tea tea", created_at=1.0), candidate("both", "tea pot cup pan")

    assert ranked("tea pot", often, both, candidate("other", "pot jug lid tap"))[:2] == ["both", "often"]


def test_a_shorter_text_goes_before_a_longer_one() -> None:
    long, short = candidate("long", "tea and a cup and a pan and a pot", created_at=1.0), candidate("short", "tea cup")

    assert ranked("tea", long, short) == ["short", "long"]


def test_a_word_in_the_text_counts_more_than_one_in_the_tags() -> None:
    tagged = candidate("tagged", "pot", tags="tea", created_at=1.0)

    assert ranked("tea", tagged, candidate("said", "tea", tags="pot")) == ["said", "tagged"]


def test_a_word_in_text_and_tags_counts_more_than_one_in_the_text() -> None:
    said = candidate("said", "tea pot", tags="pan", created_at=1.0)

    assert ranked("tea", said, candidate("both", "tea pot", tags="tea")) == ["both", "said"]


MAY_2023 = datetime(2023, 5, 8, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("query", ["tea 2023", "tea mai", "tea 8"])
def test_a_date_that_the_query_names_raises_what_was_stored_then(query: str) -> None:
    then = candidate("then", "tea pot", created_at=MAY_2023)
    later = candidate("later", "tea pot", created_at=MAY_2023 + 1.01e8)

    assert ranked(query, then, later) == ["then", "later"]


def test_a_date_word_counts_more_in_the_text() -> None:
    then = candidate("then", "tea pot pan", created_at=MAY_2023)

    assert ranked("tea 2023", then, candidate("said", "tea pot 2023")) == ["said", "then"]


def test_a_time_beyond_the_calendar_has_a_rank_too() -> None:
    assert ranked("tea 2023", candidate("never", "tea", created_at=1e300)) == ["never"]


def test_ties_are_newest_first_and_then_by_the_greater_id() -> None:
    tied = [candidate(f"{at:.0f}.{n}", "tea", created_at=at, number=n) for at in (0.0, 1.0) for n in (3, 1, 2)]

    assert ranked("tea", *tied) == ["1.3", "1.2", "1.1", "0.3", "0.2", "0.1"]


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (2, 2), (3, 3), (10**9, 3)])
def test_at_most_the_limit_is_returned(limit: int, count: int) -> None:
    candidates = [candidate(f"{n}", "tea", number=n) for n in range(3)]

    assert len(ranked("tea", *candidates, limit=limit)) == count


def test_no_candidates_give_nothing() -> None:
    assert ranked("tea") == []


def test_candidates_without_words_are_ranked_by_their_ties() -> None:
    assert ranked("tea", candidate("old", ""), candidate("new", "", created_at=1.0)) == ["new", "old"]


def test_scores_fall_and_tell_a_match_from_none() -> None:
    found = rank(["tea"], [candidate("no", "pot"), candidate("yes", "tea")], weights=ITEM_WEIGHTS, limit=9)

    assert [(one.key, score > 0) for one, score in found] == [("yes", True), ("no", False)]


texts = st.lists(st.sampled_from(["tea", "pot", "kettl", "2023", "mai", "8"]), max_size=6).map(" ".join)


@given(
    st.lists(st.builds(candidate, texts, texts, tags=texts, created_at=st.sampled_from([0.0, MAY_2023])), max_size=8),
    texts.map(str.split),
    st.randoms(use_true_random=False),
)
def test_the_order_of_candidates_and_of_query_words_changes_no_bit(
    candidates: list[Candidate[str]], words: list[str], random: Random
) -> None:
    numbered = [one._replace(id=UUID(int=number)) for number, one in enumerate(candidates)]
    before = rank(words, numbered, weights=ITEM_WEIGHTS, limit=99)

    random.shuffle(numbered)
    random.shuffle(words)

    assert rank(words, numbered, weights=ITEM_WEIGHTS, limit=99) == before
