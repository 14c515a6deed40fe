"""What only a real process shows: the locale, pipes, signals, terminals and a wrong `memcore` beside it."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Run, Spawn

COMMAND = [sys.executable, "-m", "memcore_cli"]
TEXT = "\U0001f680 \u5bc6\u7801 na\u00efve \ud83d \x1b[31m"
IDENTITY = "00000000-0000-4000-8000-000000000001"
LOCALES = [
    {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LANG": "C"},
    {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.fixture
def filled(run: Run, url: str) -> str:
    """The URL of a store that holds one item with difficult text."""
    run("import", url, "-", stdin=json.dumps({"id": IDENTITY, "content": TEXT, "tags": ["\U0001f680"]}).encode())
    return url


@pytest.mark.parametrize("locale", LOCALES, ids=["cp1252", "POSIX"])
class TestLocale:
    def test_data_are_the_same_bytes_in_every_locale(
        self, spawn: Spawn, run: Run, filled: str, locale: dict[str, str]
    ) -> None:
        for command in (("export", filled), ("list", filled, "--json"), ("get", filled, IDENTITY, "--json")):
            assert spawn(*command, **locale).stdout == run(*command).stdout

    def test_text_for_people_never_fails(self, spawn: Spawn, filled: str, locale: dict[str, str]) -> None:
        for command in (("list", filled), ("get", filled, IDENTITY), ("search", filled, "\u5bc6\u7801")):
            result = spawn(*command, **locale)
            assert (result.code, result.stderr) == (0, b"")
            assert b"\x1b" not in result.stdout

    def test_arguments_are_read_as_utf8(self, spawn: Spawn, url: str, locale: dict[str, str]) -> None:
        spawn("add", url, "\U0001f680 \u5bc6\u7801", "--id", IDENTITY, **locale)

        assert spawn("get", url, IDENTITY, "--json", **locale).json["content"] == "\U0001f680 \u5bc6\u7801"
        assert len(spawn("search", url, "\U0001f680", "--json", **locale).json) == 1

    def test_stdin_is_read_as_utf8(self, spawn: Spawn, url: str, locale: dict[str, str]) -> None:
        spawn("add", url, "-", "--id", IDENTITY, stdin="na\u00efve".encode(), **locale)

        assert spawn("get", url, IDENTITY, "--json", **locale).json["content"] == "na\u00efve"


def test_an_argument_that_is_no_utf8_is_a_usage_error(spawn: Spawn) -> None:
    result = spawn(b"add", b"memory://", b"caf\xe9")

    assert result.code == 2
    assert "not UTF-8" in result.err


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["export", "list --all", "list --all --json"])
def test_a_reader_that_goes_away_ends_the_command_quietly(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch, command: str, unbuffered: str
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    run("import", url, "-", stdin=b"".join(b'{"content": "%d %s"}\n' % (n, b"x" * 1000) for n in range(500)))
    name, *options = command.split()

    with subprocess.Popen([*COMMAND, name, url, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_slow_reader_gets_every_byte(spawn: Spawn, run: Run, url: str, unbuffered: str) -> None:
    run("add", url, "-", stdin=b"x" * 1_000_000)

    assert len(spawn("export", url, PYTHONUNBUFFERED=unbuffered).stdout) > 1_000_000


def test_a_full_device_is_an_error_and_no_trace(filled: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "export", filled], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )

    assert done.returncode == 1
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_ctrl_c_ends_an_import_that_waits_for_its_input_and_says_what_was_done(url: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "import", url, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        process.stdin.write(b'{"content": "x"}\n' * 500)
        process.stdin.flush()
        wait_until(lambda: subprocess.run([*COMMAND, "list", url], capture_output=True, check=False).stdout != b"")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert b"stored 500" in out
    assert b"run the same command again" in err
    assert b"interrupted" in err
    assert b"Traceback" not in err


def test_on_a_terminal_items_are_a_table_in_which_content_cannot_act(run: Run, url: str) -> None:
    content = "[red]markup[/red] \x1b]0;title\x07 :rocket:"
    run("import", url, "-", stdin=json.dumps({"content": content, "tags": ["[b]"]}).encode())

    shown = on_terminal("search", url, "markup")

    assert "[red]markup[/red] \\x1b]0;title\\x07 :rocket:" in shown
    assert "#[b]" in shown
    assert "memory" in shown


def test_on_a_terminal_a_long_content_is_clipped_and_says_so(run: Run, url: str) -> None:
    run("add", url, "x" * 1000)

    assert "(500 more characters)" in on_terminal("list", url)


def test_progress_is_shown_on_a_terminal_only(spawn: Spawn, url: str, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"".join(b'{"content": %d}\n' % n for n in range(1000)))

    assert "importing" in on_terminal("import", url, str(file))
    assert spawn("import", url, str(file)).stderr == b""


def test_on_a_terminal_records_are_a_table_in_which_content_cannot_act(run: Run, url: str) -> None:
    run("records", "write", url, "-", "--scope", "user=ada", "--tag", "[b]", stdin=b"[red]markup \x1b]0;title\x07")

    shown = on_terminal("records", "search", url, "markup")

    assert "[red]markup \\x1b]0;title\\x07" in shown
    assert "fact  user=ada  #[b]" in shown


def test_on_a_terminal_a_history_is_wrapped_beside_its_branch(run: Run, url: str) -> None:
    run("records", "write", url, "old", "--id", IDENTITY)
    run("records", "write", url, " ".join(["word"] * 50), "--supersedes", IDENTITY)

    lines = on_terminal("records", "history", url, IDENTITY).splitlines()

    assert all(len(line) <= 120 for line in lines)
    assert [line[:9] for line in lines[1:4]] == ["│   word "] * 3


def test_where_the_output_takes_no_drawing_a_history_is_drawn_in_ascii(run: Run, spawn: Spawn, url: str) -> None:
    other = IDENTITY[:-1] + "2"
    run("records", "write", url, "a", "--id", IDENTITY)
    run("records", "write", url, "b", "--id", other)
    run("records", "write", url, "c", "--supersedes", IDENTITY, "--supersedes", other)

    lines = spawn("records", "history", url, IDENTITY, PYTHONIOENCODING="ascii").out.splitlines()

    assert [line.split()[0] for line in lines] == ["*", "|", "|", "|-o", "|", "|", "`-o", "a", IDENTITY]


def test_whoever_answers_no_erases_no_record(run: Run, url: str) -> None:
    run("records", "write", url, "x", "--scope", "user=ada")
    run("records", "write", url, "a card", "--scope", "user=ada", "--kind", "state")

    shown = on_terminal("records", "delete", url, "--scope", "user=ada", keys=b"n\n")

    assert "Erase 2 records for good?" in shown
    assert len(run("records", "search", url, "--json").json) == 1


def test_whoever_answers_yes_erases_the_records(run: Run, url: str) -> None:
    run("records", "write", url, "x", "--scope", "user=ada")

    assert "erased 1 record" in on_terminal("records", "delete", url, "--scope", "user=ada", keys=b"y\n")
    assert run("records", "search", url, "--json").json == []


def test_of_many_processes_that_supersede_one_record_one_wins_and_the_others_are_told_the_head(
    run: Run, url: str
) -> None:
    run("records", "write", url, "old", "--id", IDENTITY)
    command = [*COMMAND, "records", "write", url, "new", "--supersedes", IDENTITY]

    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    answers = [(*process.communicate(timeout=60), process.returncode) for process in processes]

    (winner,) = [out.strip() for out, _, code in answers if code == 0]
    assert [code for _, _, code in answers if code] == [1, 1, 1]
    assert all(f"--supersedes {winner}" in err for _, err, code in answers if code)


def test_whoever_answers_no_erases_nothing(run: Run, url: str) -> None:
    run("add", url, "x", "--meta", "topic=a")

    assert "Erase 1 item for good?" in on_terminal("delete", url, "--filter", "topic=a", keys=b"n\n")
    assert len(run("list", url, "--json").json) == 1


def test_whoever_answers_yes_erases(run: Run, url: str) -> None:
    run("add", url, "x", "--meta", "topic=a")

    assert "erased 1 item" in on_terminal("delete", url, "--filter", "topic=a", keys=b"y\n")
    assert run("list", url, "--json").json == []


def test_a_wrong_module_memcore_is_told_clearly(tmp_path: Path) -> None:
    (tmp_path / "memcore.py").touch()

    done = subprocess.run([*COMMAND, "adapters"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 5
    assert "not ours" in done.stderr
    assert "memcore.py" in done.stderr


def test_the_help_loads_neither_a_driver_nor_rich() -> None:
    code = "import sys; from memcore_cli.app import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert not {"aiosqlite", "sqlite3", "rich", "snowballstemmer"} & set(done.stderr.split())


def on_terminal(*arguments: str, keys: bytes = b"") -> str:
    """Run a command on a terminal of its own and return what it showed."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1"}
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        os.write(ours, keys)
        shown = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            shown += part
        process.wait(60)
    os.close(ours)
    return shown.decode("utf-8")


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, however slow the machine is."""
    while not condition():
        time.sleep(0.1)
