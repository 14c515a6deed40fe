from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from memcore import InMemoryStore, MemoryAdapterManifest, MemoryRecord

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import FakeBackend, Fakes, Run

FIRST = "00000000-0000-4000-8000-000000000001"
SECOND = "00000000-0000-4000-8000-000000000002"
BASE = {
    "created_at": "2026-01-01T00:00:00.000001+00:00",
    "updated_at": "2026-02-01T00:00:00Z",
    "scope": {"user": "ada"},
}
OLD = BASE | {
    "id": FIRST,
    "content": "Ada lives in Lisbon \x1b[31m",
    "invalid_at": "2026-02-01T00:00:00Z",
    "superseded_by": SECOND,
    "payload": {
        "int": 10**4299,
        "float": 1e16,
        "negative zero": -0.0,
        "one": 1,
        "one point zero": 1.0,
        "lone": "\ud83d",
    },
    "target": {"type": "card", "at": [None, True]},
    "supports": [{"conversation_id": "c1", "run_id": None, "author": "mira"}],
}
NEW = BASE | {
    "id": SECOND,
    "content": "Ada lives in Ghent",
    "created_at": "2026-02-01T00:00:00Z",
    "tags": ["", "\n", "a,b"],
    "context": "where do you live?",
    "tier": "long",
    "hits": 3,
    "last_hit_at": "2026-02-02T03:04:05.678901Z",
    "refreshed_at": "2026-02-03T00:00:00Z",
    "expires_at": "2999-01-01T00:00:00Z",
}


def lines(*documents: object) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


RECORDS = lines({"record": NEW}, {"record": OLD})


@pytest.fixture
def filled(run: Run, url: str) -> str:
    """A store of two records with all that a record can have, and two items."""
    result = run("import", url, "-", stdin=lines({"record": OLD}, {"content": "a"}, {"record": NEW}, {"content": "b"}))
    assert (result.code, result.err) == (0, "")
    return url


@pytest.fixture
def other(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/other.db"


def test_an_import_keeps_ids_times_links_and_hits(run: Run, filled: str) -> None:
    records = [
        MemoryRecord.model_validate(record) for record in run("records", "history", filled, FIRST, "--json").json
    ]

    given = [MemoryRecord.model_validate(record) for record in (OLD, NEW)]
    assert records == given
    assert repr(records) == repr(given)  # 1 and 1.0 are equal


def test_an_export_of_an_import_of_an_export_is_the_same_to_the_byte(run: Run, filled: str, other: str) -> None:
    first = run("export", filled)

    assert run("import", other, "-", stdin=first.stdout).code == 0
    assert run("export", other).stdout == first.stdout
    assert first.stdout.isascii()
    assert first.err == "exported 2 items and 2 records\n"


def test_an_export_has_the_records_before_the_items_each_in_order_of_id(run: Run, filled: str) -> None:
    documents = [json.loads(line) for line in run("export", filled).out.splitlines()]

    assert [document["record"]["id"] for document in documents[:2]] == [FIRST, SECOND]
    assert ["record" in document for document in documents] == [True, True, False, False]


def test_an_export_to_a_file_counts_items_and_records(run: Run, filled: str, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"

    result = run("export", filled, str(file), "--json")

    assert result.json == {"exported": 4, "items": 2, "records": 2, "file": str(file)}


def test_importing_records_twice_stores_nothing_twice(run: Run, filled: str) -> None:
    before = run("export", filled).stdout

    assert run("import", filled, "-", stdin=before).code == 0
    assert run("export", filled).stdout == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"colour": 1}, "colour: "),
        ({"content": ""}, "content: must not be empty"),
        ({"created_at": "2026-01-01T00:00:00"}, "created_at: "),
        ({"created_at": None}, "created_at: "),
        ({"id": "one"}, "id: "),
        ({"superseded_by": FIRST}, "a record cannot supersede itself"),
        ({"invalid_at": None}, "need invalid_at"),
        ({"tier": "forever"}, "tier: "),
        ({"payload": "x" * 1_000_001}, "payload: over the size limit"),
    ],
)
def test_a_bad_record_is_told_with_number_and_reason_and_the_others_are_stored(
    run: Run, url: str, change: dict[str, object], reason: str
) -> None:
    result = run("import", url, "-", "--json", stdin=lines({"record": NEW}, {"record": OLD | change}))

    assert (result.code, result.json) == (1, {"read": 2, "stored": 1, "skipped": 0, "failed": 1})
    (told,) = [text for text in result.err.splitlines() if text.startswith("bad line 2: ")]
    assert reason in told


