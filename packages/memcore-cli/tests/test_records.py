from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import pytest

if TYPE_CHECKING:
    from conftest import Fakes, Run

FIRST = "00000000-0000-4000-8000-000000000001"
SECOND = "00000000-0000-4000-8000-000000000002"
THIRD = "00000000-0000-4000-8000-000000000003"
FOURTH = "00000000-0000-4000-8000-000000000004"


def write(run: Run, url: str, *arguments: str) -> str:
    result = run("records", "write", url, *arguments)
    assert result.code == 0, result.err
    return result.out.strip()


def found(run: Run, url: str, *arguments: str) -> list[str]:
    """The contents that a search finds, sorted."""
    hits = run("records", "search", url, *arguments, "--json").json
    return sorted(hit["record"]["content"] for hit in hits)


@pytest.fixture
def moved(run: Run, url: str) -> str:
    """A store in which the fact FIRST was superseded by SECOND."""
    write(run, url, "Ada lives in Lisbon", "--scope", "user=ada", "--id", FIRST)
    write(run, url, "Ada lives in Ghent", "--scope", "user=ada", "--id", SECOND, "--supersedes", FIRST)
    return url


class TestWrite:
    def test_prints_nothing_but_the_id_on_stdout(self, run: Run, url: str) -> None:
        result = run("records", "write", url, "x")

        assert result.out == f"{UUID(result.out.strip())}\n"

    def test_keeps_all_that_it_was_given(self, run: Run, url: str) -> None:
        identity = write(
            run,
            *(url, "Ada lives in Ghent", "--scope", "user=ada", "--scope", "app=chat", "--kind", "profile"),
            *("--tag", "b", "--tag", "a", "--context", "where do you live?", "--author", "mira", "--tier", "short"),
            *("--expires-at", "2999-05-01T12:00:00.000001+02:00", "--payload", '{"a": [1, 1.0, -0.0, null]}'),
        )

        record = run("records", "get", url, identity, "--json").json

        expected = {
            "content": "Ada lives in Ghent",
            "scope": {"app": "chat", "user": "ada"},
            "kind": "profile",
            "tags": ["b", "a"],
            "context": "where do you live?",
            "provenance": {"conversation_id": None, "run_id": None, "author": "mira"},
            "tier": "short",
            "expires_at": "2999-05-01T10:00:00.000001+00:00",
            "hits": 0,
        }
        assert {key: record[key] for key in expected} == expected
        assert repr(record["payload"]) == "{'a': [1, 1.0, -0.0, None]}"

    def test_reads_standard_input(self, run: Run, url: str) -> None:
        result = run("records", "write", url, "-", "--json", stdin="naïve\n".encode())

        assert result.json["content"] == "naïve"

    def test_again_with_the_same_id_is_the_same_write(self, run: Run, url: str) -> None:
        first, second = (run("records", "write", url, "x", "--id", FIRST, "--json").json for _ in range(2))

        assert first == second

    def test_superseding_ends_the_old_record_when_the_new_one_begins(self, run: Run, moved: str) -> None:
        old, new = (run("records", "get", moved, identity, "--json").json for identity in (FIRST, SECOND))

        assert (old["superseded_by"], old["invalid_at"]) == (SECOND, new["created_at"])

    def test_a_merge_supersedes_several(self, run: Run, url: str) -> None:
        write(run, url, "Ada likes tea", "--id", FIRST)
        write(run, url, "Ada drinks tea in the morning", "--id", SECOND)
        write(run, url, "Ada likes tea in the morning", "--supersedes", FIRST, "--supersedes", SECOND)

        assert found(run, url) == ["Ada likes tea in the morning"]

    def test_whoever_comes_too_late_is_told_the_head_and_how_to_supersede_it(self, run: Run, moved: str) -> None:
        result = run("records", "write", moved, "Ada lives in Porto", "--supersedes", FIRST)

        assert (result.code, result.out) == (1, "")
        assert f"the valid head of its chain is {SECOND}" in result.err
        assert f"--supersedes {SECOND}" in result.err
        assert found(run, moved) == ["Ada lives in Ghent"]

    def test_superseding_what_was_invalidated_points_at_its_history(self, run: Run, url: str) -> None:
        write(run, url, "x", "--id", FIRST)
        run("records", "invalidate", url, FIRST)

        result = run("records", "write", url, "y", "--supersedes", FIRST)

        assert result.code == 1
        assert f"memcore records history URL {FIRST}" in result.err

    def test_another_record_under_the_same_id_is_refused(self, run: Run, url: str) -> None:
        write(run, url, "x", "--id", FIRST)

        result = run("records", "write", url, "y", "--id", FIRST)

        assert result.code == 1
        assert "leave --id out" in result.err

    def test_superseding_what_is_not_there_exits_with_1(self, run: Run, url: str) -> None:
        result = run("records", "write", url, "x", "--supersedes", FIRST)

        assert result.code == 1
        assert FIRST in result.err
        assert "memcore records search URL" in result.err

    @pytest.mark.parametrize("content", [b"", b"a\x00b"])
    def test_a_content_that_is_no_prompt_is_refused_with_4(self, run: Run, url: str, content: bytes) -> None:
        assert run("records", "write", url, "-", stdin=content).code == 4

    @pytest.mark.parametrize(
        ("option", "value", "said"),
        [
            ("--expires-at", "2026-05-01T12:00:00", "needs its zone"),
            ("--expires-at", "2026-05-01", "2026-05-01T12:00:00+02:00"),
            ("--expires-at", "tomorrow", "write it as in"),
            ("--expires-at", "0001-01-01T00:00:00+02:00", "is no time"),
            ("--scope", "ada", "KEY=VALUE"),
            ("--scope", "=ada", "KEY=VALUE"),
            ("--kind", "facts", "fact, preference, episode, profile"),
            ("--tier", "forever", "short, long, permanent"),
            ("--payload", "NaN", "not JSON"),
            ("--supersedes", "1", "UUID"),
        ],
    )
    def test_a_bad_option_is_a_usage_error_that_says_how_to_write_it(
        self, run: Run, url: str, option: str, value: str, said: str
    ) -> None:
        result = run("records", "write", url, "x", option, value)

        assert result.code == 2
        assert said in result.err


