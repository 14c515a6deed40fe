"""Discovery: the hooks that a distribution implements, the registry of what is installed, and `connect()` (B-01, B-03).

Entry points of the group `memcore` are loaded one by one, each guarded: a broken plugin is reported as data and never
breaks the others. Loading a plugin loads no driver.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

import pluggy

from memcore.errors import MemoryConfigurationError
from memcore.settings import AdapterSettings, MemorySettings, mask_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from importlib.metadata import EntryPoint

    from memcore.backend import Backend, Contract

PROJECT: Final = "memcore"
"""The pluggy project name, and the entry-point group."""

hookspec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)

_DISTRIBUTIONS: Final = {
    "sqlite": "memcore-sqlite",
    "postgresql": "memcore-postgres",
    "postgres": "memcore-postgres",
    "http": "memcore-http",
    "https": "memcore-http",
    "qdrant": "memcore-qdrant",
    "chroma": "memcore-chroma",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One way to reach a service: what `memcore_adapters()` returns."""

    name: str
    """Short and unique, such as `sqlite`; environment variables are named after it."""
    schemes: tuple[str, ...]
    """The URL schemes that it serves."""
    summary: str
    """One line for listings."""
    contracts: frozenset[Contract]
    connect: Callable[[Any], Backend]
    """Makes a backend, not yet open, from an instance of `settings`; the place to import the driver."""
    settings: type[AdapterSettings] = AdapterSettings


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """A plugin that could not be used, and why."""

    distribution: str
    entry_point: str
    error: str


class HookSpecs:
    """The hooks of memcore; each returns a list, and a plugin implements those that it needs."""

    @hookspec
    def memcore_adapters(self) -> list[Adapter]:
        """Return the adapters of this distribution."""
        raise NotImplementedError

    @hookspec
    def memcore_harnesses(self) -> list[Any]:
        """Return the conformance harnesses of this distribution: factories without arguments."""
        raise NotImplementedError

    @hookspec
    def memcore_models(self) -> list[Any]:
        """Return the embedding and chat models of this distribution."""
        raise NotImplementedError

    @hookspec
    def memcore_commands(self) -> list[Any]:
        """Return the sub-commands that this distribution adds to the `memcore` command: typer apps."""
        raise NotImplementedError


