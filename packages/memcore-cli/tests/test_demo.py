from __future__ import annotations

import json
import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from memcore.plugins import Registry

if TYPE_CHECKING:
    from conftest import Run, Spawn

TURNS = [
    {"id": "1:1", "speaker": "Ada", "session": 1, "date": "9:00 am on 1 May, 2024", "text": "I keep three hens now."},
    {"id": "1:2", "speaker": "Ben", "session": 1, "date": "9:00 am on 1 May, 2024", "text": "My bicycle is blue."},
]
QUESTIONS = [
    {"question": "How many hens does Ada keep?", "evidence": ["1:1"]},
    {"question": "What is the weather like?", "evidence": ["1:2"]},
    {"question": "Whose bicycle is blue?"},
]


@pytest.fixture(autouse=True)
def _own_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"turns": TURNS, "questions": QUESTIONS}))
    return str(path)


def test_another_process_answers_from_the_file(run: Run, file: str, tmp_path: Path) -> None:
    document = run("demo", "--file", file, "--db", str(tmp_path / "demo.db"), "--json").json

    assert document["process"] != os.getpid()
    assert document["items"] == 2
    assert [[hit["content"] for hit in answer["hits"]][:1] for answer in document["answers"]] == [
        ["Ada: I keep three hens now."],
        [],
        ["Ben: My bicycle is blue."],
    ]
    assert document["evidence"] == {
        "questions": 2,
        "with_any_evidence": 1,
        "with_all_evidence": 1,
        "mean_recall": 0.5,
    }
    assert document["manifest"]["adapter"] == "sqlite"


def test_the_report_for_people_has_all_of_it(run: Run, file: str, tmp_path: Path) -> None:
    path = tmp_path / "a folder with ? and #" / "demo.db"
    path.parent.mkdir()

    out = run("demo", "--file", file, "--db", str(path)).out

    assert "Remembered 2 turns" in out
    assert "  1 * Ada: I keep three hens now." in out
    assert "nothing found" in out
    assert "at least one piece of it for 1 of 2 questions" in out
    assert "mean recall@10: 50.0%" in out
    assert "retrieve_fidelity" in out
    assert str(path) in out


def test_the_commands_to_try_next_work(run: Run, file: str, tmp_path: Path, spawn: Spawn) -> None:
    out = run("demo", "--file", file, "--db", str(tmp_path / "it's a file.db")).out
    line = next(line for line in out.splitlines() if line.startswith("  memcore list"))

    program, *arguments = shlex.split(line)

    assert program == "memcore"
    assert "I keep three hens now." in spawn(*arguments).out


def test_running_it_twice_on_one_file_remembers_nothing_twice(run: Run, file: str, tmp_path: Path) -> None:
    database = str(tmp_path / "demo.db")

    assert [run("demo", "--file", file, "--db", database, "--json").json["items"] for _ in range(2)] == [2, 2]


def test_without_a_file_our_own_sample_is_remembered_in_a_fresh_file(run: Run) -> None:
    first, second = (run("demo", "--json").json for _ in range(2))

    assert first["file"] != second["file"]
    assert Path(first["file"]).is_absolute()
    assert Path(first["file"]).exists()
    assert first["evidence"]["with_any_evidence"] == first["evidence"]["questions"]


def test_a_conversation_without_questions_is_remembered_too(run: Run, tmp_path: Path) -> None:
    document = run("demo", "--file", "-", "--db", str(tmp_path / "demo.db"), "--json", stdin=json.dumps(TURNS).encode())

    assert (document.json["items"], document.json["evidence"]) == (2, None)


def test_a_bad_file_is_told_with_its_name_and_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('[{"speaker": "A"}]')

    result = run("demo", "--file", str(tmp_path / "bad.json"))

    assert result.code == 4
    assert "bad.json: not a conversation: turn 1 needs" in result.err


def test_a_file_that_is_missing_is_named(run: Run, tmp_path: Path) -> None:
    result = run("demo", "--file", str(tmp_path / "missing.json"))

    assert result.code == 1
    assert "missing.json" in result.err


def test_without_the_sqlite_adapter_the_demo_says_what_to_install(run: Run) -> None:
    result = run("demo", registry=lambda: Registry.discover(()))

    assert result.code == 5
    assert "install memcore-sqlite" in result.err


def test_it_works_in_a_plain_locale(spawn: Spawn) -> None:
    result = spawn("demo", PYTHONIOENCODING="cp1252", PYTHONUTF8="0", LC_ALL="C")

    assert (result.code, result.stderr) == (0, b"")
