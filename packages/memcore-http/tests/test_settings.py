"""Where the service is, and who asks: told plainly when it is wrong, and never shown when it is secret."""

from __future__ import annotations

import traceback
from typing import Any

import memcore
import pytest
from memcore import MemoryConfigurationError
from memcore_http.backend import HttpBackend

SECRET = "hunter2-live"


def settings_of(url: str, **keywords: Any) -> Any:
    backend = memcore.connect(url, **keywords)
    assert isinstance(backend, HttpBackend)
    return backend._settings


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://host", "http://host"),
        ("https://host:8443/", "https://host:8443"),
        ("http://[::1]:80/a/b/?retries=1", "http://[::1]:80/a/b"),
        ("HTTP://Host/a", "http://Host/a"),
    ],
)
def test_the_url_says_where_the_service_is(url: str, base: str) -> None:
    assert settings_of(url).base_url == base


@pytest.mark.parametrize("url", ["http://", "http:///path", "http://host:port", "http://host:99999", "http://::1"])
def test_a_url_without_a_usable_host_is_refused(url: str) -> None:
    with pytest.raises(MemoryConfigurationError, match="http://host:port"):
        memcore.connect(url)


@pytest.mark.parametrize("url", [f"https://{SECRET}@host", f"https://bob:{SECRET}@host/x"])
def test_credentials_in_the_url_are_refused_without_showing_them(url: str) -> None:
    with pytest.raises(MemoryConfigurationError, match="MEMCORE_HTTP_TOKEN") as caught:
        memcore.connect(url)
    assert SECRET not in "".join(traceback.format_exception(caught.value, limit=0))


def test_the_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCORE_HTTP_TOKEN", SECRET)
    assert settings_of("http://host").token.get_secret_value() == SECRET


@pytest.mark.parametrize("token", ["", "two words", f"{SECRET}\r\nx: y", "caf\xe9"])
def test_a_token_that_no_header_can_carry_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(MemoryConfigurationError, match="token") as caught:
        memcore.connect("http://host", token=token)
    assert SECRET not in str(caught.value)


def test_no_token_is_shown() -> None:
    backend = memcore.connect("http://host", token=SECRET)
    assert SECRET not in repr(backend) + repr(settings_of("http://host", token=SECRET))


def test_a_client_must_be_one_of_httpx() -> None:
    with pytest.raises(MemoryConfigurationError, match=r"client: .*httpx"):
        memcore.connect("http://host", client="http")


async def test_certificates_are_verified_and_redirects_are_not_followed() -> None:
    backend = memcore.connect("https://host")
    client = backend._transport._make_client()  # type: ignore[attr-defined]
    context = client._transport._pool._ssl_context  # type: ignore[attr-defined]
    assert (context.check_hostname, context.verify_mode.name) == (True, "CERT_REQUIRED")
    assert client.follow_redirects is False
    await client.aclose()
