"""Nothing that a user can meet is missing from the reference, and no link leads nowhere."""

from __future__ import annotations

import inspect
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memcore
import memcore.kit
import pytest
from memcore import plugins
from memcore.plugins import HookSpecs
from memcore_cli.app import app
from memcore_cli.exit_codes import ExitCode
from memcore_cli.group import plugin_commands
from memcore_conformance.traceability import CLAUSES
from typer.main import get_command

if TYPE_CHECKING:
    from memcore import Adapter
    from pydantic import BaseModel

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs/reference"
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/*.md"), *ROOT.glob("conformance/*.md")]
SOURCES = [*ROOT.glob("packages/*/src/**/*.py"), *ROOT.glob("conformance/src/**/*.py")]
ADAPTERS = plugins.registry().adapters()
LIFECYCLE = (
    "When are connections made?",
    "May concurrent calls share one backend?",
    "How is it closed?",
    "Which timeouts are there, and why?",
    "What is retried?",
    "What is its scope?",
    "What happens when writes collide?",
    "What invalidates the manifest?",
)
SHARED_OPTIONS = {"--json", "--help"}
"""What every command has is told once for all."""


def _commands() -> dict[str, Any]:
    """Return every command by its name; those of a group by both names."""
    own = get_command(app).commands  # type: ignore[attr-defined]
    commands = own | plugin_commands(plugins.registry(), list(own))[0]
    grouped = {
        f"{name} {part}": command
        for name, group in commands.items()
        for part, command in getattr(group, "commands", {}).items()
    }
    return {name: command for name, command in commands.items() if not hasattr(command, "commands")} | grouped


COMMANDS = _commands()


def _page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def _section(page: str, heading: str) -> str:
    """Return what stands under a heading, up to the next one that is no deeper."""
    level = heading.partition(" ")[0]
    match = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", page, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


def _rows(text: str) -> list[str]:
    """Return the first cell of each row of the tables in a text."""
    return re.findall(r"^\| (.*?) \|", text, re.MULTILINE)


@pytest.mark.parametrize("name", memcore.__all__)
def test_a_public_name_of_the_core_is_in_the_reference(name: str) -> None:
    assert f"\n::: memcore.{name}\n" in _page("api") + _page("plugins")


@pytest.mark.parametrize("module", [module.name for module in pkgutil.iter_modules(memcore.kit.__path__)])
def test_a_module_of_the_kit_is_in_the_reference(module: str) -> None:
    assert f"\n::: memcore.kit.{module}\n" in _page("kit")


@pytest.mark.parametrize("hook", [name for name in vars(HookSpecs) if not name.startswith("_")])
def test_a_hook_is_in_the_reference(hook: str) -> None:
    assert f"`{hook}()`" in _rows(_page("plugins"))


@pytest.mark.parametrize(
    "error", [name for name, value in vars(memcore).items() if inspect.isclass(value) and issubclass(value, Exception)]
)
def test_an_error_is_in_the_reference(error: str) -> None:
    assert f"`{error}`" in _rows(_page("errors"))


@pytest.mark.parametrize(
    ("model", "heading"),
    [
        (memcore.MemoryAdapterManifest, "## Manifest"),
        (memcore.Capabilities, "## Capabilities"),
        (memcore.SizeLimits, "## Limits"),
    ],
)
def test_every_claim_and_limit_is_in_the_reference(model: type[BaseModel], heading: str) -> None:
    rows = _rows(_section(_page("claims"), heading))
    assert {f"`{name}`" for name in model.model_fields} == {row for row in rows if row.startswith("`")}


@pytest.mark.parametrize("url", ["memory://", "sqlite://"])
async def test_every_extension_is_in_the_reference(url: str) -> None:
    rows = _rows(_section(_page("claims"), "## Extensions"))
    async with memcore.connect(url) as backend:
        assert {f"`{name}`" for name in backend.capabilities.extensions} <= set(rows)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_every_setting_of_an_adapter_is_in_its_reference_with_its_default(adapter: Adapter) -> None:
    section = _section(_page(f"adapters/{adapter.name}"), "## Settings")
    documented = dict(re.findall(r"^\| `(\w+)` \| `?(.+?)`? \|", section, re.MULTILINE))
    expected = {
        field.alias or name: "none" if field.default is None else str(field.default)
        for name, field in adapter.settings.model_fields.items()
    }
    assert documented == expected | {"limits": "[as listed](../claims.md#limits)"}
    assert f"`MEMCORE_{adapter.name.upper()}_…`" in section


@pytest.mark.parametrize("question", LIFECYCLE)
@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_an_adapter_answers_every_question_about_its_lifecycle(adapter: Adapter, question: str) -> None:
    assert _section(_page(f"adapters/{adapter.name}"), f"### {question}").strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_in_the_reference_with_its_options_and_no_others(command: str) -> None:
    section = _section(_page("command-line"), f"## {command}")
    options = {
        name
        for parameter in COMMANDS[command].params
        if parameter.param_type_name == "option"
        for name in [*parameter.opts, *parameter.secondary_opts]
    }
    documented = {name for row in _rows(section) for name in re.findall(r"`(-[\w-]+)", row)}
    assert section
    assert documented == options - SHARED_OPTIONS


def test_every_exit_code_is_in_the_reference_with_its_meaning() -> None:
    section = _section(_page("command-line"), "### Exit codes")
    for code in ExitCode:
        assert f"| {code} | {code.meaning.replace('|', chr(92) + '|')} |" in section


def test_the_contract_states_every_clause_that_the_sources_name_and_the_suite_traces() -> None:
    named = {clause for file in SOURCES for clause in re.findall(r"\b[IBORCE]-\d\d\b", file.read_text("utf-8"))}
    stated = re.findall(r"^### (\w-\d\d)$", _page("clauses"), re.MULTILINE)
    assert named <= set(stated)
    assert sorted(CLAUSES) == sorted(stated)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target, anchor in _links(page):
        assert target.exists(), target
        assert not anchor or anchor in _anchors(target), f"{target}#{anchor}"


def test_every_page_of_the_site_is_reached_from_the_first_one() -> None:
    reached, new = set(), {ROOT / "docs/index.md"}
    while new:
        reached |= new
        new = {target for page in new for target, _ in _links(page)} - reached
    assert set(ROOT.glob("docs/**/*.md")) <= reached


def _links(page: Path) -> list[tuple[Path, str]]:
    """Return the file and the heading that each relative link of a page leads to."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [target.partition("#") for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text)]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in targets]


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