class TestSearch:
    def test_finds_what_is_valid_and_nothing_that_has_ended(self, run: Run, moved: str) -> None:
        assert found(run, moved, "Ada lives") == ["Ada lives in Ghent"]

    def test_finds_what_has_ended_when_asked_to(self, run: Run, moved: str) -> None:
        assert found(run, moved, "--include-invalidated") == ["Ada lives in Ghent", "Ada lives in Lisbon"]

    def test_finds_what_was_valid_at_a_moment(self, run: Run, moved: str) -> None:
        born = run("records", "get", moved, FIRST, "--json").json["created_at"]

        assert found(run, moved, "--as-of", born) == ["Ada lives in Lisbon"]

    def test_is_bound_to_the_scope_exactly(self, run: Run, url: str) -> None:
        for user in ("ada", "ada2", "berta"):
            write(run, url, f"likes tea, says {user}", "--scope", f"user={user}", "--scope", "app=chat")

        assert found(run, url, "tea", "--scope", "user=ada", "--scope", "app=chat") == ["likes tea, says ada"]

    def test_chooses_by_kind_tier_and_tags(self, run: Run, url: str) -> None:
        write(run, url, "one", "--kind", "episode", "--tier", "short", "--tag", "a")
        write(run, url, "two", "--kind", "profile", "--tier", "long", "--tag", "a", "--tag", "b")

        assert found(run, url, "--kind", "episode", "--kind", "fact") == ["one"]
        assert found(run, url, "--tier", "long") == ["two"]
        assert found(run, url, "--tag", "a", "--tag", "b") == ["one", "two"]
        assert found(run, url, "--tag", "a", "--tag", "b", "--match-tags", "all") == ["two"]

    def test_gives_the_next_page_behind_a_cursor(self, run: Run, url: str) -> None:
        for number in range(3):
            write(run, url, f"note {number}")

        first = run("records", "search", url, "--limit", "2", "--json").json
        rest = run("records", "search", url, "--limit", "2", "--after", first[-1]["cursor"], "--json").json

        assert [hit["record"]["content"] for hit in [*first, *rest]] == ["note 2", "note 1", "note 0"]

    def test_tells_people_the_cursor_of_the_next_page(self, run: Run, url: str) -> None:
        for number in range(2):
            write(run, url, f"note {number}")

        cursor = run("records", "search", url, "--limit", "1").err.split()[-1]

        assert found(run, url, "--after", cursor) == ["note 0"]

    def test_a_cursor_beside_a_text_is_refused_with_4_and_the_reason(self, run: Run, moved: str) -> None:
        cursor = run("records", "search", moved, "--json").json[-1]["cursor"]

        refused = run("records", "search", moved, "Ada", "--after", cursor)
        assert (refused.code, "only for a search without a text" in refused.err) == (4, True)

    def test_without_a_hit_is_an_empty_array_and_no_failure(self, run: Run, url: str) -> None:
        result = run("records", "search", url, "nothing", "--json")

        assert (result.code, result.json) == (0, [])

    def test_into_a_pipe_a_record_is_one_line_with_tabs_between_its_parts(self, run: Run, url: str) -> None:
        identity = write(run, url, "two\nlines", "--scope", "user=ada", "--tag", "a", "--tag", "b")

        (line,) = run("records", "search", url).out.splitlines()

        parts = line.split("\t")
        assert (parts[0], *parts[2:]) == (identity, "valid", "fact", "user=ada", "a,b", "two\\nlines")

    def test_takes_the_url_from_the_environment(self, run: Run, moved: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MEMCORE_URL", moved)

        for arguments in (("Ghent",), ()):
            (hit,) = run("records", "search", *arguments, "--json").json
            assert hit["record"]["id"] == SECOND


class TestGet:
    def test_of_a_missing_record_exits_with_1_and_prints_nothing(self, run: Run, url: str) -> None:
        result = run("records", "get", url, FIRST, "--json")

        assert (result.code, result.out) == (1, "")
        assert FIRST in result.err

    def test_shows_people_what_became_of_it(self, run: Run, moved: str) -> None:
        shown = run("records", "get", moved, FIRST).out

        assert "status     superseded" in shown
        assert f"successor  {SECOND}" in shown


class TestHistory:
    def test_is_the_whole_chain_oldest_first(self, run: Run, moved: str) -> None:
        for identity in (FIRST, SECOND):
            records = run("records", "history", moved, identity, "--json").json
            assert [record["id"] for record in records] == [FIRST, SECOND]

    def test_draws_the_newest_at_the_top_with_dates_and_status(self, run: Run, moved: str) -> None:
        old, new = run("records", "history", moved, FIRST, "--json").json

        assert run("records", "history", moved, FIRST).out.splitlines() == [
            f"● valid  {seconds(new['created_at'])}",
            "│   Ada lives in Ghent",
            f"│   {SECOND}",
            f"○ superseded  {seconds(old['created_at'])} to {seconds(old['invalid_at'])}",
            "    Ada lives in Lisbon",
            f"    {FIRST}",
        ]

    def test_draws_reasons_and_actors(self, run: Run, url: str) -> None:
        write(run, url, "x", "--id", FIRST, "--author", "mira")
        run("records", "invalidate", url, FIRST, "--reason", "it was a joke", "--actor", "ada")

        title, _, below = run("records", "history", url, FIRST).out.splitlines()

        assert title.startswith("○ invalidated  ")
        assert title.endswith(" by ada: it was a joke")
        assert below == f"    {FIRST}  from mira"

    def test_draws_a_merge_as_branches_under_what_they_became(self, run: Run, url: str) -> None:
        write(run, url, "b1", "--id", FIRST)
        write(run, url, "a1", "--id", SECOND)
        write(run, url, "a2", "--id", THIRD, "--supersedes", SECOND)
        write(run, url, "both", "--id", FOURTH, "--supersedes", FIRST, "--supersedes", THIRD)

        lines = run("records", "history", url, FIRST).out.splitlines()

        assert [line.partition("  2")[0] for line in lines] == [
            "● valid",
            "│   both",
            f"│   {FOURTH}",
            "├─○ superseded",
            "│ │   a2",
            f"│ │   {THIRD}",
            "│ ○ superseded",
            "│     a1",
            f"│     {SECOND}",
            "└─○ superseded",
            "      b1",
            f"      {FIRST}",
        ]

    def test_draws_content_that_cannot_act_on_a_terminal(self, run: Run, url: str) -> None:
        write(run, url, "one\n\x1b[31mtwo", "--id", FIRST)

        assert run("records", "history", url, FIRST).out.splitlines()[1:3] == ["    one", "    \\x1b[31mtwo"]

    def test_of_a_missing_record_exits_with_1(self, run: Run, url: str) -> None:
        assert run("records", "history", url, FIRST).code == 1


class TestInvalidate:
    def test_ends_a_record_with_reason_and_actor(self, run: Run, url: str) -> None:
        write(run, url, "x", "--id", FIRST)

        record = run("records", "invalidate", url, FIRST, "--reason", "wrong", "--actor", "ada", "--json").json

        assert (record["invalid_reason"], record["invalidated_by"]) == ("wrong", "ada")
        assert found(run, url) == []

    def test_again_changes_nothing(self, run: Run, url: str) -> None:
        write(run, url, "x", "--id", FIRST)
        first = run("records", "invalidate", url, FIRST, "--reason", "first", "--json").json

        assert run("records", "invalidate", url, FIRST, "--reason", "second", "--json").json == first

    def test_of_a_missing_record_exits_with_1(self, run: Run, url: str) -> None:
        assert run("records", "invalidate", url, FIRST).code == 1


class TestDelete:
    def test_by_id_erases_and_says_what_was_not_there(self, run: Run, moved: str) -> None:
        result = run("records", "delete", moved, FIRST, THIRD, "--json")

        assert (result.code, result.json) == (1, {"erased": 1, "not_found": 1})
        assert found(run, moved, "--include-invalidated") == ["Ada lives in Ghent"]

    def test_by_scope_erases_all_that_is_in_it_ended_and_internal_ones_too(self, run: Run, moved: str) -> None:
        write(run, moved, "a card", "--kind", "state", "--scope", "user=ada", "--scope", "app=chat")
        write(run, moved, "kept", "--scope", "user=berta")

        result = run("records", "delete", moved, "--scope", "user=ada", "--yes", "--json")

        assert (result.code, result.json) == (0, {"erased": 3, "not_found": 0})
        assert found(run, moved, "--include-invalidated") == ["kept"]

    def test_by_scope_can_be_kept_to_some_kinds(self, run: Run, moved: str) -> None:
        write(run, moved, "a card", "--kind", "state", "--scope", "user=ada")

        assert run("records", "delete", moved, "--scope", "user=ada", "--kind", "state", "--yes").code == 0
        assert found(run, moved) == ["Ada lives in Ghent"]

    def test_by_scope_asks_nobody_where_nobody_can_answer(self, run: Run, moved: str) -> None:
        result = run("records", "delete", moved, "--scope", "user=ada", stdin=b"y\n")

        assert result.code == 2
        assert "--yes" in result.err
        assert found(run, moved) == ["Ada lives in Ghent"]

    @pytest.mark.parametrize(
        "arguments", [(), (FIRST, "--scope", "user=ada"), ("--kind", "fact"), (FIRST, "-k", "fact")]
    )
    def test_takes_either_ids_or_a_scope(self, run: Run, moved: str, arguments: tuple[str, ...]) -> None:
        assert run("records", "delete", moved, *arguments, "--yes").code == 2
        assert found(run, moved) == ["Ada lives in Ghent"]


class TestSweep:
    def test_says_what_it_erased_and_archived(self, run: Run, url: str) -> None:
        write(run, url, "gone", "--expires-at", "2001-01-01T00:00:00Z")
        write(run, url, "kept", "--tier", "short")

        assert run("records", "sweep", url, "--json").json == {"erased": 1, "archived": 0}
        assert found(run, url) == ["kept"]

    @pytest.mark.parametrize("span", ["7", "0d", "-1d", "7 d", "1w", "٣d", f"{10**12}d", ""])
    def test_takes_no_span_but_a_number_with_its_unit(self, run: Run, url: str, span: str) -> None:
        result = run("records", "sweep", url, f"--short-idle={span}")

        assert result.code == 2
        assert "7d, 12h, 30m or 45s" in result.err


@pytest.mark.parametrize(
    "arguments", [("write", "x"), ("search",), ("get", FIRST), ("history", FIRST), ("delete", FIRST), ("sweep",)]
)
def test_a_store_without_records_says_so_with_5(run: Run, fakes: Fakes, arguments: tuple[str, ...]) -> None:
    result = run("records", arguments[0], "fake://", *arguments[1:], registry=fakes)

    assert (result.code, result.out) == (5, "")
    assert "does not offer the records contract" in result.err


def test_the_group_alone_shows_its_commands(run: Run) -> None:
    result = run("records")

    assert result.code == 0
    assert "invalidate" in result.out


def seconds(time: str) -> str:
    return time.replace("T", " ")[:19] + " UTC"
