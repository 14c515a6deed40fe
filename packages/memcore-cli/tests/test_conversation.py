from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files

import pytest
from memcore_cli.conversation import BadConversation, read_conversation, read_date
from memcore_cli.scoring import Score

TURN = {"id": "1:1", "speaker": "Nadia", "session": 1, "date": "11:01 am on 17 December, 2022", "text": "Good morning"}


def read(document: object) -> object:
    return read_conversation(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("11:01 am on 17 December, 2022", datetime(2022, 12, 17, 11, 1, tzinfo=UTC)),
        ("12:00 am on 1 May, 2023", datetime(2023, 5, 1, tzinfo=UTC)),
        ("12:30 pm on 1 may 2023", datetime(2023, 5, 1, 12, 30, tzinfo=UTC)),
        ("7:05 pm on 29 February, 2024", datetime(2024, 2, 29, 19, 5, tzinfo=UTC)),
        ("19:05 on 3 Mar, 2024", datetime(2024, 3, 3, 19, 5, tzinfo=UTC)),
        ("2024-03-03", datetime(2024, 3, 3, tzinfo=UTC)),
        ("2024-03-03T10:00+02:00", datetime(2024, 3, 3, 8, tzinfo=UTC)),
    ],
)
def test_dates_are_read_as_people_and_machines_write_them(text: str, moment: datetime) -> None:
    assert read_date(text) == moment.timestamp()


def test_an_object_a_list_and_json_lines_are_the_same_conversation() -> None:
    other = {**TURN, "id": "1:2", "text": "Good evening"}
    as_lines = b"".join(json.dumps(turn).encode() + b"\r\n" for turn in (TURN, other))

    assert read({"turns": [TURN, other]}) == read([TURN, other]) == read_conversation(b"\xef\xbb\xbf" + as_lines)


def test_one_line_with_one_turn_is_a_conversation() -> None:
    assert read(TURN) == read([TURN])


def test_a_turn_becomes_an_item_that_is_the_same_every_time() -> None:
    (first,), (second,) = (read_conversation(json.dumps([TURN]).encode()).turns for _ in range(2))

    item = first.item()
    assert item.id == second.item().id
    assert item.content == "Nadia: Good morning"
    assert item.tags == ["Nadia"]
    assert item.metadata == {"turn": "1:1", "session": 1, "speaker": "Nadia"}
    assert item.created_at == datetime(2022, 12, 17, 11, 1, tzinfo=UTC).timestamp()


def test_turns_of_two_conversations_with_the_same_ids_are_different_items() -> None:
    (first,), (second,) = (
        read_conversation(json.dumps([{**TURN, "text": text}]).encode()).turns for text in ("one", "two")
    )

    assert first.item().id != second.item().id


def test_turns_of_one_date_follow_each_other() -> None:
    turns = read_conversation(json.dumps([{**TURN, "id": str(number)} for number in range(3)]).encode()).turns

    assert [turn.seconds - turns[0].seconds for turn in turns if turn.seconds and turns[0].seconds] == [0, 1, 2]


def test_id_session_and_date_may_be_missing() -> None:
    conversation = read_conversation(b'[{"speaker": "A", "text": "x"}, {"speaker": "A", "text": "y"}]')

    assert [turn.id for turn in conversation.turns] == ["1", "2"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff", "not UTF-8 at byte 1"),
        (b"{}", "no turns"),
        (b"[]", "no turns"),
        (b"7", "not a list"),
        (b'{"turns": {}}', "not a list"),
        (b"[7]", "turn 1 is not an object"),
        (b'[{"speaker": "A"}]', "turn 1 needs"),
        (b'[{"speaker": 1, "text": "x"}]', "turn 1 needs"),
        (b'[{"speaker": "A", "text": "x", "date": "soon"}]', "turn 1: 'date'"),
        (b'[{"speaker": "A", "text": "x", "date": "1:00 pm on 31 June, 2024"}]', "turn 1: 'date'"),
        (b'[{"speaker": "A", "text": "x", "date": []}]', "turn 1: 'date'"),
        (b'[{"speaker": "A", "text": "x", "id": "1"}, {"speaker": "A", "text": "y", "id": "1"}]', "the same id"),
        (b'{"speaker": "A", "text": "x"}\n{"speaker": "A"\n', "line 2: not JSON"),
        (b'{"turns": [{"speaker": "A", "text": "x"}], "questions": [7]}', "question 1 needs"),
        (b'{"turns": [{"speaker": "A", "text": "x"}], "questions": [{"question": "?", "evidence": 1}]}', "'evidence'"),
        (b'{"turns": [{"speaker": "A", "text": "x"}], "questions": [{"question": "?", "evidence": ["9"]}]}', "id '9'"),
    ],
)
def test_a_file_that_is_no_conversation_is_refused_with_the_place(data: bytes, reason: str) -> None:
    with pytest.raises(BadConversation, match=reason):
        read_conversation(data)


def test_our_own_sample_is_a_conversation_with_evidence_for_every_question() -> None:
    sample = read_conversation(files("memcore_cli").joinpath("data/conversation.json").read_bytes())

    assert len(sample.turns) > 30
    assert all(question.evidence for question in sample.questions)


def test_a_score_counts_any_evidence_all_evidence_and_the_mean_part() -> None:
    judged = [(("a",), {"a", "x"}), (("a", "b"), {"b"}), (("c",), set()), ((), {"a"})]

    assert Score.of(judged) == Score(questions=3, with_any_evidence=2, with_all_evidence=1, mean_recall=0.5)


def test_without_evidence_there_is_no_score() -> None:
    assert Score.of([((), {"a"})]) is None
