from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from memcore import MemoryAdapterUnavailable, MemoryItem
from memcore_cli import importing, reading

if TYPE_CHECKING:
    from uuid import UUID

    from conftest import FakeBackend, Fakes, Run


NASTY = [
    {"content": "U+0000 \x00, an escape \x1b[31m, a lone surrogate \ud83d, a rocket \U0001f680"},
    {"content": {"int": 10**4299, "float": 1e16, "negative zero": -0.0, "one": 1, "one point zero": 1.0, "yes": True}},
    {"content": None, "metadata": {"": None, "a=b": [[], {}], "\u2028": "\u202e"}, "tags": ["", "\n", "a,b"]},
    {"content": "", "created_at": 1234567890.123456},
    {"content": "long ago", "created_at": -1e300},
]


def lines(*documents: object) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def test_an_export_of_an_import_of_an_export_is_the_same_to_the_byte(run: Run, url: str, tmp_path: Path) -> None:
    assert run("import", url, "-", stdin=lines(*NASTY)).code == 0
    first = run("export", url)
    other = f"sqlite:///{tmp_path}/other.db"

    assert run("import", other, "-", stdin=first.stdout).code == 0
    assert run("export", other).stdout == first.stdout
    assert first.stdout.count(b"\n") == len(NASTY)
    assert first.stdout.isascii()


def test_an_export_is_in_order_of_id(run: Run, url: str) -> None:
    run("import", url, "-", stdin=lines(*({"content": number} for number in range(50))))

    identities = [json.loads(line)["id"] for line in run("export", url).out.splitlines()]

    assert identities == sorted(identities)
    assert len(identities) == 50


def test_importing_twice_stores_nothing_twice(run: Run, url: str) -> None:
    for _ in range(2):
        run("import", url, "-", stdin=lines({"content": "no id"}, {"content": "an id", "id": f"{0:032x}"}))

    assert len(run("list", url, "--json").json) == 2


def test_a_json_array_is_imported_too(run: Run, url: str) -> None:
    run("import", url, "-", stdin=lines({"content": "a"}, {"content": "b"}))
    listed = run("list", url, "--all", "--json").stdout

    result = run("import", url, "-", "--json", stdin=b"\xef\xbb\xbf\n " + listed)

    assert result.json == {"read": 2, "stored": 2, "skipped": 0, "failed": 0}


def test_a_byte_order_mark_crlf_and_blank_lines_are_taken(run: Run, url: str) -> None:
    result = run("import", url, "-", "--json", stdin=b'\xef\xbb\xbf{"content": "a"}\r\n\r\n  \n{"content": "b"}')

    assert result.json["stored"] == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"content": "half', "not JSON"),
        (b'{"content": "\xff"}', "not UTF-8 at byte 14"),
        (b'{"content": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"content": NaN}', "NaN is not JSON"),
        (b'{"content": -Infinity}', "-Infinity is not JSON"),
        (b'{"content": 1e999}', "infinities are not JSON"),
        (b'{"content": {"a": 1, "a": 2}}', "the key 'a' stands twice"),
        (b'{"content": ' + b"[" * 101 + b"]" * 101 + b"}", "nested over 100 deep"),
        (b'{"content": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", "nested too deep"),
        (b'{"content": ' + b"9" * 4301 + b"}", "4300 digits"),
        (b"[1]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'{"record": null}', "record: not a JSON object"),
        (b'{"content": 1, "colour": 2}', "colour: "),
        (b'{"id": "one"}', "id: "),
        (b'{"created_at": "soon"}', "created_at: "),
        (b'{"tags": [1]}', "tags.0: "),
        (b'{"metadata": [1]}', "metadata: "),
        (b'{"content": "' + b"x" * 4_000_000 + b'"}', "size limit"),
    ],
)
def test_a_bad_line_is_told_with_number_and_reason_and_the_others_are_stored(
    run: Run, url: str, line: bytes, reason: str
) -> None:
    result = run("import", url, "-", "--json", stdin=b'{"content": "a"}\n' + line + b'\n{"content": "b"}\n')

    assert (result.code, result.json) == (1, {"read": 3, "stored": 2, "skipped": 0, "failed": 1})
    (told,) = [text for text in result.err.splitlines() if text.startswith("bad line 2: ")]
    assert reason in told
    assert len(run("list", url, "--json").json) == 2


