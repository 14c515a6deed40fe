from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
import typer

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import FakeBackend, Fakes, Run, WithCommands


def test_adapters_lists_what_is_installed_with_its_distribution(run: Run, fakes: Fakes) -> None:
    document = run("adapters", "--json", registry=fakes).json

    assert document["broken"] == []
    assert {adapter["name"]: adapter["distribution"] for adapter in document["adapters"]} == {
        "fake": "fake-distribution",
        "memory": "memcore",
    }
    assert document["adapters"][0]["schemes"] == ["fake"]


def test_adapters_tells_a_broken_command_and_the_others_work(run: Run, with_commands: WithCommands) -> None:
    good = typer.Typer(name="greet", add_completion=False)
    good.command()(lambda: typer.echo("hello"))
    registry = with_commands(good, "no app", typer.Typer(), typer.Typer(name="ping"), typer.Typer(name="empty"))

    broken = run("adapters", "--json", registry=registry).json["broken"]

    assert [plugin["entry_point"] for plugin in broken] == [
        "command ''",
        "command ''",
        "command 'ping'",
        "command 'empty'",
    ]
    assert {plugin["distribution"] for plugin in broken} == {"fake-distribution"}
    assert run("greet", registry=registry).out == "hello\n"


def test_commands_of_plugins_stand_in_the_help(run: Run, with_commands: WithCommands) -> None:
    app = typer.Typer(name="greet", add_completion=False)
    app.command()(lambda: None)

    assert "greet" in run("--help", registry=with_commands(app)).out


def test_an_error_in_a_command_of_a_plugin_shows_no_trace(run: Run, with_commands: WithCommands) -> None:
    app = typer.Typer(name="fail", add_completion=False)

    @app.command()
    def fail() -> None:
        raise RuntimeError("boom")

    result = run("fail", registry=with_commands(app))

    assert result.code == 1
    assert result.err.splitlines()[0] == "memcore: unexpected RuntimeError: boom"


def test_adapters_warns_of_another_module_named_memcore(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "memcore_kernel-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: memcore-kernel\nVersion: 1.0\n")
    (info / "RECORD").write_text("memcore/__init__.py,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    (warning,) = run("adapters", "--json").json["warnings"]

    assert "memcore-kernel" in warning
    assert "memcore-kernel" in run("ping", "memory://").err


def test_manifest_tells_what_the_store_claims(run: Run, url: str) -> None:
    document = run("manifest", url, "--json").json

    assert document["adapter"] == "sqlite"
    assert document["native_item_fields"] == ["content", "created_at", "id", "metadata", "tags"]
    assert document["capabilities"]["durable"] is True
    assert "retrieve_fidelity" in run("manifest", url).out


def test_a_store_without_a_manifest_says_so(run: Run, fakes: Fakes) -> None:
    result = run("manifest", "fake://", registry=fakes)

    assert result.code == 5
    assert "has no manifest" in result.err


def test_ping_shows_health_and_versions(run: Run, fakes: Fakes) -> None:
    assert run("ping", "fake://", "--json", registry=fakes).json == {
        "status": "degraded",
        "latency": 0.001,
        "versions": {"fake": "1"},
        "detail": "tired",
    }
    assert "tired" in run("ping", "fake://", registry=fakes).out


def test_the_store_is_closed_after_a_command_and_after_a_failure(run: Run, fakes: Fakes, backend: FakeBackend) -> None:
    run("ping", "fake://", registry=fakes)
    run("manifest", "fake://", registry=fakes)

    assert backend.calls == ["open", "close"] * 2


def test_check_succeeds_when_it_repaired_what_it_found(run: Run, fakes: Fakes, backend: FakeBackend) -> None:
    backend.faults = ("one is wrong",)

    result = run("check", "fake://", registry=fakes)

    assert result.code == 0
    assert "fault: one is wrong" in result.out


def test_check_fails_when_faults_stay(run: Run, fakes: Fakes, backend: FakeBackend) -> None:
    backend.faults = ("one is wrong",)

    result = run("check", "fake://", "--no-repair", "--json", registry=fakes)

    assert (result.code, result.json) == (1, {"checked": 3, "faults": ["one is wrong"], "repaired": False})


def test_reindex_tells_how_many_items_it_did(run: Run, fakes: Fakes) -> None:
    assert run("reindex", "fake://", "--json", registry=fakes).json == {"reindexed": 3}


def test_purge_purges(run: Run, fakes: Fakes, backend: FakeBackend) -> None:
    assert run("purge", "fake://", registry=fakes).code == 0
    assert "purge" in backend.calls


@pytest.mark.parametrize("command", ["reindex", "check", "purge"])
def test_a_store_without_indexes_has_nothing_to_look_after(run: Run, command: str) -> None:
    assert run(command, "memory://").code == 5


def test_a_store_that_forgets_says_so(run: Run) -> None:
    assert "forgets everything" in run("add", "memory://", "x").err


def test_version_names_ours_and_the_interpreter(run: Run) -> None:
    out = run("--version").out

    assert "memcore-cli" in out
    assert sys.version.split()[0] in out


def test_without_a_command_the_help_is_shown(run: Run) -> None:
    result = run()

    assert result.code == 0
    assert "Commands:" in result.out
