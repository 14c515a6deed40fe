"""Adapters that say too little, or too much, about their settings."""

from __future__ import annotations

from memcore import MemoryConfigurationError

from mutants import Backend, Harness, mutant


@mutant("B-01b")
class NamesNothing(Harness):
    """The error does not tell which settings there are."""

    async def make_backend(self, **settings: object) -> Backend:
        try:
            return await super().make_backend(**settings)
        except MemoryConfigurationError:
            raise MemoryConfigurationError(f"bad settings: {', '.join(settings)}") from None


@mutant("B-01c")
class TakesAnyNamespace(Harness):
    """A bad namespace is replaced by the usual one."""

    async def make_backend(self, **settings: object) -> Backend:
        if not isinstance(settings.get("namespace", ""), str) or settings.get("namespace") == "":
            del settings["namespace"]
        return await super().make_backend(**settings)


@mutant("B-01d")
class ShowsValues(Harness):
    """The error shows what it was given."""

    async def make_backend(self, **settings: object) -> Backend:
        try:
            return await super().make_backend(**settings)
        except MemoryConfigurationError as error:
            raise MemoryConfigurationError(f"{error}: {settings}") from None
