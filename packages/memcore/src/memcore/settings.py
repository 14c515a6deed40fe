"""Settings of an adapter: one pydantic model each, from keywords, URL and environment, in that order of rank."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from memcore.errors import MemoryConfigurationError
from memcore.items.payload import SizeLimits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

Clock = Callable[[], datetime]
_SECRET_NAME: Final = re.compile("pass|pwd|secret|token|key|auth|credential", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"^((?:[^:/?#@]*://)?+[^:/?#@]*:)(.+)@", re.DOTALL)
_QUERY_ENTRY: Final = re.compile(r"([?&#][^=&]*=)([^&]*)")
_MASK: Final = "***"


def _well_formed(text: str) -> str:
    if not text.isprintable():
        msg = "must hold printable characters only"
        raise ValueError(msg)
    return text


class AdapterSettings(BaseModel):
    """What every adapter can be told; an adapter subclasses it and adds its own fields."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    namespace: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_well_formed)] = "default"
    """The part of the store that this backend sees, fixed for its life (B-04)."""

    @classmethod
    def parse_url(cls, parts: SplitResult) -> dict[str, Any]:
        """Return the fields that stand in the URL before its query.

        Raises:
            MemoryConfigurationError: the URL has a part that this adapter does not take.
        """
        if parts.netloc or parts.path:
            msg = f"{parts.scheme}:// takes no host and no path"
            raise MemoryConfigurationError(msg)
        return {}

    @classmethod
    def resolve(cls, url: str, keywords: Mapping[str, Any], *, prefix: str, environ: Mapping[str, str]) -> Self:
        """Build the settings of one backend.

        Args:
            url: what `connect()` was given; its query holds settings by name.
            keywords: settings by name; they outrank the URL, and the URL the environment.
            prefix: what the names of environment variables start with, such as `MEMCORE_SQLITE_`.
            environ: the environment.

        Raises:
            MemoryConfigurationError: it is no URL, names a setting twice, or a setting is unknown or bad; the message
                names the setting and those that are accepted, and never a value.
        """
        parts = _split(url)
        values: dict[str, Any] = {}
        for name, text in environ.items():
            if name.startswith(prefix):
                values[cls._known(name.removeprefix(prefix).lower(), f"environment variable {name}")] = text
        values.update(cls._of_url(parts))
        for name, value in keywords.items():
            values[cls._known(name, f"setting {name!r}")] = value
        return cls._validated(values)

    @classmethod
    def _of_url(cls, parts: SplitResult) -> dict[str, Any]:
        values = cls.parse_url(parts)
        given = {name for name, value in values.items() if value}
        for name, text in _entries(parts.query):
            if cls._known(name, f"setting {name!r} in the URL") in given:
                raise MemoryConfigurationError(f"setting {name!r} stands twice in the URL")
            given.add(name)
            values[name] = text
        return values

    @classmethod
    def _known(cls, name: str, what: str) -> str:
        if name not in cls._names():
            raise MemoryConfigurationError(f"unknown {what}; {cls._accepted()}")
        return name

    @classmethod
    def _accepted(cls) -> str:
        return "accepted settings: " + ", ".join(cls._names())

    @classmethod
    def _names(cls) -> list[str]:
        """Return what the settings are called: by an alias where pydantic needs the plain name for itself."""
        return sorted(field.alias or name for name, field in cls.model_fields.items())

    @classmethod
    def _validated(cls, values: Mapping[str, Any]) -> Self:
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False, include_context=False)
        texts = [
            f"{'.'.join(map(str, fault['loc'])) or 'settings'}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in faults
        ]
        # not chained: the cause shows the values
        raise MemoryConfigurationError(f"bad setting: {'; '.join(texts)}; {cls._accepted()}")


class StoreSettings(AdapterSettings):
    """What every adapter can be told that keeps items and records itself."""

    limits: SizeLimits = SizeLimits()
    """How large an item or a record may be (I-45); of a record, `metadata` bounds payload and target."""
    clock: Clock | None = None
    """Tells the time of records, aware, in place of the store's own clock; for tests (R-18)."""
    long_after: int = Field(default=2, gt=0)
    """Hits at which a record of tier `short` becomes `long` (R-21)."""
    permanent_after: int = Field(default=5, gt=0)
    """Hits at which one of tier `long` becomes `permanent`."""


class MemorySettings(StoreSettings):
    """Settings of `memory://`."""


def mask_url(url: str) -> str:
    """Return the URL with every password and secret replaced, fit for messages and logs.

    Nothing is parsed: a URL that is wrong, such as one with a `/` in its password, is masked too.
    """
    return _QUERY_ENTRY.sub(_masked_entry, _PASSWORD.sub(rf"\1{_MASK}@", url))


def url_secrets(url: str) -> list[str]:
    """Return every password and secret that stands in the URL, as written and as it reads without percent signs."""
    found = [match[2] for match in _PASSWORD.finditer(url)]
    found += [entry[2] for entry in _QUERY_ENTRY.finditer(url) if _is_secret(entry)]
    return [text for secret in found for text in dict.fromkeys((secret, unquote(secret))) if text]


def _masked_entry(entry: re.Match[str]) -> str:
    return entry[1] + _MASK if _is_secret(entry) else entry[0]


def _is_secret(entry: re.Match[str]) -> bool:
    return _SECRET_NAME.search(unquote(entry[1])) is not None


def _split(url: str) -> SplitResult:
    """Split a URL; `urlsplit` alone would drop line breaks and set aside what follows a `#` without a word."""
    if "#" in url or not url.isprintable():
        msg = f"'#' and unprintable characters must be percent-escaped in a URL: {mask_url(url)!a}"
        raise MemoryConfigurationError(msg)
    with suppress(ValueError):  # not chained: its text shows the password
        return urlsplit(url)
    raise MemoryConfigurationError(f"not a URL: {mask_url(url)}")


def _entries(query: str) -> list[tuple[str, str]]:
    with suppress(ValueError):  # not chained: it holds the value
        return parse_qsl(query, keep_blank_values=True, errors="strict")
    raise MemoryConfigurationError("a setting in the URL is not percent-escaped UTF-8")
