"""The only task runner: `nox` runs what every change must pass, `nox --list` shows the rest, `nox -s NAME` runs one.

Every session installs all the local distributions it needs in one command, so that a sibling is never taken from
the public index, and takes its tools from the dependency groups in pyproject.toml, pinned by constraints.txt.
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from pathlib import Path

import nox

WORKSPACE = nox.project.load_toml("pyproject.toml")
PINNED = ("--constraint", "constraints.txt")
MEMBERS = {  # name of the distribution: its project table
    table["project"]["name"]: table["project"] | {"folder": str(path.parent)}
    for path in [*sorted(Path("packages").glob("*/pyproject.toml")), Path("conformance/pyproject.toml")]
    for table in [nox.project.load_toml(path)]
}
FOLDERS = tuple(f"./{member['folder']}" for member in MEMBERS.values())
BUILT = Path("dist")
JUDGED = ("memory", "sqlite")  # the adapters whose harnesses need no service
LIVE = ("http", "http-postgres", "postgres")  # and those that need one: started by the harness, or named to it
CERTIFICATES = Path("conformance/certificates")

nox.needs_version = ">=2025.2.9"
nox.options.sessions = ["lint", "types", "docs", "conformance", "tests"]
nox.options.error_on_external_run = True


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format, import rules, workflows, and that nothing committed names a host or a private path."""
    session.install(*PINNED, *FOLDERS, *_tools("lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("lint-imports")
    session.run("zizmor", "--offline", "--quiet", ".github")
    session.run("pytest", "tests/test_committed_text.py", "--quiet")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of all sources, and that the core's public interface is typed completely."""
    session.install(*PINNED, *FOLDERS, *_tools("types"))
    session.run("mypy")
    session.run("pyright", "--verifytypes", "memcore", "--ignoreexternal")


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests; `-P 3.13` chooses the interpreter, what follows `--` goes to pytest."""
    session.install(*PINNED, *FOLDERS, *_tools("tests"))
    session.run("pytest", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Judge the adapters that need no service; a partial run fails. What follows `--` goes to each judgement."""
    session.install(*PINNED, *FOLDERS)
    for adapter in JUDGED:
        session.run("memcore", "conformance", adapter, *session.posargs)


@nox.session
def certificates(session: nox.Session) -> None:
    """Write the certificates of the adapters that need no service, and the tables that are made from them."""
    session.install(*PINNED, *FOLDERS)
    _certify(session, JUDGED)


@nox.session
def live(session: nox.Session) -> None:
    """Certify the adapters that need a service, over real ones: started here, or named by `MEMCORE_LIVE_…_URL`."""
    if not shutil.which("pgbouncer", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin"):
        session.error("pgbouncer is missing, behind which postgres has to be shown: apt-get install pgbouncer")
    session.install(*PINNED, *FOLDERS, *_tools("tests"))
    session.run("pytest", "packages/memcore-postgres/tests/live_pgbouncer.py")
    _certify(session, LIVE)


@nox.session
def cases(session: nox.Session) -> None:
    """Write the page that lists all cases of the suite and what proves each clause."""
    session.install(*PINNED, *FOLDERS)
    with Path("docs/reference/cases.md").open("w", encoding="utf-8") as page:
        session.run("python", "-m", "memcore_conformance.listing", stdout=page)


@nox.session
def mutants(session: nox.Session) -> None:
    """Judge broken adapters: each must be caught by its case; `nox -s mutants -- --update` writes the failing sets."""
    session.install(*PINNED, *FOLDERS)
    session.run("python", "conformance/tests/run_mutants.py", *session.posargs)


@nox.session
def floors(session: nox.Session) -> None:
    """Run the tests with the lowest version of every direct dependency that the distributions promise to work with."""
    session.install(*PINNED, *_tools("floors"))
    uv_install = ("uv", "pip", "install", "--quiet")
    session.run(*uv_install, "--resolution", "lowest-direct", *FOLDERS)
    session.run(*uv_install, *_tools("tests"))
    session.run("pytest", *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build every distribution into dist/, look inside, use each wheel alone, and certify the tutorial's adapter."""
    session.install(*PINNED, *_tools("wheels"))
    shutil.rmtree(BUILT, ignore_errors=True)
    for folder in FOLDERS:
        session.run("python", "-m", "build", "--outdir", str(BUILT), folder, silent=True)
    session.run("twine", "check", "--strict", *map(str, sorted(BUILT.iterdir())))
    for name in MEMBERS:
        _look_inside(session, _wheel(name))
        _use_alone(session, name)
    session.run("pytest", "-m", "wheels", "tests/test_example_adapter.py")


@nox.session
def demo(session: nox.Session) -> None:
    """Run `memcore demo`; what follows `--` goes to it."""
    session.install(*PINNED, *FOLDERS)
    session.run("memcore", "demo", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure how fast adapters are, beside raw limits and peers; `nox -s bench -- --help`."""
    session.install(*PINNED, *FOLDERS, "./conformance[bench]")
    session.run("python", "-m", "memcore_conformance.bench", *session.posargs)


@nox.session
def quality(session: nox.Session) -> None:
    """Measure what adapters find of labelled evidence; `nox -s quality -- --help`."""
    session.install(*PINNED, *FOLDERS)
    session.run("python", "-m", "memcore_conformance.quality", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into site/; a broken link or reference is an error."""
    session.install(*PINNED, *_tools("docs"))
    session.run("mkdocs", "build", "--strict", *session.posargs, env={"NO_MKDOCS_2_WARNING": "1"})


def _certify(session: nox.Session, adapters: tuple[str, ...]) -> None:
    for adapter in adapters:
        session.run("memcore", "conformance", adapter, "--certify", str(CERTIFICATES / f"{adapter}.json"))
    files = map(str, sorted(CERTIFICATES.glob("*.json")))
    pages = ("README.md", "docs/reference/compatibility.md")
    session.run("python", "-m", "memcore_conformance.compatibility", *files, "--into", *pages)


def _tools(group: str) -> tuple[str, ...]:
    return nox.project.dependency_groups(WORKSPACE, group)


def _wheel(name: str) -> Path:
    (wheel,) = BUILT.glob(f"{name.replace('-', '_')}-*.whl")
    return wheel


def _look_inside(session: nox.Session, wheel: Path) -> None:
    """Check that a wheel holds its package with types and licence, and nothing beside them."""
    package, version = wheel.name.split("-")[:2]
    info = f"{package}-{version}.dist-info"
    names = zipfile.ZipFile(wheel).namelist()
    missing = {f"{package}/__init__.py", f"{package}/py.typed", f"{info}/licenses/LICENSE"}.difference(names)
    strange = [name for name in names if not name.startswith((f"{package}/", f"{info}/"))]
    if missing or strange:
        session.error(f"{wheel}: missing {sorted(missing)}, unexpected {strange}")


def _use_alone(session: nox.Session, name: str) -> None:
    """Install a wheel and its local siblings alone, import it, and load what it registers."""
    environment = Path(session.create_tmp()).resolve() / name
    session.run("python", "-m", "venv", "--clear", str(environment))
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    python = str(programs / "python")
    wheels = sorted(str(_wheel(member)) for member in _with_siblings(name))
    session.run(python, "-m", "pip", "install", "--quiet", *wheels, external=True)
    load = "from importlib.metadata import entry_points; [point.load() for point in entry_points(group='memcore')]"
    session.run(python, "-I", "-W", "error", "-c", f"import {name.replace('-', '_')}; {load}", external=True)
    for script in MEMBERS[name].get("scripts", ()):
        session.run(str(programs / script), "adapters", external=True)


def _with_siblings(name: str) -> set[str]:
    requirements = {re.split(r"[^\w-]", text)[0] for text in MEMBERS[name]["dependencies"]}
    return {name}.union(*(_with_siblings(sibling) for sibling in requirements & MEMBERS.keys()))
