"""Discovery, the registry and `connect()` (B-01, B-03)."""

from __future__ import annotations

import asyncio
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import memcore
import pytest
from memcore import Adapter, AdapterSettings, MemoryConfigurationError, MemoryItem, hookimpl
from memcore.plugins import BrokenPlugin, HookSpecs, Registry, registry
from pydantic import SecretStr

if TYPE_CHECKING:
    from collections.abc import Callable


class CaveSettings(AdapterSettings):
    """Settings of the adapter of these tests."""

    token: SecretStr = SecretStr("")


def cave(connect: Callable[[Any], Any] = repr, **changes: Any) -> Adapter:
    parts: dict[str, Any] = {
        "name": "cave",
        "schemes": ("cave", "caves"),
        "summary": "a store of these tests",
        "contracts": frozenset({"items"}),
        "connect": connect,
        "settings": CaveSettings,
    }
    return Adapter(**parts | changes)


class Plugin:
    """A plugin as a distribution would register it, counting how often it is asked."""

    def __init__(self, *adapters: Any) -> None:
        self.adapters = adapters
        self.asked = 0

    @hookimpl
    def memcore_adapters(self) -> list[Adapter]:
        self.asked += 1
        return list(self.adapters)


class Failing:
    """A plugin that loads and then fails when it is asked."""

    @hookimpl
    def memcore_adapters(self) -> list[Adapter]:
        message = "no such module"
        raise ImportError(message)

    @hookimpl
    def memcore_commands(self) -> list[str]:
        return ["still here"]


class Point:
    """An entry point of a distribution that is not installed."""

    def __init__(self, name: str, distribution: str | None, load: Callable[[], object]) -> None:
        self.name = name
        self.dist = SimpleNamespace(name=distribution) if distribution else None
        self.load = load


def point(plugin: object, *, name: str = "cave", distribution: str | None = "memcore-cave") -> Any:
    return Point(name, distribution, lambda: plugin)


def broken_point(error: BaseException, *, name: str = "bad") -> Any:
    def load() -> object:
        raise error

    return Point(name, "memcore-bad", load)


def connected(url: str, *adapters: Adapter, **settings: object) -> Any:
    return Registry.discover([point(Plugin(*adapters))]).connect(url, **settings)


def test_the_core_registers_memory_by_itself() -> None:
    found = Registry.discover([])

    assert [(adapter.name, adapter.schemes) for adapter in found.adapters()] == [("memory", ("memory",))]
    assert found.origin(found.adapters()[0]) == "memcore"
    assert found.broken == []


async def test_the_core_lists_the_contracts_that_memory_offers() -> None:
    (adapter,) = Registry.discover([]).adapters()

    async with Registry.discover([]).connect("memory://") as backend:
        assert adapter.contracts == backend.capabilities.contracts


def test_adapters_come_by_name_each_with_its_distribution() -> None:
    found = Registry.discover([point(Plugin(cave(name="zoo"), cave(name="cave")))])

    assert [(adapter.name, found.origin(adapter)) for adapter in found.adapters()] == [
        ("cave", "memcore-cave"),
        ("memory", "memcore"),
        ("zoo", "memcore-cave"),
    ]


def test_an_adapter_made_anew_for_each_question_has_an_origin_too() -> None:
    class Forgetful:
        @hookimpl
        def memcore_adapters(self) -> list[Adapter]:
            return [cave(connect=lambda settings: settings)]

    found = Registry.discover([point(Forgetful())])

    assert [found.origin(adapter) for adapter in found.adapters()] == ["memcore-cave", "memcore"]


def test_a_plugin_is_asked_once() -> None:
    plugin = Plugin(cave())
    found = Registry.discover([point(plugin)])
    found.adapters()
    found.find("cave://a")
    found.connect("cave://")

    assert plugin.asked == 1


def test_a_plugin_registered_later_is_found() -> None:
    found = Registry.discover([])
    found.adapters()
    found.register(Plugin(cave()), name="cave", distribution="tests")

    assert found.find("cave://a").name == "cave"


