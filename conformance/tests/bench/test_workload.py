"""The workload is the same everywhere, and what it says about itself is so."""

from __future__ import annotations

from hashlib import sha256

from memcore_conformance.bench.workload import KINDS, Question, make_items, make_questions, matching, vocabulary


def test_two_runs_do_the_same_work() -> None:
    assert make_items(50) == make_items(50)
    assert make_questions() == make_questions()


def test_the_work_is_the_same_on_every_machine_and_python() -> None:
    digest = sha256(repr((make_items(50), make_questions())).encode()).hexdigest()
    assert digest == "a2530310df4caa9de15bbff1583b718cb272655eeeb99ae492af623bd1d59153"


def test_another_seed_gives_other_items() -> None:
    ours, theirs = ({item.id for item in make_items(50, seed=seed)} for seed in (1, 2))
    assert ours.isdisjoint(theirs)


def test_items_are_short_facts_with_tags_and_metadata() -> None:
    items = make_items(300)
    assert {len(item.text.split()) for item in items} == set(range(10, 41))
    assert {len(item.tags) for item in items} == {0, 1, 2, 3, 4}
    assert all(list(item.metadata) == ["user", "kind", "session"] for item in items)
    assert {item.metadata["kind"] for item in items} == set(KINDS)


def test_no_word_is_a_part_of_another() -> None:
    words = vocabulary()
    assert len(set(words)) == len(words) == 20_000
    starts, inner = ({word[place] for word in words} for place in (0, 2))
    ends = {word[-1] for word in words}
    assert starts.isdisjoint(inner | ends)
    assert ends.isdisjoint(inner)


def test_common_words_stand_in_many_items_and_rare_ones_in_few() -> None:
    items = make_items(4_000)
    questions = make_questions()
    for name, low, high in (("search common", 0.02, 0.12), ("search rare", 0, 0.003)):
        shares = [len(matching(items, question)) / len(items) for question in questions[name][:20]]
        assert low <= min(shares) <= max(shares) <= high


def test_what_matches_meets_every_part_of_the_question_and_comes_newest_first() -> None:
    items = make_items(500)
    word, session = items[7].text.split()[0], items[7].metadata["session"]
    question = Question(words=(word,), entry=("session", session))
    expected = [
        item.id for item in reversed(items) if word in item.text.split() and item.metadata["session"] == session
    ]
    assert matching(items, question) == expected
    assert items[7].id in expected
