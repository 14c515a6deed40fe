"""The members of the workspace belong together, and each is complete by itself."""

from __future__ import annotations

import re
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Distribution


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "LICENSE"])
def test_a_distribution_has_its_own(name: str, distribution: Distribution) -> None:
    assert (distribution.folder / name).exists()


def test_a_distribution_ships_its_types(distribution: Distribution) -> None:
    assert (distribution.source / "py.typed").is_file()


def test_a_distribution_carries_the_licence_of_the_workspace(root: Path, distribution: Distribution) -> None:
    assert (distribution.folder / "LICENSE").read_bytes() == (root / "LICENSE").read_bytes()


def test_a_changelog_starts_with_the_present_version(distribution: Distribution) -> None:
    changelog = (distribution.folder / "CHANGELOG.md").read_text()
    assert re.findall(r"^## \[([\d.]+)\]", changelog, re.MULTILINE)[0] == distribution.project["version"]


def test_all_distributions_share_their_minor_version(distributions: list[Distribution]) -> None:
    assert len({_minor(distribution) for distribution in distributions}) == 1


def test_a_sibling_is_required_within_the_minor_version(
    distribution: Distribution, distributions: list[Distribution]
) -> None:
    minor = _minor(distribution)
    allowed = {f"{sibling.name}>=0.{minor},<0.{minor + 1}" for sibling in distributions}
    siblings = {
        requirement for requirement in distribution.project["dependencies"] if requirement.startswith("memcore")
    }
    assert siblings <= allowed


def test_an_install_line_names_every_local_member_that_it_needs(
    root: Path, distribution: Distribution, distributions: list[Distribution]
) -> None:
    (line,) = re.findall(r"^pip install .*", (distribution.folder / "README.md").read_text(), re.MULTILINE)
    needed = [
        d for d in distributions if any(text.startswith(f"{d.name}>") for text in distribution.project["dependencies"])
    ]
    for member in [*needed, distribution]:
        assert f"./{member.folder.relative_to(root)}" in line.split()


def test_the_workspace_lists_every_distribution(
    root: Path, workspace: dict[str, Any], distributions: list[Distribution]
) -> None:
    tool = workspace["tool"]
    assert set(tool["uv"]["sources"]) == {d.name for d in distributions}
    assert set(tool["importlinter"]["root_packages"]) == {d.package for d in distributions}
    assert set(tool["mypy"]["mypy_path"]) == {str((d.folder / "src").relative_to(root)) for d in distributions}
    assert all(str(d.folder.relative_to(root)) in (root / "CHANGELOG.md").read_text() for d in distributions)


def test_what_is_installed_under_a_distribution_s_name_is_ours(distribution: Distribution) -> None:
    installed = metadata.distribution(distribution.name)
    assert (installed.version, installed.metadata["Summary"]) == (
        distribution.project["version"],
        distribution.project["description"],
    )
    module = Path(str(import_module(distribution.package).__file__))
    assert module.read_bytes() == (distribution.source / "__init__.py").read_bytes()


def _minor(distribution: Distribution) -> int:
    return int(distribution.project["version"].split(".")[1])
