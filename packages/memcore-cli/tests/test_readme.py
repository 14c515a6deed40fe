from __future__ import annotations

import re
from pathlib import Path

from memcore_cli.app import app
from memcore_cli.commands import records
from memcore_cli.exit_codes import ExitCode

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_every_command_is_in_the_readme_and_no_other() -> None:
    described = re.findall(r"^\| `memcore ((?:records )?\w+)", README, re.MULTILINE)
    plain = [str(command.name) for command in app.registered_commands]
    of_records = [f"records {command.name}" for command in records.app.registered_commands]

    assert sorted(described) == sorted(plain + of_records)


def test_every_exit_code_is_in_the_readme_with_its_meaning() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", README.replace("\\|", "&"), re.MULTILINE)

    assert {int(code): meaning.replace("&", "|") for code, meaning in rows} == {int(c): c.meaning for c in ExitCode}
