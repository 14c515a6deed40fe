"""Deliberately broken adapters: each is one wrong behaviour in a few lines, and names the case that must catch it.

`mutant` and `harmless` are class decorators over the parts of two adapters that are right: `Items`, `Records` and
`Backend` of `memory://`, and `RemoteItems`, `RemoteBackend`, `Wire`, `Service` of the reference adapter with a
transport; a harness may be broken too. `FileBackend` and `KeptBackend` are `sqlite://`, where only a file that others
can open will do. A mutant of items offers no records, and one of records no items: it is judged by the cases of what it
breaks alone. `FileRecords` and `KeptRecords` are the records of `sqlite://`.
"""

from __future__ import annotations

import pkgutil
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from memcore.backend import not_offered
from memcore.in_memory import InMemoryBackend
from memcore.items.in_memory import InMemoryItems
from memcore.records.chain import Thresholds
from memcore.records.clock import clock_of
from memcore.records.in_memory import InMemoryRecords
from memcore.settings import MemorySettings
from memcore_conformance.memory import MemoryHarness
from memcore_sqlite.backend import SqliteBackend
from memcore_sqlite.items import SqliteItems
from memcore_sqlite.records import SqliteRecords
from memcore_sqlite.session import Session
from memcore_sqlite.testing import SqliteHarness
from remote import RemoteBackend, RemoteHarness, RemoteItems, Service, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore_conformance.harness import HarnessFactory
    from memcore_sqlite.settings import SqliteSettings

RECORD_EXTENSIONS: Final = frozenset({"history", "lifecycle", "transfer"})

Items = InMemoryItems
Records = InMemoryRecords


class Backend(InMemoryBackend):
    """`memory://` with items that can be exchanged."""

    items_type: ClassVar[type[InMemoryItems]] = InMemoryItems

    def __init__(self, settings: MemorySettings | None = None) -> None:
        super().__init__(settings)
        self._items = self.items_type(self._lifecycle, self._settings.limits, namespace=self._settings.namespace)
        claims: dict[str, Any] = {"contracts": frozenset({"items"}), "extensions": frozenset({"managed"})}
        self._capabilities = self._capabilities.model_copy(update=claims)

    @property
    def records(self) -> NoReturn:  # type: ignore[override]
        raise not_offered(self.name, "records")


class RecordsBackend(InMemoryBackend):
    """`memory://` with records alone, which can be exchanged."""

    records_type: ClassVar[type[InMemoryRecords]] = InMemoryRecords

    def __init__(self, settings: MemorySettings | None = None) -> None:
        super().__init__(settings)
        self._records = self.records_type(self._lifecycle, self._settings.limits, **options_of(self._settings))
        claims: dict[str, Any] = {"contracts": frozenset({"records"}), "extensions": RECORD_EXTENSIONS}
        self._capabilities = self._capabilities.model_copy(update=claims)

    @property
    def items(self) -> NoReturn:  # type: ignore[override]
        raise not_offered(self.name, "items")


class Harness(MemoryHarness):
    """`memory://` with a backend that can be exchanged."""

    backend_type: ClassVar[type[Backend | RecordsBackend]] = Backend

    async def make_backend(self, **settings: object) -> Backend | RecordsBackend:
        given = self.timed(settings)
        return self.backend_type(MemorySettings.resolve("memory://", given, prefix="MEMORY_", environ={}))


class FileBackend(SqliteBackend):
    """`sqlite://` with maintenance, as if its file were for one backend alone, with items that can be exchanged."""

    Items: ClassVar[type[SqliteItems]] = SqliteItems
    lifetime: ClassVar[dict[str, Any]] = {"durable": False, "power_safe": False, "shared": False}

    def __init__(self, settings: SqliteSettings, *, make_session: Callable[..., Session] = Session) -> None:
        super().__init__(settings, make_session=make_session)
        self._items = self.Items(self._database, self._lifecycle, settings.limits, namespace=settings.namespace)
        left = {"contracts": frozenset({"items"}), "extensions": frozenset({"managed", "maintenance"})}
        self._capabilities = self._capabilities.model_copy(update=left | self.lifetime)

    @property
    def records(self) -> NoReturn:  # type: ignore[override]
        raise not_offered(self.name, "records")


