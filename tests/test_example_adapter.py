"""The tutorial's adapter as its author would ship it: outside the repository, from wheels, in empty environments."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.wheels

SECONDS = 900
"""After which a command counts as hanging."""


@dataclass(frozen=True)
class Author:
    """Somebody with a copy of the example in a folder, and an environment that holds what was built."""

    folder: Path
    programs: Path

    @property
    def packages(self) -> Path:
        """Where the environment keeps what is installed."""
        (packages,) = self.programs.parent.rglob("site-packages")
        return packages

    def run(self, *command: str | Path, code: int = 0) -> str:
        """Run a command in the folder and return what it prints."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MEMCORE_"))}
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=environ | {"PIP_FIND_LINKS": str(ROOT / "dist"), "PYTHONUTF8": "1"},
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=SECONDS,
        )
        assert ended.returncode == code, f"{command} ends with {ended.returncode}:\n{ended.stdout}"
        return ended.stdout

    def memcore(self, *arguments: str | Path) -> str:
        """Run the `memcore` of the environment."""
        return self.run(self.programs / "memcore", *arguments)

    def tries_in_vain(self, file: Path, text: str) -> str:
        """Write a file into the environment, try to get a certificate, and return the refusal."""
        file.write_text(text, encoding="utf-8")
        wanted = self.folder / "in-vain.json"
        refusal = self.run(self.programs / "memcore", "conformance", "jsonfiles", "--certify", wanted, code=1)
        assert not wanted.exists()
        return refusal


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Author:
    assert list(ROOT.glob("dist/memcore_conformance-*.whl")), "run `nox -s wheels`: it builds what this installs"
    place = tmp_path_factory.mktemp("author")
    author = Author(place / "memcore-jsonfiles", place / "venv" / ("Scripts" if os.name == "nt" else "bin"))
    shutil.copytree(ROOT / "docs/examples/memcore-jsonfiles", author.folder)
    author.run(sys.executable, "-m", "venv", place / "venv")
    pip = (author.programs / "python", "-m", "pip")
    author.run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", place, ".")
    (wheel,) = place.glob("memcore_jsonfiles-*.whl")
    author.run(*pip, "install", "--quiet", f"memcore-jsonfiles[conformance] @ {wheel.as_uri()}")
    shutil.rmtree(author.folder / "src")  # what follows is of the wheel alone
    return author


def test_the_installed_wheel_is_discovered(author: Author) -> None:
    (found,) = [line for line in author.memcore("adapters").splitlines() if line.startswith("jsonfiles\t")]
    assert "memcore-jsonfiles\t0.1.0" in found


def test_the_adapter_is_certified_in_its_own_environment(author: Author) -> None:
    author.memcore("conformance", "jsonfiles", "--certify", "certificate.json")
    certificate = json.loads((author.folder / "certificate.json").read_text(encoding="utf-8"))
    assert certificate["distribution"] == "memcore-jsonfiles 0.1.0"
    assert (certificate["grade"]["level"], certificate["grade"]["proven"]) == ("core", ["analysed", "durable"])
    assert certificate["grade"]["not_met"] == []
    assert {verdict["outcome"] for verdict in certificate["verdicts"]} == {"passed", "not_claimed"}
    assert len(certificate["verdicts"]) == certificate["owed"]


def test_its_own_sessions_test_and_judge_it(author: Author, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs/examples/memcore-jsonfiles", tmp_path / "own")
    own = Author(tmp_path / "own", author.programs)
    printed = own.run(sys.executable, "-m", "nox", "--no-error-on-missing-interpreters")
    assert "jsonfiles: core + analysed + durable; NOT claimed: managed, " in printed
    assert "4 passed" in printed


def test_an_adapter_that_patches_the_suite_when_it_is_loaded_gets_no_certificate(author: Author) -> None:
    (plugin,) = author.packages.glob("memcore_jsonfiles/plugin.py")
    honest = plugin.read_text(encoding="utf-8")
    refusal = author.tries_in_vain(plugin, f"{honest}\nfrom memcore_conformance import expect\nexpect.none = print\n")
    plugin.write_text(honest, encoding="utf-8")
    assert "the suite was changed while it ran: memcore_conformance.expect.none" in refusal


def test_an_environment_that_patches_the_suite_at_every_start_gives_no_certificate(author: Author) -> None:
    customize = author.packages / "sitecustomize.py"
    refusal = author.tries_in_vain(customize, "from memcore_conformance import expect\nexpect.ids = print\n")
    customize.unlink()
    assert "the suite was changed while it ran: memcore_conformance.expect.ids" in refusal
