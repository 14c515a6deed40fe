from __future__ import annotations

import pytest
from memcore_cli.text import clipped, moment, plural, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [bold]markup[/bold] & more", "plain [bold]markup[/bold] & more"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("a\tb\nc\rd\x00e\x7f", "a\\tb\\nc\\rd\\x00e\\x7f"),
        ("\x9b31m\u2028", "\\x9b31m\\u2028"),
        ("right \u202e to \u2066 left", "right \\u202e to \\u2066 left"),
        ("hidden \U000e0041 tags", "hidden \\U000e0041 tags"),
        ("lone \ud83d surrogate", "lone \\ud83d surrogate"),
        (
            "na\u00efve \u5bc6\u7801\u3000\u0e17\u0e35\u0e48 \U0001f680",
            "na\u00efve \u5bc6\u7801\u3000\u0e17\u0e35\u0e48 \U0001f680",
        ),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
    ],
)
def test_only_what_could_act_on_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_line_ends_can_be_kept() -> None:
    assert printable("a\nb\tc", keep="\n") == "a\nb\\tc"


def test_a_clipped_text_says_how_much_is_missing() -> None:
    assert clipped("abcdef", limit=4) == "abcd\u2026 (2 more characters)"
    assert clipped("abcd", limit=4) == "abcd"


@pytest.mark.parametrize("seconds", [1e300, -1e300, 1e18])
def test_a_time_outside_the_calendar_is_shown_as_its_number(seconds: float) -> None:
    assert moment(seconds) == repr(seconds)


def test_a_time_is_shown_in_utc() -> None:
    assert moment(0.0) == "1970-01-01 00:00:00 UTC"


def test_numbers_agree_with_their_nouns() -> None:
    assert [plural(number, "item") for number in (0, 1, 1200)] == ["0 items", "1 item", "1,200 items"]
