"""Labelled data become items, and an adapter is scored by what it finds of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from memcore_conformance.quality.__main__ import SAMPLE, main
from memcore_conformance.quality.data import read
from memcore_conformance.quality.evaluate import evaluate

if TYPE_CHECKING:
    from pathlib import Path


def document(name: str, text: str, **about: object) -> dict[str, Any]:
    return {"id": name, "text": text, "meta": about}


def query(text: str, *gold: str, category: str = "fact") -> dict[str, Any]:
    return {"id": text, "text": text, "gold": gold, "category": category}


def written(folder: Path, *collections: dict[str, Any]) -> Path:
    file = folder / "set.json"
    file.write_text(json.dumps({"name": "set", "collections": collections}), encoding="utf-8")
    return file


def test_a_document_becomes_an_item_with_what_is_known_about_it(tmp_path: Path) -> None:
    about = {"speaker": "Ada", "pos": 3, "date": "1:56 pm on 8 May, 2023"}
    file = written(tmp_path, {"id": "c", "docs": [document("d1", "Tea.", **about)], "queries": []})
    (collection,) = read(file).collections
    (item,) = collection.items
    assert (item.content, item.metadata) == ("Tea.", about)
    assert datetime.fromtimestamp(item.created_at, UTC) == datetime(2023, 5, 8, 13, 56, 3, tzinfo=UTC)
    assert collection.names == {item.id: "d1"}


def test_documents_without_a_date_keep_their_order(tmp_path: Path) -> None:
    docs = [document(name, "Tea.") for name in "abc"]
    (collection,) = read(written(tmp_path, {"id": "c", "docs": docs, "queries": []})).collections
    times = [item.created_at for item in collection.items]
    assert times == sorted(set(times))


def test_a_document_becomes_a_record_with_the_date_and_what_was_before_in_its_session_as_context(
    tmp_path: Path,
) -> None:
    docs = [
        document(f"d{number}", f"text {number}", session=number // 4, **about)
        for number, about in enumerate([{}, {}, {}, {"date": "2024-06-09T19:40"}, {}])
    ]
    (collection,) = read(written(tmp_path, {"id": "c", "docs": docs, "queries": []})).collections
    assert [write.content for write in collection.records] == [item.content for item in collection.items]
    assert [write.id for write in collection.records] == [item.id for item in collection.items]
    assert [write.context for write in collection.records] == [
        None,
        "text 0",
        "text 0\ntext 1",
        "9 June 2024\ntext 1\ntext 2",
        None,
    ]


def test_questions_about_what_was_never_said_are_left_out(tmp_path: Path) -> None:
    queries = [query("who", "a"), query("why", "a", category="adversarial")]
    file = written(tmp_path, {"id": "c", "docs": [document("a", "Tea.")], "queries": queries})
    assert [question.text for question in read(file).collections[0].questions] == ["who"]


def test_a_file_of_another_format_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"name": "other"}')
    with pytest.raises(ValueError, match=r"other\.json is no labelled data: KeyError: 'collections'"):
        read(file)


@pytest.mark.parametrize("url", ["memory://", "sqlite:///quality.db"])
async def test_an_adapter_is_scored_by_what_it_finds_in_each_collection_alone(url: str, tmp_path: Path) -> None:
    first = {"id": "1", "docs": [document("a", "green tea"), document("b", "black coffee")]}
    second = {"id": "2", "docs": [document("a", "hot chocolate")]}
    file = written(
        tmp_path,
        first | {"queries": [query("tea", "a"), query("coffee", "a")]},
        second | {"queries": [query("tea", "a"), query("chocolate", "a")]},
    )
    result = await evaluate(url, read(file), folder=tmp_path / "work")
    assert result.questions == 4
    assert result.score.recall_5 == 0.5
    assert result.score.nothing == 0.25


async def test_records_are_found_by_what_was_said_before_them(tmp_path: Path) -> None:
    docs = [document("a", "Is there green tea?"), document("b", "Yes, on the shelf."), document("c", "Thanks.")]
    content = {"id": "1", "docs": docs, "queries": [query("where is the tea", "b")]}
    data = read(written(tmp_path, content))
    assert (await evaluate("memory://", data, folder=tmp_path / "items")).score.recall_5 == 0
    assert (await evaluate("memory://", data, folder=tmp_path / "records", contract="records")).score.recall_5 == 1


def test_the_command_measures_records_if_asked_to(capsys: pytest.CaptureFixture[str]) -> None:
    main(["memory://", "--records"])
    assert "memory://, sample, records" in capsys.readouterr().out


def test_the_command_prints_a_row_for_each_adapter_and_file(capsys: pytest.CaptureFixture[str]) -> None:
    main(["memory://", "sqlite:///quality.db", "--data", str(SAMPLE), str(SAMPLE.parent)])
    header, _rule, *rows = capsys.readouterr().out.splitlines()
    assert "recall@10" in header
    names = [row.split("|")[1].strip() for row in rows]
    assert names == ["memory://, sample"] * 2 + ["sqlite:///quality.db, sample"] * 2


def test_a_folder_without_data_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["memory://", "--data", str(tmp_path)])
    assert "no .json file" in capsys.readouterr().err