def test_bad_lines_are_no_failure_when_they_may_be_skipped(run: Run, url: str) -> None:
    result = run("import", url, "-", "--skip-bad", "--json", stdin=b'{"content": "a"}\nbad\n')

    assert (result.code, result.json) == (0, {"read": 2, "stored": 1, "skipped": 1, "failed": 0})


def test_an_array_with_a_bad_item_tells_its_number(run: Run, url: str) -> None:
    result = run("import", url, "-", stdin=b'[{"content": "a"},\n 7]')

    assert result.code == 1
    assert "bad item 2: not a JSON object" in result.err


def test_an_array_with_a_fault_tells_its_line_in_the_input(run: Run, url: str) -> None:
    result = run("import", url, "-", stdin=b'\n[{"content": "a"},\n{"content": oops}]')

    assert "not JSON: Expecting value at line 3, column 13" in result.err


def test_an_array_that_is_cut_off_stores_nothing(run: Run, url: str) -> None:
    assert run("import", url, "-", stdin=b'[{"content": "a"},').code == 1
    assert run("list", url, "--json").json == []


def test_a_line_without_end_is_skipped_in_bounded_memory(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE", 100)

    result = run("import", url, "-", "--json", stdin=b'{"content": "' + b"x" * 1000 + b'"}\n{"content": "b"}\n')

    assert "bad line 1: longer than" in result.err
    assert result.json["stored"] == 1


def test_items_beyond_one_batch_are_all_stored(run: Run, url: str) -> None:
    number = 2 * importing.BATCH_ITEMS + 1

    result = run("import", url, "-", "--json", stdin=lines(*({"content": place} for place in range(number))))

    assert result.json["stored"] == number
    assert len(run("export", url).out.splitlines()) == number


def test_a_store_of_three_methods_can_be_imported_into(run: Run, fakes: Fakes) -> None:
    result = run("import", "fake://", "-", "--json", stdin=lines({"content": "a"}, {"content": "bad"}), registry=fakes)

    assert (result.code, result.json["stored"]) == (1, 1)
    assert "bad line 2: content: it is bad" in result.err


@pytest.mark.parametrize("command", [("export",), ("list", "--all")])
def test_a_store_that_cannot_list_its_items_says_so(run: Run, fakes: Fakes, command: tuple[str, ...]) -> None:
    result = run(command[0], "fake://", *command[1:], registry=fakes)

    assert (result.code, result.out) == (5, "")
    assert "neither list nor erase" in result.err


def test_an_import_that_the_store_breaks_off_says_what_is_stored_and_how_to_go_on(
    run: Run, fakes: Fakes, backend: FakeBackend
) -> None:
    class Leaving(type(backend.items)):  # type: ignore[misc]
        async def store(self, item: MemoryItem) -> UUID:
            if item.content == 2:
                raise MemoryAdapterUnavailable("gone")
            return await super().store(item)

    backend.items = Leaving()

    result = run("import", "fake://", "-", stdin=lines(*({"content": n} for n in range(4))), registry=fakes)

    assert result.code == 3
    assert "stored 2" in result.out
    assert "run the same command again" in result.err


def test_an_exported_file_can_be_read_by_its_owner_only(run: Run, url: str, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    run("add", url, "x")

    result = run("export", url, str(file), "--json")

    assert result.json == {"exported": 1, "items": 1, "records": 0, "file": str(file)}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == run("export", url).stdout


def test_an_export_that_fails_leaves_the_old_file_and_no_other(run: Run, fakes: Fakes, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text("old")

    assert run("export", "fake://", str(file), registry=fakes).code == 5
    assert (file.read_text(), list(tmp_path.iterdir())) == ("old", [file])


def test_an_export_follows_a_link_to_the_file_behind_it(run: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").touch()
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    run("add", url, "x")

    run("export", url, str(tmp_path / "link.jsonl"))

    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_bytes().count(b"\n") == 1


def test_an_export_takes_the_place_of_a_link_that_leads_nowhere(run: Run, url: str, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(link)
    run("add", url, "x")

    assert run("export", url, str(link)).code == 0
    assert link.read_bytes().count(b"\n") == 1


def test_an_export_to_a_device_leaves_the_device_alone(run: Run, url: str) -> None:
    run("add", url, "x")

    assert run("export", url, os.devnull).code == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("command", ["import", "export"])
def test_a_file_that_cannot_be_opened_is_named(run: Run, url: str, tmp_path: Path, command: str) -> None:
    result = run(command, url, str(tmp_path / "nowhere" / "file.jsonl"))

    assert result.code == 1
    assert "nowhere" in result.err
