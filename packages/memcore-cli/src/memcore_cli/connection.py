"""A store as the commands use it: open, driven from plain code, closed whatever happens."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from memcore.backend import Backend, Maintenance
from memcore.errors import MemoryConfigurationError
from memcore.items.store import ExternalMemoryStore, ManagedMemoryStore, MemoryStore

from memcore_cli.output import tell

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    import typer
    from memcore.plugins import Registry

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
