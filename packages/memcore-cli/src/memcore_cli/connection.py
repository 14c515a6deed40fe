"""A store as the commands use it: open, driven from plain code, closed whatever happens."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from memcore.backend import Backend, Maintenance, not_offered
from memcore.errors import MemoryConfigurationError
from memcore.items.store import ExternalMemoryStore, ManagedMemoryStore, MemoryStore
from memcore.records.store import RecordHistory, RecordLifecycle, Transfer

from memcore_cli.output import tell

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    import typer
    from memcore.plugins import Registry
    from memcore.records.store import RecordStore

T = TypeVar("T")


class Connection:
    """An open backend and the event loop that it lives in.

    The loop runs only while a call is made: between calls Ctrl-C is an ordinary `KeyboardInterrupt`, also where a
    command waits for its standard input.
    """

    def __init__(self, backend: Backend, runner: asyncio.Runner) -> None:
        self.backend = backend
        self._runner = runner

    def run(self, call: Coroutine[object, object, T]) -> T:
        """Make one call and return what it returns."""
        kept: list[T] = []

        async def keep() -> None:  # a task's result is in its repr, which CPython makes when the runner resets SIGINT
            kept.append(await call)

        self._runner.run(keep())
        return kept[0]

    @property
    def items(self) -> MemoryStore:
        """The items of the backend.

        Raises:
            MemoryConfigurationError: it offers none; likewise the properties below.
        """
        return self.backend.items

    @property
    def described(self) -> ExternalMemoryStore:
        """The items, of a store that has a manifest."""
        if isinstance(self.items, ExternalMemoryStore):
            return self.items
        raise self._lacks("has no manifest")

    @property
    def managed(self) -> ManagedMemoryStore:
        """The items, of a store that can list and erase them."""
        if isinstance(self.items, ManagedMemoryStore):
            return self.items
        raise self._lacks("can neither list nor erase its items")

    @property
    def records(self) -> RecordStore:
        """The records of the backend."""
        if "records" in self.backend.capabilities.contracts:
            return self.backend.records
        raise not_offered(self.backend.name, "records")

    @property
    def chronicle(self) -> RecordHistory:
        """The records, of a store that can list them and tell what became of each."""
        if isinstance(self.records, RecordHistory):
            return self.records
        raise self._lacks("can neither list its records nor show their history")

    @property
    def lifecycle(self) -> RecordLifecycle:
        """The records, of a store that can sweep them."""
        if isinstance(self.records, RecordLifecycle):
            return self.records
        raise self._lacks("cannot sweep its records")

    @property
    def transfer(self) -> Transfer:
        """The records, of a store that takes records as they were."""
        if isinstance(self.records, Transfer):
            return self.records
        raise self._lacks("cannot take records as they were in another store")

    @property
    def maintenance(self) -> Maintenance:
        """The backend, of a store with indexes to look after."""
        if isinstance(self.backend, Maintenance):
            return self.backend
        raise self._lacks("has no index to look after")

    def _lacks(self, what: str) -> MemoryConfigurationError:
        return MemoryConfigurationError(f"a store of adapter {self.backend.name!r} {what}")


def installed(context: typer.Context) -> Registry:
    """Return the registry of adapters and plugins that this command line works with."""
    registry: Registry = context.obj()
    return registry


@contextmanager
def connected(context: typer.Context, url: str) -> Iterator[Connection]:
    """Open the store of a URL and close it at the end.

    Raises:
        MemoryConfigurationError: no installed adapter serves it, or a setting is wrong.
        MemoryAdapterUnavailable: it cannot be opened.
    """
    with asyncio.Runner() as runner:
        connection = Connection(installed(context).connect(url), runner)
        try:
            runner.run(connection.backend.open())
            yield connection
        finally:
            runner.run(connection.backend.close())


def warn_if_forgetful(connection: Connection) -> None:
    """Tell when what is stored now is gone as soon as the command ends."""
    claims = connection.backend.capabilities
    if not claims.durable and not claims.shared:
        tell(f"note: a store of adapter {connection.backend.name!r} forgets everything when this command ends")
