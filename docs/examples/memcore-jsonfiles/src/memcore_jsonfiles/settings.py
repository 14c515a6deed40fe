"""Settings of `jsonfiles://`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote

from memcore import AdapterSettings, MemoryConfigurationError, SizeLimits
from pydantic import AfterValidator

if TYPE_CHECKING:
    from urllib.parse import SplitResult


class JsonFilesSettings(AdapterSettings):
    """Where the folder is, and what is refused as too large."""

    folder: Annotated[Path, AfterValidator(Path.absolute)]
    limits: SizeLimits = SizeLimits()

    @classmethod
    def parse_url(cls, parts: SplitResult) -> dict[str, Any]:
        """Return the folder: `jsonfiles:///relative`, `jsonfiles:////absolute`."""
        if parts.netloc:
            msg = f"jsonfiles:// takes no host; a folder in the working directory is jsonfiles:///{parts.netloc}"
            raise MemoryConfigurationError(msg)
        path = unquote(parts.path[1:])
        return {"folder": path} if path else {}
