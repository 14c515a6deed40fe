"""Who takes part: the adapters that were asked for, and beside them the raw limits and the peers of their kind.

A new kind of service gets a line in `_BESIDE` and its limits in `_DRIVERS`; the first limit is the yardstick.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from memcore.settings import mask_url

from memcore_conformance.bench.adapter import AdapterDriver
from memcore_conformance.bench.dictionary import DictDriver
from memcore_conformance.bench.langgraph import LangGraphMemoryDriver, LangGraphSqliteDriver
from memcore_conformance.bench.raw_asyncpg import AsyncpgDriver
from memcore_conformance.bench.raw_sqlite import AiosqliteDriver, Sqlite3Driver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memcore_conformance.bench.driver import Driver
    from memcore_conformance.bench.place import Place


@dataclass(frozen=True, slots=True)
class Candidate:
    """One adapter, limit or peer."""

    name: str
    """What the tables show: the URL of an adapter without its secrets, or the name of a limit."""
    url: str
    """The adapter's own, or that of the adapter which a limit stands beside."""

    def driver(self, place: Place) -> Driver:
        """Return a driver that keeps its data in this place."""
        make = _DRIVERS.get(self.name)
        return make(self.url, place) if make else AdapterDriver(self.url, place)


@dataclass(frozen=True, slots=True)
class Group:
    """Candidates that are measured together, each operation by one after the other."""

    scheme: str
    adapters: tuple[Candidate, ...]
    beside: tuple[Candidate, ...]
    synchronous: str | None = None
    """The mode of SQLite that the raw limits share with the adapters."""

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Everyone, adapters first."""
        return self.adapters + self.beside

    @property
    def yardstick(self) -> str | None:
        """The name of the limit that ratios are given to."""
        return self.beside[0].name if self.beside else None


def group(urls: Iterable[str]) -> list[Group]:
    """Put adapters of one kind together, and what is installed of its limits and peers beside them."""
    kinds: dict[tuple[str, str | None], list[str]] = {}
    for url in dict.fromkeys(urls):
        kinds.setdefault((urlsplit(url).scheme, _synchronous(url)), []).append(url)
    return [
        Group(
            scheme=scheme,
            adapters=tuple(Candidate(mask_url(url), url) for url in same),
            beside=tuple(Candidate(name, same[0]) for name in _BESIDE.get(scheme, _ELSE) if _is_installed(name)),
            synchronous=synchronous,
        )
        for (scheme, synchronous), same in kinds.items()
    ]


_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "memory": ("dict scan", "LangGraph memory"),
    "sqlite": ("sqlite3 full", "sqlite3 kv", "aiosqlite full", "LangGraph sqlite"),
    "postgresql": ("asyncpg full", "asyncpg kv"),
}
_ELSE: Final = ("sqlite3 full", "dict scan")
_DRIVERS: Final[Mapping[str, Callable[[str, Place], Driver]]] = {
    "dict scan": lambda _url, _place: DictDriver(),
    "sqlite3 full": lambda url, place: Sqlite3Driver(place, synchronous=_synchronous(url) or "full"),
    "sqlite3 kv": lambda url, place: Sqlite3Driver(place, synchronous=_synchronous(url) or "full", full=False),
    "aiosqlite full": lambda url, place: AiosqliteDriver(place, synchronous=_synchronous(url) or "full"),
    "asyncpg full": AsyncpgDriver,
    "asyncpg kv": lambda url, place: AsyncpgDriver(url, place, full=False),
    "LangGraph memory": lambda _url, _place: LangGraphMemoryDriver(),
    "LangGraph sqlite": lambda _url, place: LangGraphSqliteDriver(place),
}
_NEEDS: Final[Mapping[str, str]] = {
    "aiosqlite full": "aiosqlite",
    "asyncpg full": "asyncpg",
    "asyncpg kv": "asyncpg",
    "LangGraph memory": "langgraph.store.memory",
    "LangGraph sqlite": "langgraph.store.sqlite",
}


def _synchronous(url: str) -> str | None:
    parts = urlsplit(url)
    return parse_qs(parts.query).get("synchronous", ["full"])[-1] if parts.scheme == "sqlite" else None


def _is_installed(name: str) -> bool:
    try:
        return name not in _NEEDS or find_spec(_NEEDS[name]) is not None
    except ModuleNotFoundError:  # one of its parents
        return False
