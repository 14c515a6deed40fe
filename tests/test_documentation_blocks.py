"""What the pages show is true: every fenced block is executed, in the order of its page, in a folder of its own.

- `python` is executed with one namespace a page; `await` may stand at the top, as in `python -m asyncio`.
- `shell` is executed by bash. So is `console`, on a terminal of 80 columns, each `$ command` with what it shows.
  Commands that install something are left out: they have to name every local distribution that they need. What a
  page itself builds is found once it says `pip install --editable`, without an environment of its own.
- `text` is what the block before it prints; in it and in `console`, `...` stands for anything.
- `json` can be read.
- A block with a title is a file of that name, which a later block has to use.
- Anything else is marked `<!-- not run: reason -->` on the line before it.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import inspect
import io
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Distribution

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/*.md"), *ROOT.glob("conformance/*.md")]
)
ADAPTER_TUTORIAL = ROOT / "docs/tutorials/write-an-adapter.md"
EXAMPLE = ROOT / "docs/examples/memcore-jsonfiles"
FENCE = re.compile(
    r'^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?(?P<indent> *)```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n'
    r"(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
INSTALLS = re.compile(r"(python3 -m (?:venv|pip wheel)|source \.venv|uv sync|nox|(?:pip|uv pip) install)\b")
INSTALLS_ITSELF = "pip install --editable"
MEMBER = re.compile(r"(?:\./)?(packages/[\w-]+|conformance)(?:\[\w+\])?$")
SECONDS = 300
"""After which a command counts as hanging."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    language: str
    title: str | None
    reason: str | None
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block; those of an installed environment as if it were on the path."""
        return [part.removeprefix(".venv/bin/") for line in self.text.splitlines() for part in line.split(" && ")]


def read_blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, match.start("language")) + 1,
            language=match["language"],
            title=match["title"],
            reason=match["reason"],
            text=textwrap.dedent(match["text"]),
        )
        for match in FENCE.finditer(text)
    ]


class Reader:
    """Somebody who does what a page says, in the folder where they are."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._loop = asyncio.Runner()
        self._printed: str | None = None

    def do(self, block: Block) -> None:
        if block.reason:
            return
        if block.title:
            file = Path(block.title)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "text":
            self._compare(block)
        else:
            kinds = {"python": self._python, "shell": _shell, "console": _console, "json": _json}
            assert block.language in kinds, f"{block.place}: mark what cannot run with <!-- not run: reason -->"
            self._printed = kinds[block.language](block)

    def close(self) -> None:
        self._loop.close()

    def _python(self, block: Block) -> str:
        source = "\n" * block.line + block.text  # a trace names the line of the page
        code = compile(source, block.place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            outcome = eval(code, self._names)  # noqa: S307 - the pages are ours
            if code.co_flags & inspect.CO_COROUTINE:
                self._loop.run(outcome)
        return printed.getvalue()

    def _compare(self, block: Block) -> None:
        printed, self._printed = self._printed, None
        assert printed is not None, f"{block.place}: no block before this one prints it"
        assert_prints(block, block.text, printed)


def assert_prints(block: Block, expected: str, printed: str) -> None:
    printed = re.sub(r"[ \r]+$", "", printed, flags=re.MULTILINE).strip("\n") + "\n"
    same = doctest.OutputChecker().check_output(expected.strip("\n") + "\n", printed, doctest.ELLIPSIS)
    assert same, f"{block.place} expects\n{expected}\nand this is printed:\n{printed}"


def _shell(block: Block) -> str:
    if any(command.startswith(INSTALLS_ITSELF) for command in block.commands):
        _register(tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"])
    script = "\n".join(command for command in block.commands if not INSTALLS.match(command))
    with tempfile.TemporaryFile() as output:
        code = _run(script, output.fileno())
        output.seek(0)
        printed = output.read().decode()
    assert code == 0, f"{block.place} ends with {code}:\n{printed}"
    return printed


def _register(project: dict[str, Any]) -> None:
    """Do what an editable installation does, for whoever has `src` on the path."""
    info = Path("src", f"{project['name'].replace('-', '_')}-{project['version']}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = [f"{name} = {module}" for name, module in project["entry-points"]["memcore"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[memcore]", *points, ""]))


def _console(block: Block) -> None:
    for session in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = session.partition("\n")
        keyboard, screen = pty.openpty()
        with os.fdopen(keyboard, "rb", buffering=0) as terminal, ThreadPoolExecutor(1) as pool:
            shown = pool.submit(_read_to_end, terminal)
            try:
                code = _run(command, screen)
            finally:
                os.close(screen)
            printed = shown.result().decode()
        assert code == 0, f"{block.place}: {command} ends with {code}:\n{printed}"
        assert_prints(block, expected, printed)


def _read_to_end(terminal: io.FileIO) -> bytes:
    shown = b""
    with contextlib.suppress(OSError):  # the end, as Linux tells it
        while part := terminal.read(1 << 16):
            shown += part
    return shown


def _run(script: str, output: int) -> int:
    bash = ["bash", "-e", "-c", script]
    return subprocess.run(
        bash, check=False, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=SECONDS
    ).returncode


def _json(block: Block) -> None:
    json.loads(block.text)


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("MEMCORE_")]:
        monkeypatch.delenv(name)
    programs = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", programs + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("PYTHONUTF8", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"), prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")  # no colours, no progress bars
    reader = Reader()
    yield reader
    reader.close()


def _name(value: Path | Block) -> str:
    return value.place if isinstance(value, Block) else str(value.relative_to(ROOT))


BLOCKS = [block for page in PAGES for block in read_blocks(page)]


@pytest.mark.parametrize("page", sorted({block.page for block in BLOCKS}), ids=_name)
def test_every_block_of_a_page_does_what_the_page_says(page: Path, reader: Reader) -> None:
    for block in read_blocks(page):
        reader.do(block)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_no_fence_of_a_page_escapes_the_tests(page: Path) -> None:
    fences = re.findall(r"^\s*(?:```|~~~)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(read_blocks(page))


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.title and block.page != ADAPTER_TUTORIAL], ids=_name
)
def test_a_file_that_a_page_shows_is_used_by_a_later_block(block: Block) -> None:
    later = [other for other in BLOCKS if other.page == block.page and other.line > block.line]
    assert any(str(block.title) in other.text for other in later)


def test_the_tutorial_about_adapters_ends_with_the_files_of_the_example() -> None:
    """The last block of each title is the file; an earlier one is a step towards it."""
    shown = {block.title: block.text for block in read_blocks(ADAPTER_TUTORIAL) if block.title}
    assert shown == {title: (EXAMPLE / title).read_text(encoding="utf-8") for title in shown}


@pytest.mark.parametrize("block", [block for block in BLOCKS if "pip install" in block.text], ids=_name)
def test_an_install_line_names_every_local_distribution_that_it_needs(
    block: Block, root: Path, distributions: list[Distribution]
) -> None:
    folders = {str(member.folder.relative_to(root)): member for member in distributions}
    names = {member.name: folder for folder, member in folders.items()}
    for command in block.commands:
        words = [MEMBER.match(word) for word in command.split() if "pip install" in command]
        named = {word[1] for word in words if word}
        requirements = [text for folder in named for text in folders[folder].project["dependencies"]]
        siblings = {re.split(r"[^\w-]", text)[0] for text in requirements} & names.keys()
        assert {names[sibling] for sibling in siblings} <= named