@pytest.mark.parametrize("error", [ImportError("no driver"), RuntimeError("odd"), SystemExit("needs another Python")])
def test_a_plugin_that_does_not_load_is_reported_and_breaks_no_other(error: BaseException) -> None:
    found = Registry.discover([broken_point(error), point(Plugin(cave()))])

    assert found.find("cave://a").name == "cave"
    assert found.broken == [BrokenPlugin("memcore-bad", "bad", f"{type(error).__name__}: {error}")]


def test_a_plugin_that_fails_when_asked_is_reported_once_and_breaks_no_other() -> None:
    found = Registry.discover([point(Failing(), name="bad", distribution="memcore-bad"), point(Plugin(cave()))])
    found.adapters()
    found.register(Plugin(), name="later", distribution="tests")

    assert [adapter.name for adapter in found.adapters()] == ["cave", "memory"]
    assert found.broken == [BrokenPlugin("memcore-bad", "bad", "ImportError: no such module")]
    assert found.commands() == [("memcore-bad", "still here")]


@pytest.mark.parametrize("answer", [None, 5, [cave(), "adapter"]])
def test_a_plugin_that_answers_with_something_else_is_reported(answer: Any) -> None:
    class Odd:
        @hookimpl
        def memcore_adapters(self) -> Any:
            return answer

    found = Registry.discover([point(Odd())])

    assert [adapter.name for adapter in found.adapters()] == ["memory"]
    assert [plugin.distribution for plugin in found.broken] == ["memcore-cave"]
    assert found.broken[0].error.startswith("TypeError: ")


def test_a_hook_that_is_not_ours_is_reported() -> None:
    class Misspelt:
        @hookimpl
        def memcore_adaptors(self) -> list[Adapter]:
            return [cave()]

    found = Registry.discover([point(Misspelt(), name="bad"), point(Plugin(cave()))])

    assert found.find("cave://a").name == "cave"
    assert [plugin.entry_point for plugin in found.broken] == ["bad"]
    assert "memcore_adaptors" in found.broken[0].error


def test_a_distribution_without_metadata_is_called_unknown() -> None:
    assert Registry.discover([point(None, distribution=None)]).broken == []
    broken = Registry.discover([Point("bad", None, lambda: 1 / 0)]).broken  # type: ignore[list-item]

    assert broken == [BrokenPlugin("unknown distribution", "bad", "ZeroDivisionError: division by zero")]


def test_a_plugin_registered_twice_is_an_error_and_stays() -> None:
    found = Registry()
    plugin = Plugin(cave())
    found.register(plugin, name="cave", distribution="tests")

    with pytest.raises(MemoryConfigurationError, match="plugin 'cave' of tests is registered already"):
        found.register(plugin, name="cave", distribution="tests")
    assert found.find("cave://a").name == "cave"


def test_real_entry_points_are_loaded() -> None:
    core = EntryPoint(name="core", value="memcore.plugins:_Core", group="memcore")
    found = Registry.discover([core])

    assert found.broken == []


def test_every_hook_may_be_answered() -> None:
    class Rich:
        @hookimpl
        def memcore_harnesses(self) -> list[str]:
            return ["harness"]

        @hookimpl
        def memcore_commands(self) -> list[str]:
            return ["command"]

        @hookimpl
        def memcore_models(self) -> list[str]:
            return ["model"]

    found = Registry.discover([point(Rich())])

    assert found.broken == []
    assert found.harnesses() == ["harness"]
    assert found.commands() == [("memcore-cave", "command")]


@pytest.mark.parametrize("hook", [name for name in vars(HookSpecs) if name.startswith("memcore_")])
def test_a_hook_specification_answers_nothing_by_itself(hook: str) -> None:
    with pytest.raises(NotImplementedError):
        getattr(HookSpecs(), hook)()


def test_the_registry_of_this_environment_is_read_once() -> None:
    assert registry() is registry()
    assert "memory" in {adapter.name for adapter in registry().adapters()}


@pytest.mark.parametrize("url", ["cave://a", "CAVES://b", "cave://"])
def test_the_scheme_finds_the_adapter_in_any_case(url: str) -> None:
    assert Registry.discover([point(Plugin(cave()))]).find(url).name == "cave"