class Registry:
    """What is installed: plugins that loaded, and those that did not.

    `discover()` reads the entry points of this environment; a host or a test may register plugins by hand.
    """

    broken: list[BrokenPlugin]
    """The plugins that could not be used, in the order in which they failed."""

    def __init__(self) -> None:
        self.broken = []
        self._origins: dict[str, tuple[str, str]] = {}
        self._found: dict[str, list[tuple[str, Any]]] = {}
        self._plugins = pluggy.PluginManager(PROJECT)
        self._plugins.add_hookspecs(HookSpecs)

    @classmethod
    def discover(cls, points: Iterable[EntryPoint] | None = None) -> Registry:
        """Load every entry point of the group, guarded; `points` replaces those of this environment."""
        registry = cls()
        registry.register(_Core(), name="memory", distribution="memcore")
        for point in entry_points(group=PROJECT) if points is None else points:
            distribution = point.dist.name if point.dist else "unknown distribution"
            try:
                registry.register(point.load(), name=point.name, distribution=distribution)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a foreign plugin does when it loads
                registry.broken.append(BrokenPlugin(distribution, point.name, _describe(error)))
        return registry

    def register(self, plugin: object, *, name: str, distribution: str) -> None:
        """Add one plugin: a module or an object with hook implementations.

        Two distributions may use one name; whether their adapters go together is told when one is looked for.

        Raises:
            MemoryConfigurationError: it is there already, or a hook is not one of ours.
        """
        full_name = f"{distribution}:{name}"
        try:
            self._plugins.register(plugin, name=full_name)
            self._plugins.check_pending()
        except ValueError as error:
            raise MemoryConfigurationError(f"plugin {name!r} of {distribution} is registered already") from error
        except pluggy.PluginValidationError as error:
            self._plugins.unregister(plugin)
            msg = f"plugin {name!r} of {distribution} cannot be registered: {error}"
            raise MemoryConfigurationError(msg) from error
        self._origins[full_name] = distribution, name
        self._found.clear()

    def adapters(self) -> list[Adapter]:
        """Return every adapter of every plugin that works, by name."""
        return sorted((adapter for _, adapter in self._adapters()), key=lambda adapter: adapter.name)

    def harnesses(self) -> list[Any]:
        """Return every conformance harness factory."""
        return [harness for _, harness in self._collect("memcore_harnesses")]

    def commands(self) -> list[tuple[str, Any]]:
        """Return every sub-command for the `memcore` command, each with the name of its distribution."""
        return self._collect("memcore_commands")

    def origin(self, adapter: Adapter) -> str:
        """Return the name of the distribution that an adapter came from."""
        return next(distribution for distribution, other in self._adapters() if other == adapter)

    def find(self, url: str) -> Adapter:
        """Return the adapter that serves the scheme of a URL.

        Raises:
            MemoryConfigurationError: none does, or more than one.
        """
        scheme = _scheme(url)
        claims = [(origin, adapter) for origin, adapter in self._adapters() if scheme in adapter.schemes]
        if len(claims) > 1:
            names = " and ".join(sorted(f"{adapter.name!r} of {origin}" for origin, adapter in claims))
            msg = f"the scheme {scheme!r} is claimed by {names}; uninstall one of them"
            raise MemoryConfigurationError(msg)
        if not claims:
            raise MemoryConfigurationError(self._unknown(scheme))
        return claims[0][1]

    def connect(self, url: str, /, **settings: object) -> Backend:
        """Return a backend for the URL, not yet open; see `memcore.connect`."""
        adapter = self.find(url)
        prefix = f"{PROJECT}_{adapter.name}_".upper().replace("-", "_")
        resolved = adapter.settings.resolve(url, settings, prefix=prefix, environ=os.environ)
        try:
            return adapter.connect(resolved)
        except ImportError as error:
            msg = f"adapter {adapter.name!r} cannot load what it needs ({error}); reinstall {self.origin(adapter)}"
            raise MemoryConfigurationError(msg) from error

    def _adapters(self) -> list[tuple[str, Adapter]]:
        return self._collect("memcore_adapters", Adapter)

    def _collect(self, hook: str, kind: type[object] = object) -> list[tuple[str, Any]]:
        """Return what the plugins answer to a hook, each answer with its distribution; asked once."""
        if hook not in self._found:
            implementations = reversed(getattr(self._plugins.hook, hook).get_hookimpls())
            asked = [self._ask(one.plugin_name, one.function, kind) for one in implementations]
            self._found[hook] = [answer for answers in asked for answer in answers]
        return list(self._found[hook])

    def _ask(
        self, plugin: str, function: Callable[[], Iterable[object]], kind: type[object]
    ) -> list[tuple[str, object]]:
        """Call one plugin's own implementation, so that one that fails is set aside alone."""
        distribution, name = self._origins[plugin]
        try:
            return [(distribution, _checked(answer, kind)) for answer in function()]
        except Exception as error:  # noqa: BLE001 - whatever a foreign plugin does when it is asked
            broken = BrokenPlugin(distribution, name, _describe(error))
            if broken not in self.broken:
                self.broken.append(broken)
            return []

    def _unknown(self, scheme: str) -> str:
        known = ", ".join(sorted({f"{name}://" for adapter in self.adapters() for name in adapter.schemes}))
        text = f"no installed adapter serves {scheme}://; known schemes: {known}"
        if scheme in _DISTRIBUTIONS:
            text += f"; install {_DISTRIBUTIONS[scheme]} (pip install {_DISTRIBUTIONS[scheme]})"
        for plugin in self.broken:
            text += f"; plugin {plugin.entry_point!r} of {plugin.distribution} failed to load: {plugin.error}"
        return text


@cache
def registry() -> Registry:
    """Return the registry of this environment, read once a process."""
    return Registry.discover()


def connect(url: str, /, **settings: object) -> Backend:
    """Return a backend for the URL; it opens on first use, on `await backend.open()`, or by `async with`.

    Args:
        url: such as `memory://`, `sqlite:///memory.db`, `sqlite:////var/lib/memory.db`; its query may hold settings.
        settings: settings of the adapter; they outrank the URL, and the URL the environment (`MEMCORE_SQLITE_…`).

    Raises:
        MemoryConfigurationError: no installed adapter serves the scheme, or a setting is unknown or bad.
    """
    return registry().connect(url, **settings)


class _Core:
    """The plugin of the core itself."""

    @hookimpl
    def memcore_adapters(self) -> list[Adapter]:
        return [
            Adapter(
                name="memory",
                schemes=("memory",),
                summary="in this process, gone when it ends",
                contracts=frozenset({"items", "records"}),
                connect=_connect_memory,
                settings=MemorySettings,
            )
        ]


def _connect_memory(settings: MemorySettings) -> Backend:
    from memcore.in_memory import InMemoryBackend  # noqa: PLC0415 - loads asyncio and the analysis

    return InMemoryBackend(settings)


def _scheme(url: object) -> str:
    if not isinstance(url, str):
        msg = f"a URL is a str, not {type(url).__name__}"
        raise MemoryConfigurationError(msg)
    scheme, colon, _rest = url.partition("://")
    if not colon or not scheme:
        msg = f"not a URL with a scheme, such as sqlite:///memory.db: {mask_url(url)!r}"
        raise MemoryConfigurationError(msg)
    return scheme.lower()


def _checked(answer: object, kind: type[object]) -> object:
    if not isinstance(answer, kind):
        msg = f"a hook of memcore returned {type(answer).__name__}, not {kind.__name__}"
        raise TypeError(msg)
    return answer


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
