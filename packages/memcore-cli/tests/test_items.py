from __future__ import annotations

import json
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

if TYPE_CHECKING:
    from conftest import Run

IDENTITY = "00000000-0000-4000-8000-000000000001"


def add(run: Run, url: str, *arguments: str) -> str:
    result = run("add", url, *arguments)
    assert result.code == 0, result.err
    return result.out.strip()


def test_an_added_item_is_found_by_another_command(run: Run, url: str) -> None:
    identity = add(run, url, "Ada prefers tea", "--tag", "ada", "--meta", "topic=drinks")

    (item,) = run("search", url, "who likes tea?", "--json").json

    assert {key: item[key] for key in ("id", "content", "tags", "metadata")} == {
        "id": identity,
        "content": "Ada prefers tea",
        "tags": ["ada"],
        "metadata": {"topic": "drinks"},
    }


def test_add_prints_nothing_but_the_id_on_stdout(run: Run, url: str) -> None:
    result = run("add", url, "x")

    assert result.out == f"{UUID(result.out.strip())}\n"


def test_a_given_id_is_kept_and_replaces_the_item(run: Run, url: str) -> None:
    add(run, url, "first", "--id", IDENTITY)
    add(run, url, "second", "--id", IDENTITY)

    assert run("get", url, IDENTITY, "--json").json["content"] == "second"
    assert len(run("list", url, "--json").json) == 1


@pytest.mark.parametrize(
    ("stdin", "content"),
    [
        (b"two\nlines\n", "two\nlines"),
        (b"\xef\xbb\xbfBOM\r\n", "BOM"),
        (b"", ""),
        ("na\u00efve".encode(), "na\u00efve"),
    ],
)
def test_content_comes_from_stdin_without_its_last_line_end(run: Run, url: str, stdin: bytes, content: str) -> None:
    run("add", url, "-", "--id", IDENTITY, stdin=stdin)

    assert run("get", url, IDENTITY, "--json").json["content"] == content


def test_stdin_that_is_not_utf8_is_refused_with_its_place(run: Run, url: str) -> None:
    result = run("add", url, "-", stdin=b"caf\xe9")

    assert result.code == 4
    assert "not UTF-8 at byte 4" in result.err


@pytest.mark.parametrize("text", ['{"a": [1, 1.0, null]}', "1e16", "-0.0", "true", "9" * 4300, '"text"'])
def test_json_content_keeps_its_types(run: Run, url: str, text: str) -> None:
    add(run, url, "--json-content", "--id", IDENTITY, "--", text)

    assert repr(run("get", url, IDENTITY, "--json").json["content"]) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["{", "NaN", '{"a": 1, "a": 2}', "[" * 5000])
def test_json_content_that_is_not_exact_json_is_a_usage_error(run: Run, url: str, text: str) -> None:
    result = run("add", url, text, "--json-content")

    assert result.code == 2
    assert "Traceback" not in result.err


def test_metadata_is_text_unless_json_is_asked_for(run: Run, url: str) -> None:
    add(run, url, "x", "--meta", "year=2026", "--meta", "count:=2026", "--meta", "a=b=c", "--id", IDENTITY)

    assert run("get", url, IDENTITY, "--json").json["metadata"] == {"year": "2026", "count": 2026, "a": "b=c"}


def test_filters_compare_as_metadata_are_written(run: Run, url: str) -> None:
    text, number = add(run, url, "x", "--meta", "year=2026"), add(run, url, "x", "--meta", "year:=2026")

    assert [item["id"] for item in run("search", url, "", "--filter", "year=2026", "--json").json] == [text]
    assert [item["id"] for item in run("search", url, "", "--filter", "year:=2026", "--json").json] == [number]


@pytest.mark.parametrize("pair", ["year", "year:=", "year:={"])
def test_a_pair_of_another_form_is_a_usage_error(run: Run, url: str, pair: str) -> None:
    assert run("add", url, "x", "--meta", pair).code == 2