@pytest.mark.parametrize("document", [{"record": 1}, {"record": NEW, "content": "a"}, {"record": {}}])
def test_a_line_that_only_looks_like_a_record_is_bad(run: Run, url: str, document: object) -> None:
    assert run("import", url, "-", stdin=lines(document)).code == 1
    assert run("export", url).stdout == b""


def test_a_store_without_records_refuses_an_import_of_some_before_anything_is_stored(run: Run, fakes: Fakes) -> None:
    result = run("import", "fake://", "-", stdin=RECORDS + lines({"content": "a"}), registry=fakes)

    assert result.code == 5
    assert "does not keep: records" in result.err
    assert "--accept-loss records" in result.err
    assert "stored 0" in result.out


def test_a_store_without_records_takes_the_items_alone_where_that_loss_is_accepted(run: Run, fakes: Fakes) -> None:
    source = RECORDS + lines({"content": "a"})

    result = run("import", "fake://", "-", "--accept-loss", "records", "--json", stdin=source, registry=fakes)

    assert (result.code, result.json) == (0, {"read": 3, "stored": 1, "skipped": 2, "failed": 0})


class LossyStore(InMemoryStore):
    """It forgets times, and says so."""

    manifest = MemoryAdapterManifest(
        adapter="lossy",
        native_item_fields=frozenset({"id", "content", "tags"}),
        dropped_item_fields=frozenset({"created_at", "metadata"}),
        supported_filters=frozenset(),
        search_consistency="immediate",
        retrieve_fidelity="lossy",
        search_fidelity="lossy",
        search_returns_tags=True,
        preserves_metadata=False,
    )


class TestCopy:
    def test_gives_the_target_all_that_the_source_holds(self, run: Run, filled: str, other: str) -> None:
        result = run("copy", filled, other, "--json")

        assert (result.code, result.json) == (0, {"read": 4, "stored": 4, "skipped": 0, "failed": 0})
        assert run("export", other).stdout == run("export", filled).stdout

    def test_run_again_changes_nothing(self, run: Run, filled: str, other: str) -> None:
        for _ in range(2):
            assert run("copy", filled, other).code == 0

        assert run("export", other).stdout == run("export", filled).stdout

    def test_goes_on_where_an_earlier_one_was_cut_off(self, run: Run, filled: str, other: str) -> None:
        run("import", other, "-", stdin=run("export", filled).stdout.splitlines(keepends=True)[1])

        run("copy", filled, other)

        assert run("export", other).stdout == run("export", filled).stdout

    def test_leaves_what_only_the_target_holds(self, run: Run, filled: str, other: str) -> None:
        run("records", "write", other, "kept")

        run("copy", filled, other)

        assert len(run("export", other).out.splitlines()) == 5

    def test_of_a_store_onto_itself_is_a_usage_error(self, run: Run, filled: str) -> None:
        assert run("copy", filled, filled).code == 2

    def test_refuses_a_target_without_records_before_anything_is_copied(
        self, run: Run, filled: str, fakes_and_more: Fakes
    ) -> None:
        result = run("copy", filled, "fake://", registry=fakes_and_more)

        assert (result.code, result.out) == (5, "")
        assert "does not keep: records" in result.err
        assert "--accept-loss records" in result.err

    def test_copies_the_items_alone_where_the_loss_of_records_is_accepted(
        self, run: Run, filled: str, fakes_and_more: Fakes
    ) -> None:
        result = run("copy", filled, "fake://", "--accept-loss", "records", "--json", registry=fakes_and_more)

        assert (result.code, result.json) == (0, {"read": 4, "stored": 2, "skipped": 2, "failed": 0})

    def test_of_items_alone_needs_no_records_in_the_target(self, run: Run, url: str, fakes_and_more: Fakes) -> None:
        run("add", url, "x")

        assert run("copy", url, "fake://", registry=fakes_and_more).code == 0

    def test_tells_what_the_target_refuses_by_its_id(self, run: Run, url: str, fakes_and_more: Fakes) -> None:
        run("add", url, "bad", "--id", FIRST)

        result = run("copy", url, "fake://", registry=fakes_and_more)

        assert result.code == 1
        assert f"bad item {FIRST}: content: it is bad" in result.err

    def test_names_every_loss_of_a_lossy_target(
        self, run: Run, url: str, backend: FakeBackend, fakes_and_more: Fakes
    ) -> None:
        backend.items = LossyStore()
        run("add", url, "x")

        result = run("copy", url, "fake://", registry=fakes_and_more)

        assert result.code == 5
        assert "does not keep: created_at, exactness, metadata" in result.err
        assert "--accept-loss created_at --accept-loss exactness --accept-loss metadata" in result.err
