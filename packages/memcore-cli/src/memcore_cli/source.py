"""Where commands read from: standard input or a file, as bytes, whatever the locale."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memcore_cli.exit_codes import ExitCode
from memcore_cli.failures import CommandFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


def read_text() -> str:
    """Return standard input as UTF-8 text, without one line end at its end.

    Raises:
        CommandFailed: it is not UTF-8, or closed.
    """
    with opened("-") as (source, _size):
        data = source.read().removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"standard input is not UTF-8 at byte {error.start + 1}"
        raise CommandFailed(what, advice="convert it, with iconv for example", code=ExitCode.REFUSED) from None
    return text.removesuffix("\n").removesuffix("\r")


@contextmanager
def opened(name: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a file, or standard input if the name is `-`; yield it with its size, if that is known.

    Raises:
        OSError: it cannot be read.
        CommandFailed: standard input is closed.
    """
    if name == "-":
        if sys.stdin is None:
            raise CommandFailed("standard input is closed", advice="name a file", code=ExitCode.USAGE)
        yield sys.stdin.buffer, None
        return
    with Path(name).open("rb") as source:
        status = os.fstat(source.fileno())
        yield source, status.st_size if stat.S_ISREG(status.st_mode) else None
