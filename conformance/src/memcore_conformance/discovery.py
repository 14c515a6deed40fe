"""Finds the harnesses of what is installed, and the distribution that a harness belongs to."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from memcore import MemoryConfigurationError
from memcore.plugins import PROJECT, registry

if TYPE_CHECKING:
    from memcore_conformance.harness import HarnessFactory


def find_harness(name: str) -> HarnessFactory:
    """Return the harness factory of that name.

    Raises:
        MemoryConfigurationError: there is none, or there are two; the message tells what is installed.
    """
    installed = registry()
    factories: list[HarnessFactory] = installed.harnesses()
    found = [factory for factory in factories if factory.name == name]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(factory.name for factory in factories))
    broken = "".join(f"; plugin {part.entry_point!r} of {part.distribution}: {part.error}" for part in installed.broken)
    problem = f"{len(found)} installed harnesses are called" if found else "no installed harness is called"
    msg = f"{problem} {name!r}; there are: {names}{broken}"
    raise MemoryConfigurationError(msg)


def distribution_of(factory: HarnessFactory) -> tuple[str, str]:
    """Return name and version of the distribution that a harness factory comes from."""
    package = getattr(factory, "__module__", type(factory).__module__).partition(".")[0]
    plugins = [point for point in entry_points(group=PROJECT) if point.module.partition(".")[0] == package]
    found = plugins[0].dist if plugins else None
    return (found.name, found.version) if found else (package, "not installed")
