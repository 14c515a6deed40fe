"""`jsonfiles://`: one namespace of one folder, as a backend (B-02)."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self

from memcore import Capabilities, Health
from memcore.backend import not_offered
from memcore.kit.lifecycle import Lifecycle

from memcore_jsonfiles.folder import FORMAT, Folder
from memcore_jsonfiles.items import JsonItems

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore_jsonfiles.settings import JsonFilesSettings


class JsonFilesBackend:
    """Opens on first use; the kit's lifecycle sees to it, and to closing and to the event loop."""

    name: ClassVar[str] = "jsonfiles"

    def __init__(self, settings: JsonFilesSettings, *, make_folder: Callable[..., Folder] = Folder) -> None:
        self._settings = settings
        self._folder = make_folder(settings.folder, namespace=settings.namespace)
        self._lifecycle = Lifecycle(repr(self), opening=self._folder.open, closing=self._folder.close)
        self._items = JsonItems(self._folder, self._lifecycle, settings.limits)
        self._capabilities = Capabilities(
            contracts=frozenset({"items"}),
            durable=True,
            analysed=True,
            search="keyword",
            limits=settings.limits,
        )

    @property
    def items(self) -> JsonItems:
        """The items."""
        return self._items

    @property
    def records(self) -> NoReturn:
        """Not offered."""
        raise not_offered(self.name, "records")

    @property
    def conversations(self) -> NoReturn:
        """Not offered."""
        raise not_offered(self.name, "conversations")

    @property
    def capabilities(self) -> Capabilities:
        """What is claimed, once it is open."""
        self._lifecycle.require_open("the capabilities")
        return self._capabilities

    async def open(self) -> None:
        """Make the folder ready."""
        await self._lifecycle.open()

    async def close(self) -> None:
        """Finish what was accepted; again does nothing."""
        await self._lifecycle.close()

    async def ping(self) -> Health:
        """Look at the folder."""
        await self.open()
        started = time.perf_counter()
        await self._folder.check()
        versions = {"memcore-jsonfiles": version("memcore-jsonfiles"), "format": str(FORMAT)}
        return Health(status="ok", latency=time.perf_counter() - started, versions=versions)

    async def drop_namespace(self) -> None:
        """Remove every item of the namespace."""
        await self.open()
        await self._folder.clear()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<jsonfiles:// backend, namespace {self._settings.namespace!r}>"
