from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest
from memcore import (
    MalformedMemoryPayload,
    MemcoreError,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    MemoryConflict,
    MemoryNotFound,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore_cli.app import app

if TYPE_CHECKING:
    from conftest import FakeBackend, Fakes, Run

SECRET = "s3cr3t-PASS"
SECRET_URLS = [
    f"fake://bob:{SECRET}@db.internal/x",
    f"fake://bob:{SECRET}/of?odd#signs@db.internal/x",
    f"fake://db.internal/?api_key={SECRET}",
    f"postgresql://bob:{SECRET}@db.internal/x",
    f"bob:{SECRET}@db.internal",
]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryAdapterUnavailable("down"), 3),
        (UnsupportedMemoryItem(field="content", reason="bad"), 4),
        (UnsupportedMemoryQuery(["limit"]), 4),
        (MemoryConfigurationError("wrong"), 5),
        (MalformedMemoryPayload("damaged"), 6),
        (MemoryConflict("lost"), 1),
        (MemoryNotFound("no"), 1),
        (MemoryAdapterError("failed"), 1),
        (MemcoreError("failed"), 1),
        (OSError(28, "No space left on device"), 1),
        (RuntimeError("a defect"), 1),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
    ],
)
def test_every_kind_of_error_has_its_exit_code_and_no_trace(
    run: Run, fakes: Fakes, backend: FakeBackend, error: BaseException, code: int
) -> None:
    backend.opening = error

    result = run("ping", "fake://", registry=fakes)

    assert (result.code, result.out) == (code, "")
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "arguments",
    [("ping",), ("search", "memory://"), ("serch",), ("ping", "memory://", "more"), ("ping", "--colour", "memory://"),
     ("get", "memory://", "no-uuid"), ("list", "memory://", "--limit", "-1"), ("list", "memory://", "--limit", "x")],
)  # fmt: skip
def test_a_wrong_command_line_is_told_in_two_lines_with_2(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    what, advice = result.err.splitlines()
    assert result.code == 2
    assert what.startswith("memcore: ")
    assert advice.startswith("  try: memcore")


@pytest.mark.usefixtures("unavailable")
def test_an_error_is_two_lines_what_and_what_to_do(run: Run, fakes: Fakes) -> None:
    assert run("ping", "fake://", registry=fakes).err.splitlines() == [
        "memcore: the service does not answer",
        "  try: mend that, or wait, and run the command again",
    ]


@pytest.mark.usefixtures("unavailable")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_shows_the_trace_wherever_it_stands(run: Run, fakes: Fakes, place: int) -> None:
    arguments = ["ping", "fake://"]
    arguments.insert(place, "--debug")

    assert "Traceback" in run(*arguments, registry=fakes).err


def test_debug_after_two_dashes_is_an_argument(run: Run) -> None:
    assert run("add", "memory://", "--json", "--", "--debug").json["content"] == "--debug"


@pytest.mark.usefixtures("unavailable")
@pytest.mark.parametrize("url", SECRET_URLS)
@pytest.mark.parametrize(
    "command",
    [
        ("ping", "URL"),
        ("--debug", "ping", "URL"),
        ("URL",),
        ("ping", "URL", "URL"),
        ("get", "memory://", "URL"),
        ("ping", "--URL"),
        ("delete", "memory://", "--filter", "URL"),
    ],
)
def test_a_secret_of_a_url_is_shown_nowhere(run: Run, fakes: Fakes, url: str, command: tuple[str, ...]) -> None:
    result = run(*(part.replace("URL", url) for part in command), registry=fakes)

    assert result.code != 0
    assert SECRET not in result.out + result.err


@pytest.mark.parametrize("variable", ["MEMCORE_URL", "MEMCORE_DB_PASSWORD", "MEMCORE_DB_DSN"])
def test_a_secret_of_the_environment_is_shown_nowhere(
    run: Run, fakes: Fakes, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, SECRET if variable.endswith("PASSWORD") else f"fake://bob:{SECRET}@db")
    backend.opening = MemoryAdapterUnavailable(f"refused: {SECRET}")

    result = run("--debug", "ping", "fake://", registry=fakes)

    assert SECRET not in result.err
    assert "***" in result.err


def test_ping_shows_the_url_without_its_password(run: Run, fakes: Fakes) -> None:
    result = run("ping", f"fake://bob:{SECRET}@db", registry=fakes)

    assert SECRET not in result.out


def test_control_characters_in_an_error_are_shown_as_escapes(run: Run, fakes: Fakes, backend: FakeBackend) -> None:
    backend.opening = MemoryAdapterError("a\x1b[31mred\x07 line\nand another")

    first, *_ = run("ping", "fake://", registry=fakes).err.splitlines()

    assert first == "memcore: a\\x1b[31mred\\x07 line and another"


def test_nothing_but_the_exit_code_leaves_main(run: Run) -> None:
    def failing() -> NoReturn:
        raise RuntimeError("no registry")

    assert run("adapters", registry=failing).code == 1


@pytest.mark.parametrize("command", [command.name for command in app.registered_commands])
def test_every_command_offers_json(run: Run, command: str) -> None:
    assert "--json" in run(command, "--help").out