def test_a_key_given_twice_is_a_usage_error(run: Run, url: str) -> None:
    assert run("add", url, "x", "--meta", "a=1", "--meta", "a=2").code == 2


def test_search_is_limited_and_filtered_by_any_tag(run: Run, url: str) -> None:
    for tag in ("a", "b", "c"):
        add(run, url, f"note {tag}", "--tag", tag)

    assert len(run("search", url, "note", "--limit", "2", "--json").json) == 2
    found = run("search", url, "note", "--tag", "a", "--tag", "b", "--json").json
    assert sorted(item["tags"][0] for item in found) == ["a", "b"]


def test_a_search_without_a_hit_is_an_empty_array_and_no_failure(run: Run, url: str) -> None:
    result = run("search", url, "nothing", "--json")

    assert (result.code, result.json) == (0, [])


def test_get_of_a_missing_item_exits_with_1_and_prints_nothing(run: Run, url: str) -> None:
    result = run("get", url, IDENTITY, "--json")

    assert (result.code, result.out) == (1, "")
    assert IDENTITY in result.err


def test_list_shows_the_newest_first_and_all_in_order_of_id(run: Run, url: str) -> None:
    identities = [add(run, url, f"note {number}") for number in range(3)]

    assert [item["id"] for item in run("list", url, "--json").json] == identities[::-1]
    assert [item["id"] for item in run("list", url, "--all", "--json").json] == sorted(identities)
    assert len(run("list", url, "--limit", "2", "--json").json) == 2


def test_into_a_pipe_an_item_is_one_line_with_tabs_between_its_parts(run: Run, url: str) -> None:
    identity = add(run, url, "two\nlines\tand a tab", "--tag", "a", "--tag", "b")

    (line,) = run("list", url).out.splitlines()

    parts = line.split("\t")
    assert (parts[0], parts[2], parts[3]) == (identity, "a,b", "two\\nlines\\tand a tab")


def test_delete_by_id_erases_and_says_what_was_not_there(run: Run, url: str) -> None:
    identity = add(run, url, "x")

    result = run("delete", url, identity, IDENTITY, "--json")

    assert (result.code, result.json) == (1, {"erased": 1, "not_found": 1})
    assert run("list", url, "--json").json == []


def test_delete_by_filter_erases_what_matches(run: Run, url: str) -> None:
    add(run, url, "x", "--meta", "topic=a")
    kept = add(run, url, "y", "--meta", "topic=b")

    assert run("delete", url, "--filter", "topic=a", "--yes").code == 0
    assert [item["id"] for item in run("list", url, "--json").json] == [kept]


def test_delete_by_filter_asks_nobody_where_nobody_can_answer(run: Run, url: str) -> None:
    add(run, url, "x", "--meta", "topic=a")

    result = run("delete", url, "--filter", "topic=a", stdin=b"y\n")

    assert result.code == 2
    assert "--yes" in result.err
    assert len(run("list", url, "--json").json) == 1


@pytest.mark.parametrize("arguments", [(), (IDENTITY, "--filter", "a=b")])
def test_delete_takes_either_ids_or_filters(run: Run, url: str, arguments: tuple[str, ...]) -> None:
    assert run("delete", url, *arguments).code == 2


def test_a_value_that_no_store_keeps_is_refused_with_4(run: Run, url: str) -> None:
    result = run("add", url, "9" * 4_000_001)

    assert result.code == 4
    assert "size limit" in result.err


def test_the_url_comes_from_the_environment_when_it_is_left_out(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCORE_URL", url)
    identity = run("add", "tea", "--tag", "a").out.strip()

    assert run("get", identity, "--json").json["content"] == "tea"
    assert [item["id"] for item in run("search", "--limit", "1", "tea", "--json").json] == [identity]
    assert run("delete", identity).code == 0


def test_a_url_that_is_given_outranks_the_environment(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCORE_URL", "nowhere://")

    assert run("add", url, "https://example.org is content").code == 0
    assert run("list", url, "--json").json[0]["content"] == "https://example.org is content"
