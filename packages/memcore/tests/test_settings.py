"""Settings: from keywords, URL and environment, every fault named and no value shown (B-01, B-04)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import AdapterSettings, MemoryConfigurationError, SizeLimits
from memcore.settings import MemorySettings, mask_url
from pydantic import AfterValidator, Field, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult


def _refuse(_value: str) -> str:
    message = "is not what it should be"
    raise ValueError(message)


class CaveSettings(AdapterSettings):
    """Settings of an adapter that takes a host."""

    host: str = ""
    depth: int = Field(default=1, ge=0)
    token: str = ""
    key: Annotated[str, AfterValidator(_refuse)] = ""

    @classmethod
    def parse_url(cls, parts: SplitResult) -> dict[str, Any]:
        return {"host": parts.netloc}


def resolve(
    url: str = "cave://a", keywords: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> CaveSettings:
    return CaveSettings.resolve(url, keywords or {}, prefix="MEMCORE_CAVE_", environ=environ or {})


def message_of(*args: Any, **keywords: Any) -> str:
    with pytest.raises(MemoryConfigurationError) as caught:
        resolve(*args, **keywords)
    return str(caught.value)


def test_everything_has_a_default() -> None:
    assert resolve() == CaveSettings(namespace="default", host="a", depth=1, token="")


def test_keywords_outrank_the_url_and_the_url_the_environment() -> None:
    environ = {"MEMCORE_CAVE_DEPTH": "2", "MEMCORE_CAVE_NAMESPACE": "env", "MEMCORE_CAVE_HOST": "env", "OTHER": "x"}
    settings = resolve("cave://url?depth=3&namespace=url", {"depth": 4}, environ)

    assert (settings.host, settings.namespace, settings.depth) == ("url", "url", 4)
    assert resolve("cave://a", {}, environ).depth == 2


def test_values_in_the_url_are_percent_decoded() -> None:
    assert resolve("cave://a?namespace=%E7%A7%98%26%3D%23").namespace == "秘&=#"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"url": "cave://a?deep=3"}, "setting 'deep' in the URL"),
        ({"keywords": {"deep": 3}}, "setting 'deep'"),
        ({"environ": {"MEMCORE_CAVE_DEEP": "3"}}, "environment variable MEMCORE_CAVE_DEEP"),
    ],
    ids=["url", "keyword", "environment"],
)
def test_an_unknown_setting_is_named_with_those_that_are_accepted(arguments: dict[str, Any], what: str) -> None:
    assert message_of(**arguments) == f"unknown {what}; accepted settings: depth, host, key, namespace, token"


@pytest.mark.parametrize(("url", "name"), [("cave://a?depth=1&depth=2", "depth"), ("cave://a?host=b", "host")])
def test_a_url_that_contradicts_itself_is_refused(url: str, name: str) -> None:
    assert message_of(url) == f"setting '{name}' stands twice in the URL"


def test_what_a_url_leaves_empty_may_stand_in_its_query() -> None:
    assert resolve("cave://?host=b").host == "b"


def test_what_a_check_says_stands_in_the_message_as_it_is() -> None:
    assert "namespace: must hold printable characters only;" in message_of("cave://a?namespace=%00")


def test_a_setting_is_called_by_its_alias() -> None:
    class Aliased(AdapterSettings):
        schema_: str = Field(default="public", alias="schema")

    assert Aliased.resolve("x://?schema=a", {}, prefix="X_", environ={}).schema_ == "a"
    with pytest.raises(MemoryConfigurationError, match=r"accepted settings: namespace, schema$"):
        Aliased.resolve("x://?schema_=a", {}, prefix="X_", environ={})


def test_all_bad_settings_are_named_with_those_that_are_accepted() -> None:
    message = message_of("cave://a?depth=-1", {"namespace": ""})

    assert message.startswith("bad setting: ")
    assert "namespace: String should have at least 1 character" in message
    assert "depth: Input should be greater than or equal to 0" in message
    assert message.endswith("; accepted settings: depth, host, key, namespace, token")


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "cave://a?key=s3cret"},
        {"url": "cave://a?depth=s3cret"},
        {"url": "cave://a?deep=s3cret"},
        {"url": "cave://a?token=s3cret#"},
        {"url": "cave://u:s3cret@[a"},
        {"url": "cave://a?token=s3cret%FF"},
        {"url": "cave://a?token=s3cret\n"},
        {"keywords": {"key": "s3cret"}},
        {"keywords": {"token": ["s3cret"]}},
        {"environ": {"MEMCORE_CAVE_DEPTH": "s3cret"}},
    ],
    ids=str,
)
def test_no_error_shows_a_value_nor_do_its_causes(arguments: dict[str, Any]) -> None:
    with pytest.raises(MemoryConfigurationError) as caught:
        resolve(**arguments)

    error: BaseException | None = caught.value
    while error is not None:
        assert "s3cret" not in str(error)
        assert "s3cret" not in repr(error.args)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("url", ["cave://a#b", "cave://a?namespace=x#b", "cave://a\n", "cave://a?namespace=\tx"])
def test_a_url_of_which_a_part_would_be_lost_is_refused(url: str) -> None:
    assert "must be percent-escaped" in message_of(url)


@pytest.mark.parametrize("url", ["cave://a?namespace=%FF", "cave://a?%FF=1"])
def test_escaped_bytes_that_are_no_text_are_refused_not_replaced(url: str) -> None:
    assert message_of(url) == "a setting in the URL is not percent-escaped UTF-8"


def test_a_url_that_cannot_be_split_is_refused() -> None:
    assert message_of("cave://[::1") == "not a URL: cave://[::1"


@pytest.mark.parametrize("url", ["memory://host", "memory:///path", "memory://u@h/p?namespace=a"])
def test_an_adapter_without_a_host_takes_none(url: str) -> None:
    with pytest.raises(MemoryConfigurationError, match="memory:// takes no host and no path"):
        MemorySettings.resolve(url, {}, prefix="X_", environ={})


@pytest.mark.parametrize("namespace", ["", "a\0b", "a\nb", "\ud83d", "x" * 201, "\u200b", None, 5])
def test_a_namespace_is_short_and_printable(namespace: Any) -> None:
    with pytest.raises(MemoryConfigurationError, match="namespace"):
        resolve(keywords={"namespace": namespace})


@pytest.mark.parametrize("namespace", ["a", "秘密", "a b/c?d#e", "x" * 200])
def test_any_short_printable_text_is_a_namespace(namespace: str) -> None:
    assert resolve(keywords={"namespace": namespace}).namespace == namespace


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        resolve().namespace = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": 'memory://?limits={"tags":2}', "keywords": {}, "environ": {}},
        {"url": "memory://", "keywords": {}, "environ": {"MEMCORE_MEMORY_LIMITS": '{"tags": 2}'}},
        {"url": "memory://", "keywords": {"limits": {"tags": 2}}, "environ": {}},
        {"url": "memory://", "keywords": {"limits": SizeLimits(tags=2)}, "environ": {}},
    ],
    ids=["url", "environment", "dict", "model"],
)
def test_size_limits_can_be_set_everywhere(arguments: dict[str, Any]) -> None:
    assert MemorySettings.resolve(prefix="MEMCORE_MEMORY_", **arguments).limits == SizeLimits(tags=2)


words = st.text("abcXYZ019.-_~", min_size=1, max_size=6)
secrets = st.text(min_size=6, max_size=20).map(lambda text: f"s3cret{text}s3cret")


@given(user=words, secret=secrets, host=words, path=words)
def test_no_password_is_ever_shown(user: str, secret: str, host: str, path: str) -> None:
    masked = mask_url(f"postgresql://{user}:{secret}@{host}/{path}")

    assert "s3cret" not in masked
    assert masked.endswith(f"@{host}/{path}")


@given(
    before=words,
    name=st.sampled_from(["password", "api_key", "TOKEN", "client-secret", "auth", "pwd", "credentials", "%74oken"]),
    secret=secrets.filter(lambda text: "&" not in text),
)
def test_no_secret_in_the_query_is_ever_shown(before: str, name: str, secret: str) -> None:
    assert "s3cret" not in mask_url(f"https://host/?before={before}&{name}={secret}&after=1")
    assert "s3cret" not in mask_url(f"https://host/#{name}={secret}")
