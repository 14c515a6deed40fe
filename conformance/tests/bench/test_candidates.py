"""An adapter is measured beside the limits of its kind, in the same mode."""

from __future__ import annotations

from memcore_conformance.bench.candidates import group


def test_adapters_of_one_kind_are_measured_together() -> None:
    first, second = group(["sqlite:///a.db", "memory://", "sqlite:///b.db?readers=4"])
    assert [candidate.name for candidate in first.adapters] == ["sqlite:///a.db", "sqlite:///b.db?readers=4"]
    assert [candidate.name for candidate in second.adapters] == ["memory://"]


def test_raw_sqlite_stands_beside_sqlite() -> None:
    (sqlite,) = group(["sqlite:///a.db"])
    names = [candidate.name for candidate in sqlite.beside]
    assert names[:3] == ["sqlite3 full", "sqlite3 kv", "aiosqlite full"]
    assert sqlite.yardstick == "sqlite3 full"


def test_another_mode_of_sqlite_has_limits_of_its_own() -> None:
    modes = [each.synchronous for each in group(["sqlite:///a.db", "sqlite:///a.db?synchronous=normal"])]
    assert modes == ["full", "normal"]


def test_an_unknown_kind_has_limits_too() -> None:
    (unknown,) = group(["files:///folder"])
    assert unknown.yardstick == "sqlite3 full"


def test_a_url_is_shown_without_its_secrets() -> None:
    (service,) = group(["postgresql://ada:secret@localhost/memory"])
    assert "secret" not in service.adapters[0].name
