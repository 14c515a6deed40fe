"""Settings of `sqlite://`, from keywords, URL and environment (`MEMCORE_SQLITE_…`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote, unquote_to_bytes

from memcore.errors import MemoryConfigurationError
from memcore.settings import StoreSettings
from pydantic import BeforeValidator, Field

if TYPE_CHECKING:
    from urllib.parse import SplitResult


def _locate(value: object) -> object:
    """Return the absolute path, so that a later change of the working directory changes nothing."""
    if value is None or value == ":memory:" or not isinstance(value, (str, os.PathLike)):
        return None if value == ":memory:" else value
    text = os.fsdecode(value)
    if not text or "\0" in text:
        msg = "names no file"
        raise ValueError(msg)
    return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 - the pathlib ones fail without a home


class SqliteSettings(StoreSettings):
    """Settings of `sqlite://`."""

    path: Annotated[Path | None, BeforeValidator(_locate)] = None
    """The file, `~` expanded and made absolute at once; `None` or `:memory:` is in memory, gone when it closes."""

    synchronous: Literal["full", "normal"] = "full"
    """`full` survives power loss; `normal` saves the flush of each commit and may lose the last ones to a power loss.

    Either way nothing acknowledged is lost when the process dies, and the file stays sound.
    """

    busy_timeout: float = Field(default=30.0, ge=0, le=3600)
    """Seconds that a call waits for another process's lock, then `MemoryAdapterUnavailable`.

    Every lock but those of `purge`, of a close after records were erased and of a large `delete_where` is held for
    milliseconds, so that a wait this long means that some process hangs, or the disk while it flushes a commit.
    """

    readers: int = Field(default=2, ge=1, le=64)
    """Connections for text searches and other long reads, each with its own thread; one more serves short reads.

    SQLite searches outside Python's lock: as many searches run at once as there are readers and cores.
    """

    @property
    def url(self) -> str:
        """The URL of the same file, for messages."""
        return f"sqlite:///{quote(os.fsencode(self.path))}" if self.path else "sqlite://"

    @classmethod
    def parse_url(cls, parts: SplitResult) -> dict[str, Any]:
        """Return the path: `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://` in memory.

        Raises:
            MemoryConfigurationError: the URL names a host.
        """
        if parts.netloc:
            msg = f"sqlite:// takes no host; a file in the working directory is sqlite:///{parts.netloc}"
            raise MemoryConfigurationError(msg)
        if not parts.path:
            return {"path": None}
        return {"path": os.fsdecode(unquote_to_bytes(os.fsencode(parts.path[1:])))}
