"""URLs and settings of `sqlite://`."""

from __future__ import annotations

import os
from pathlib import Path

import memcore
import pytest
from memcore_sqlite.settings import SqliteSettings


def resolve(url: str, environ: dict[str, str] | None = None, **keywords: object) -> SqliteSettings:
    return SqliteSettings.resolve(url, keywords, prefix="MEMCORE_SQLITE_", environ=environ or {})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path.cwd()


def test_three_slashes_are_relative_to_the_working_directory(here: Path) -> None:
    assert resolve("sqlite:///notes/memory.db").path == here / "notes" / "memory.db"


def test_four_slashes_are_absolute() -> None:
    assert resolve("sqlite:////var/lib/memory.db").path == Path("/var/lib/memory.db")


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_no_file_is_in_memory(url: str) -> None:
    assert resolve(url).path is None


def test_in_memory_by_url_outranks_a_file_in_the_environment() -> None:
    assert resolve("sqlite://", {"MEMCORE_SQLITE_PATH": "/var/lib/memory.db"}).path is None


def test_percent_escapes_are_decoded(here: Path) -> None:
    assert resolve("sqlite:///a%20b%23c%3Fd%25.db").path == here / "a b#c?d%.db"


def test_bytes_that_are_no_text_name_the_file_that_they_name(here: Path) -> None:
    assert resolve("sqlite:///caf%E9.db").path == here / os.fsdecode(b"caf\xe9.db")


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/ada")
    assert resolve("sqlite:///~/memory.db").path == Path("/srv/ada/memory.db")


def test_a_later_change_of_the_working_directory_changes_nothing(
    here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = resolve("sqlite:///memory.db")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert settings.path == here / "memory.db"


def test_a_path_as_keyword_outranks_the_url(here: Path) -> None:
    assert resolve("sqlite:///a.db", path=Path("b.db")).path == here / "b.db"


@pytest.mark.parametrize("path", ["sqlite:///", "sqlite:///a%00b.db"])
def test_a_url_that_names_no_file_is_refused(path: str) -> None:
    with pytest.raises(memcore.MemoryConfigurationError, match=r"path: .*names no file"):
        resolve(path)


def test_a_url_with_a_host_says_how_a_file_is_written() -> None:
    with pytest.raises(memcore.MemoryConfigurationError, match=r"sqlite:///memory\.db"):
        resolve("sqlite://memory.db")


def test_settings_come_from_the_query() -> None:
    settings = resolve("sqlite:///a.db?synchronous=normal&busy_timeout=2.5&readers=4&namespace=team")
    assert (settings.synchronous, settings.busy_timeout, settings.readers) == ("normal", 2.5, 4)
    assert settings.namespace == "team"


@pytest.mark.parametrize("bad", ["synchronous=off", "busy_timeout=-1", "busy_timeout=inf", "readers=0", "reader=1"])
def test_a_bad_setting_is_named(bad: str) -> None:
    with pytest.raises(memcore.MemoryConfigurationError, match=bad.partition("=")[0]):
        resolve(f"sqlite:///a.db?{bad}")


@pytest.mark.parametrize("name", ["memory.db", "a b#c?d%.db", os.fsdecode(b"caf\xe9.db")])
def test_the_url_of_settings_leads_back_to_the_file(name: str) -> None:
    settings = SqliteSettings(path=Path("/var/lib", name))
    assert resolve(settings.url).path == settings.path
