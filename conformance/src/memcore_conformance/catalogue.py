"""The cases as data: one immutable catalogue of what the modules in `cases` hold, and its digest."""

from __future__ import annotations

import hashlib
import inspect
import json
import pkgutil
import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal

from memcore_conformance import cases as rooms
from memcore_conformance.claims import CLAIMS, Claim
from memcore_conformance.harness import FACULTIES, Faculty

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator
    from types import ModuleType

    from memcore_conformance.trial import Trial

Level = Literal["must", "should"]
Nature = Literal["deterministic", "stochastic", "stateful"]

_ID: Final = re.compile(r"([A-Z]-\d\d)([a-z]{1,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing that must hold of an adapter, and how it is tried."""

    id: str
    """The clause it proves and a letter, such as `I-43a`; never used again for something else."""
    title: str
    """The sentence that is proven: the first line of the function's docstring."""
    function: Callable[[Trial], Awaitable[None]]
    claims: tuple[Claim, ...] = ("items",)
    """It is owed by an adapter that claims all of these."""
    needs: tuple[Faculty, ...] = ()
    """What the harness must be able to do besides."""
    level: Level = "must"
    nature: Nature = "deterministic"
    seconds: float = 20.0
    """After this time the adapter hangs, and has failed."""

    @property
    def clause(self) -> str:
        """The clause that it proves."""
        return self.id[: len("I-43")]

    @property
    def family(self) -> str:
        """The module that it stands in, as a heading."""
        return self.function.__module__.rpartition(".")[2].replace("_", " ")

    def declaration(self) -> dict[str, object]:
        """Return everything about it but its code, as JSON."""
        names = ("id", "title", "claims", "needs", "level", "nature", "seconds")
        return {name: getattr(self, name) for name in names} | {"family": self.family}


def case(
    case_id: str,
    /,
    *,
    claims: tuple[Claim, ...] = ("items",),
    needs: tuple[Faculty, ...] = (),
    level: Level = "must",
    nature: Nature = "deterministic",
    seconds: float = 20.0,
) -> Callable[[Callable[[Trial], Awaitable[None]]], Case]:
    """Make a case of a function whose docstring starts with the sentence that it proves.

    Raises:
        ValueError: the id is no clause with a letter, a name is unknown, or the sentence is missing.
    """
    if not _ID.fullmatch(case_id) or not set(claims) <= set(CLAIMS) or not set(needs) <= FACULTIES.keys():
        msg = f"case {case_id!r}: an id such as 'I-43a', claims of {CLAIMS}, and needs of {tuple(FACULTIES)}"
        raise ValueError(msg)

    def wrap(function: Callable[[Trial], Awaitable[None]]) -> Case:
        title = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
        if not title:
            msg = f"case {case_id}: the docstring of {function.__name__} is its title"
            raise ValueError(msg)
        return Case(
            id=case_id,
            title=title,
            function=function,
            claims=claims,
            needs=needs,
            level=level,
            nature=nature,
            seconds=seconds,
        )

    return wrap


class Catalogue:
    """All cases, by id."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self._modules = tuple(modules)
        found = [part for module in self._modules for part in vars(module).values() if isinstance(part, Case)]
        self._cases = {part.id: part for part in sorted(found, key=lambda part: part.id)}
        if len(self._cases) < len(found):
            twice = sorted({part.id for part in found if self._cases[part.id] is not part})
            msg = f"two cases share an id: {', '.join(twice)}"
            raise ValueError(msg)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases.values())

    def __len__(self) -> int:
        return len(self._cases)

    def __contains__(self, case_id: object) -> bool:
        return case_id in self._cases

    def __getitem__(self, case_id: str) -> Case:
        return self._cases[case_id]

    @cached_property
    def digest(self) -> str:
        """A digest of every declaration and of the source of every case."""
        declarations = json.dumps([part.declaration() for part in self], sort_keys=True)
        sources = [inspect.getsource(module) for module in self._modules]
        return hashlib.sha256("\0".join([declarations, *sources]).encode()).hexdigest()


@cache
def catalogue() -> Catalogue:
    """Return the cases of this version of the suite."""
    names = sorted(module.name for module in pkgutil.iter_modules(rooms.__path__))
    return Catalogue(import_module(f"{rooms.__name__}.{name}") for name in names)