class FileRecords(SqliteBackend):
    """The records of `sqlite://`, which can be exchanged, with maintenance, as if its file were for one alone."""

    Records: ClassVar[type[SqliteRecords]] = SqliteRecords
    lifetime: ClassVar[dict[str, Any]] = {"durable": False, "power_safe": False, "shared": False}

    def __init__(self, settings: SqliteSettings, *, make_session: Callable[..., Session] = Session) -> None:
        super().__init__(settings, make_session=make_session)
        self._records = self.Records(self._database, self._lifecycle, settings.limits, **options_of(settings))
        left = {"contracts": frozenset({"records"}), "extensions": RECORD_EXTENSIONS | {"maintenance"}}
        self._capabilities = self._capabilities.model_copy(update=left | self.lifetime)

    @property
    def items(self) -> NoReturn:  # type: ignore[override]
        raise not_offered(self.name, "items")


class KeptRecords(FileRecords):
    """The records of `sqlite://` as they are, which can be exchanged."""

    lifetime: ClassVar[dict[str, Any]] = {"extensions": RECORD_EXTENSIONS}


class KeptBackend(FileBackend):
    """`sqlite://` as it is, with items that can be exchanged."""

    lifetime: ClassVar[dict[str, Any]] = {}


class Elsewhere(SqliteHarness):
    """`sqlite://` as it is, while the suite's other process runs a mutant of `elsewhere/broken_files.py`."""

    mutant: ClassVar[str]

    def url(self) -> str:
        return f"{super().url().replace('sqlite', 'broken')}?mutant={self.mutant}"


@dataclass(frozen=True)
class Mutant:
    """A broken adapter, or a harmless variant: one without a killer."""

    name: str
    killer: str | None
    factory: HarnessFactory
    sentence: str


def mutant(killer: str) -> Callable[[type], Mutant]:
    """Make a mutant of a broken part; `killer` is the case that must catch it."""
    return lambda part: Mutant(part.__name__, killer, _harness(part), part.__doc__ or "")


def harmless(part: type) -> Mutant:
    """Make a variant of a part that differs and is right: it must pass everything."""
    return Mutant(part.__name__, None, _harness(part), part.__doc__ or "")


def all_mutants() -> list[Mutant]:
    """Return every mutant and variant of the modules beside this one."""
    names = sorted(module.name for module in pkgutil.iter_modules(sys.modules[__name__].__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return [part for module in modules for part in vars(module).values() if isinstance(part, Mutant)]


_PARTS: Final = (
    (Items, lambda part: _harness(type(part.__name__, (Backend,), {"items_type": part}))),
    (Records, lambda part: _harness(type(part.__name__, (RecordsBackend,), {"records_type": part}))),
    (
        (Backend, RecordsBackend),
        lambda part: type(part.__name__, (Harness,), {"name": part.__name__, "backend_type": part}),
    ),
    (RemoteItems, lambda part: _harness(type(part.__name__, (RemoteBackend,), {"items_type": part}))),
    (RemoteBackend, lambda part: type(part.__name__, (RemoteHarness,), {"name": part.__name__, "backend_type": part})),
    (
        (FileBackend, FileRecords),
        lambda part: type(part.__name__, (SqliteHarness,), {"name": part.__name__, "backend_type": part}),
    ),
    (Wire, lambda part: type(part.__name__, (RemoteHarness,), {"name": part.__name__, "wire_type": part})),
    (Service, lambda part: type(part.__name__, (RemoteHarness,), {"name": part.__name__, "service_type": part})),
)


def options_of(settings: MemorySettings | SqliteSettings) -> dict[str, Any]:
    """Return what the records of a store take from its settings."""
    return {
        "namespace": settings.namespace,
        "clock": clock_of(settings.clock),
        "thresholds": Thresholds(settings.long_after, settings.permanent_after),
    }


def _harness(part: type) -> HarnessFactory:
    """Return the harness factory of an adapter with this part exchanged."""
    made = [make for kind, make in _PARTS if issubclass(part, kind)]
    return made[0](part) if made else type(part.__name__, (part,), {"name": part.__name__})
