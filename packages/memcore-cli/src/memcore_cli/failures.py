"""What goes wrong, told in two lines on stderr: what, and what to do; with an exit code, without a secret."""

from __future__ import annotations

import os
import re
import sys
import traceback
from typing import TYPE_CHECKING, Final

import typer
from memcore.errors import (
    MalformedMemoryPayload,
    MemcoreError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    MemoryNotFound,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore.settings import mask_url, url_secrets

from memcore_cli.exit_codes import ExitCode
from memcore_cli.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ERRORS: Final[tuple[tuple[type[BaseException], ExitCode, str], ...]] = (
    (MemoryAdapterUnavailable, ExitCode.UNAVAILABLE, "mend that, or wait, and run the command again"),
    (MalformedMemoryPayload, ExitCode.MALFORMED, "look whether the URL is right, or restore the store from a copy"),
    (UnsupportedMemoryItem, ExitCode.REFUSED, "change that part; nothing was stored"),
    (UnsupportedMemoryQuery, ExitCode.REFUSED, "change that part; `memcore manifest URL` shows which filters it takes"),
    (
        MemoryConfigurationError,
        ExitCode.CONFIGURATION,
        "`memcore adapters` lists what is installed, `memcore manifest URL` what a store offers",
    ),
    (MemoryNotFound, ExitCode.FAILED, "`memcore records search URL --include-invalidated` shows what is there"),
    (MemcoreError, ExitCode.FAILED, "`memcore ping URL` shows the state of the store"),
    (OSError, ExitCode.FAILED, "look at the file, its folder and their permissions"),
    (EOFError, ExitCode.FAILED, "the input ended too early"),
)
_SECRET_VARIABLE: Final = re.compile("^MEMCORE_.*(PASSWORD|SECRET|TOKEN|KEY|AUTH)", re.IGNORECASE)
_MASK: Final = "***"


class CommandFailed(Exception):
    """A command cannot do what it was asked, for a reason of its own."""

    def __init__(self, what: str, *, advice: str, code: ExitCode = ExitCode.FAILED) -> None:
        self.what = what
        self.advice = advice
        self.code = code
        super().__init__(what)


def explain(error: BaseException) -> CommandFailed:
    """Return the failure that an error means for the user."""
    if isinstance(error, CommandFailed):
        return error
    if isinstance(error, typer.TyperException):
        return _misused(error)
    if isinstance(error, OSError) and error.filename is not None:
        what = f"{os.fsdecode(error.filename)}: {error.strerror}"
    else:
        what = str(error) or type(error).__name__
    for kind, code, advice in _ERRORS:
        if isinstance(error, kind):
            return CommandFailed(what, advice=advice, code=code)
    what = f"unexpected {type(error).__name__}: {what}"
    return CommandFailed(what, advice="repeat it with --debug and report what it shows")


def tell_failure(error: BaseException, *, debug: bool, arguments: Iterable[str]) -> ExitCode:
    """Write an error to stderr, its trace too if asked for, and return the exit code."""
    failure = explain(error)
    secrets = _Secrets(arguments, os.environ)
    if debug:
        trace = "".join(traceback.format_exception(error))
        sys.stderr.write(printable(secrets.hide(trace), keep="\n"))
    what, advice = (printable(" ".join(secrets.hide(text).split())) for text in (failure.what, failure.advice))
    sys.stderr.write(f"memcore: {what}\n  try: {advice}\n")
    return failure.code


def _misused(error: typer.TyperException) -> CommandFailed:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "memcore"
    text = error.format_message().rstrip(".")
    return CommandFailed(text[:1].lower() + text[1:], advice=f"{command} --help", code=ExitCode.USAGE)


class _Secrets:
    """The secrets that this process was given, and their removal from any text."""

    def __init__(self, arguments: Iterable[str], environment: Mapping[str, str]) -> None:
        variables = {name: value for name, value in environment.items() if name.startswith("MEMCORE_")}
        urls = [text for text in (*arguments, *variables.values()) if "://" in text or "@" in text]
        hidden = {url: mask_url(url) for url in urls}
        hidden |= {secret: _MASK for url in urls for secret in url_secrets(url)}
        hidden |= {value: _MASK for name, value in variables.items() if value and _SECRET_VARIABLE.match(name)}
        self._hidden = sorted(hidden.items(), key=lambda pair: -len(pair[0]))

    def hide(self, text: str) -> str:
        for secret, mask in self._hidden:
            for written in (secret, repr(secret)[1:-1]):
                text = text.replace(written, mask)
        return text
