"""Settings of `http://` and `https://`, from keywords, URL and environment (`MEMCORE_HTTP_…`)."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

from memcore.errors import MemoryConfigurationError
from memcore.items.payload import SizeLimits
from memcore.settings import AdapterSettings
from pydantic import AfterValidator, Field, SecretStr

if TYPE_CHECKING:
    from urllib.parse import SplitResult

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_HOST: Final = re.compile(r"\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+")


def _check_base_url(text: str) -> str:
    """Return the URL without a slash at its end; what is appended to it starts with one."""
    with suppress(ValueError):  # a port that is none
        parts = urlsplit(text)
        host = parts.netloc.removesuffix(f":{parts.port}")
        if parts.scheme in {"http", "https"} and _HOST.fullmatch(host) and not parts.query and not parts.fragment:
            return text.rstrip("/")
    msg = "must be http://host:port/prefix or https://host:port/prefix, port and prefix being optional"
    raise ValueError(msg)


def _check_token(token: SecretStr) -> SecretStr:
    if not _TOKEN.fullmatch(token.get_secret_value()):
        msg = "must be letters, digits and . _ ~ + / - alone, as bearer tokens are"
        raise ValueError(msg)
    return token


def _check_client(client: object) -> object:
    if client is not None:
        from httpx import AsyncClient  # noqa: PLC0415 - not loaded where nobody brings a client

        if not isinstance(client, AsyncClient):
            msg = "must be an httpx.AsyncClient"
            raise ValueError(msg)
    return client


class HttpSettings(AdapterSettings):
    """Settings of `http://host:port/prefix` and `https://host:port/prefix`."""

    base_url: Annotated[str, AfterValidator(_check_base_url)] = "http://127.0.0.1:8420"
    """Where the service is; the URL that `connect()` is given says it."""

    token: Annotated[SecretStr, AfterValidator(_check_token)] | None = None
    """The bearer token; best given by `MEMCORE_HTTP_TOKEN`, never as `user:password@` in a URL."""

    connect_timeout: float = Field(default=5.0, gt=0, le=3600)
    """Seconds to make a connection, TLS included: a service that is there answers in one."""

    read_timeout: float = Field(default=30.0, gt=0, le=3600)
    """Seconds to wait for the next part of an answer: longer than the 25 that the service gives itself for a request,
    so that its own error arrives first."""

    write_timeout: float = Field(default=30.0, gt=0, le=3600)
    """Seconds to wait until the network takes the next part of a request."""

    pool_timeout: float = Field(default=30.0, gt=0, le=3600)
    """Seconds to wait for a connection while all are in use: as long as the slowest call may hold one."""

    max_connections: int = Field(default=32, ge=1, le=1000)
    """Connections at most, far below what a service takes (512 requests at once); further calls wait for one."""

    idle_lifetime: float = Field(default=30.0, ge=0, le=3600)
    """Seconds after which an unused connection is closed: before the service (75) or a proxy (60 and more) does it,
    which would be seen only when the next write has been sent."""

    retries: int = Field(default=2, ge=0, le=20)
    """How often a call that failed in passing is made again: reads and erasures always, other writes only where it is
    certain that they did not begin. Not after an answer that is wrong or refuses."""

    retry_wait: float = Field(default=0.2, ge=0, le=60)
    """Seconds before the first retry; doubled for each further one, of random length between half and all of it."""

    longest_wait: float = Field(default=10.0, ge=0, le=3600)
    """Seconds that one wait lasts at most, whatever `Retry-After` asks for."""

    max_response_bytes: int = Field(default=134_217_728, ge=1024)
    """Bytes of one answer; more is refused. The largest item takes 70 MB, 500 usual ones less than 1 MB."""

    limits: SizeLimits = SizeLimits()
    """What is refused as too large, besides what the service says that it refuses (I-45)."""

    client: Annotated[Any, AfterValidator(_check_client)] = Field(default=None, repr=False)
    """An `httpx.AsyncClient` to use instead of an own one; it is never closed here. Its connections, proxies and TLS
    are as it was made; the timeouts are these."""

    @classmethod
    def parse_url(cls, parts: SplitResult) -> dict[str, Any]:
        """Return the base URL.

        Raises:
            MemoryConfigurationError: credentials stand in it.
        """
        if "@" in parts.netloc:
            msg = "credentials do not belong in a URL, which is logged: give the setting token, or MEMCORE_HTTP_TOKEN"
            raise MemoryConfigurationError(msg)
        return {"base_url": f"{parts.scheme}://{parts.netloc}{parts.path}"}
