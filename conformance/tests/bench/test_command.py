"""The command measures for real, on a tiny store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from memcore_conformance.bench.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_prints_a_report_writes_files_and_leaves_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, picture, folder = tmp_path / "bench.json", tmp_path / "bench.svg", tmp_path / "work"
    small = ("--sizes", "60,30", "--runs", "1", "--clock", "processor", "--dir", str(folder))
    main(["memory://", *small, "--json", str(data), "--svg", str(picture)])
    text = capsys.readouterr().out
    assert "- clock: processor time" in text
    assert "## memory, 60 items" in text
    assert [result["size"] for result in json.loads(data.read_text())["results"]] == [30, 60]
    assert picture.read_text().startswith("<svg")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("arguments", [[], ["memory://", "--sizes", "0"], ["memory://", "--runs", "none"]])
def test_wrong_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert "error" in capsys.readouterr().err