@pytest.mark.parametrize("name", ["cave", "other"])
def test_two_that_claim_one_scheme_are_an_error_that_names_both(name: str) -> None:
    mine = point(Plugin(cave(schemes=("cave",))), name="cave", distribution="memcore-cave")
    theirs = point(Plugin(cave(schemes=("x", "cave"))), name=name, distribution="memcore-cellar")
    found = Registry.discover([mine, theirs])

    with pytest.raises(MemoryConfigurationError) as caught:
        found.find("cave://a")
    assert str(caught.value) == (
        "the scheme 'cave' is claimed by 'cave' of memcore-cave and 'cave' of memcore-cellar; uninstall one of them"
    )
    assert found.find("x://a").name == "cave"


@pytest.mark.parametrize(
    ("url", "distribution"),
    [
        ("sqlite:///a.db", "memcore-sqlite"),
        ("postgresql://h/d", "memcore-postgres"),
        ("https://h", "memcore-http"),
        ("qdrant://h", "memcore-qdrant"),
        ("chroma://h", "memcore-chroma"),
    ],
)
def test_an_unknown_scheme_tells_the_known_ones_and_what_to_install(url: str, distribution: str) -> None:
    with pytest.raises(MemoryConfigurationError) as caught:
        Registry.discover([point(Plugin(cave()))]).connect(url)

    assert "known schemes: cave://, caves://, memory://" in str(caught.value)
    assert f"pip install {distribution}" in str(caught.value)


def test_a_scheme_that_nobody_ever_had_tells_the_known_ones() -> None:
    with pytest.raises(MemoryConfigurationError) as caught:
        Registry.discover([]).find("redis://h")

    assert str(caught.value) == "no installed adapter serves redis://; known schemes: memory://"


def test_an_unknown_scheme_tells_which_plugins_are_broken() -> None:
    with pytest.raises(MemoryConfigurationError, match="plugin 'bad' of memcore-bad failed to load: ImportError: no x"):
        Registry.discover([broken_point(ImportError("no x"))]).find("sqlite:///a.db")


@pytest.mark.parametrize("url", ["", "memory", "memory.db", "://x", "/a/b", "sqlite:a.db"])
def test_what_has_no_scheme_is_told_from_a_url(url: str) -> None:
    with pytest.raises(MemoryConfigurationError, match=r"not a URL with a scheme, such as sqlite:///memory\.db"):
        memcore.connect(url)


@pytest.mark.parametrize("url", [None, 5, b"memory://", ["memory://"]])
def test_a_url_is_a_string(url: Any) -> None:
    with pytest.raises(MemoryConfigurationError, match=f"a URL is a str, not {type(url).__name__}"):
        memcore.connect(url)


def test_the_adapter_gets_its_settings_from_keywords_url_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCORE_CAVE_MAN_TOKEN", "env")
    adapter = cave(name="cave-man", connect=lambda settings: settings)

    settings = connected("cave://?namespace=url", adapter)
    assert (settings.namespace, settings.token.get_secret_value()) == ("url", "env")
    assert connected("cave://?namespace=url", adapter, namespace="keyword").namespace == "keyword"


def test_an_unknown_setting_is_an_error_that_names_it_and_the_accepted_ones() -> None:
    accepted = "clock, limits, long_after, namespace, permanent_after"
    with pytest.raises(MemoryConfigurationError, match=f"unknown setting 'pool'; accepted settings: {accepted}"):
        memcore.connect("memory://", pool=5)


def test_a_driver_that_is_missing_is_told_as_such_with_its_cause() -> None:
    def connect(_settings: object) -> Any:
        message = "No module named 'cavedriver'"
        raise ModuleNotFoundError(message)

    with pytest.raises(
        MemoryConfigurationError, match=r"adapter 'cave' .*'cavedriver'.* reinstall memcore-cave"
    ) as caught:
        connected("cave://", cave(connect=connect))
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_any_setting_may_be_named_url() -> None:
    with pytest.raises(MemoryConfigurationError, match="unknown setting 'url'"):
        memcore.connect("memory://", url="x")


def test_connect_opens_nothing_and_needs_no_event_loop() -> None:
    backend = memcore.connect("memory://")

    async def use() -> bool:
        async with backend:
            item = MemoryItem()
            return await backend.items.store(item) == item.id

    assert asyncio.run(use())
