from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from memcore_conformance import cli
from memcore_conformance.catalogue import catalogue
from memcore_conformance.memory import MemoryHarness
from mutants.write import ForeignIds
from typer.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Command = Callable[..., Result]


@pytest.fixture
def command() -> Command:
    return lambda *arguments: CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


def test_a_complete_run_of_a_conforming_adapter_ends_with_its_grade(command: Command) -> None:
    result = command("memory")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].startswith(
        "memory: core + analysed + managed + records + history + lifecycle + transfer; NOT claimed: "
    )


def test_a_case_alone_is_partial_and_not_a_success(command: Command) -> None:
    result = command("memory", "--case", "I-43a")
    assert result.exit_code == cli.PARTIAL
    assert "PARTIAL" in result.stdout


def test_json_is_the_whole_report_and_nothing_else(command: Command) -> None:
    result = command("memory", "--json")
    assert [verdict["case"] for verdict in json.loads(result.stdout)["verdicts"]] == [case.id for case in catalogue()]


def test_the_list_shows_every_case_with_its_sentence(command: Command) -> None:
    lines = command("--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [case.id for case in catalogue()]
    assert all(line.endswith(case.title) for line, case in zip(lines, catalogue(), strict=True))


def test_the_list_as_json_holds_the_declarations(command: Command) -> None:
    assert json.loads(command("--list", "--json").stdout)[0]["id"] == next(iter(catalogue())).id


def test_a_certificate_is_written_and_compared(command: Command, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    assert command("memory", "--certify", old).exit_code == 0
    assert command("--compare", old, old).stdout == "no difference\n"
    new.write_text(old.read_text().replace('"transport": false', '"transport": true'))
    result = command("--compare", old, new)
    assert (result.stdout, result.exit_code) == ("claim transport: new\n", cli.NOT_MET)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "which adapter?"),
        (("nix",), "no installed harness is called 'nix'; there are: "),
        (("memory", "--case", "I-99z"), "no such case: I-99z"),
        (("memory", "--case", "I-43a", "--certify", "c.json"), "a certificate is for all cases"),
        (("--compare", "no.json", "no.json"), "no.json is no certificate"),
    ],
)
def test_a_wrong_command_line_is_told_in_one_line(command: Command, arguments: tuple[str, ...], message: str) -> None:
    result = command(*arguments)
    assert result.exit_code == cli.USAGE
    assert message in result.stderr


def test_the_module_is_the_same_command() -> None:
    command = [sys.executable, "-m", "memcore_conformance", "memory", "--case", "I-43a"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == cli.PARTIAL


def test_the_memcore_command_knows_it() -> None:
    command = [sys.executable, "-m", "memcore_cli", "conformance", "memory", "--case", "I-43a"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == cli.PARTIAL


def test_a_failure_is_told_with_the_command_that_repeats_it(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "find_harness", lambda _name: ForeignIds.factory)
    result = command("ForeignIds", "--case", "I-43a")
    assert result.exit_code == cli.NOT_MET
    assert "  again     memcore conformance ForeignIds --case I-43a" in result.stderr


def test_what_every_case_suffers_from_is_told_once(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cli, "find_harness", lambda _name: type("Half", (), {"name": "half", "close": MemoryHarness.close})
    )
    result = command("half")
    assert result.exit_code == cli.NOT_MET
    assert result.stderr.count("because   the harness lacks make_backend, make_search_index_visible, ") == 1
