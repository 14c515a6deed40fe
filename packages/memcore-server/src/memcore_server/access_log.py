"""The access log: one JSON line for each request, by the logger `memcore_server.access`."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any, Final

_LOGGER: Final = logging.getLogger("memcore_server.access")


def write(line: dict[str, Any]) -> None:
    """Log one request; what is not known is left out."""
    if _LOGGER.isEnabledFor(logging.INFO):
        _LOGGER.info(json.dumps({name: value for name, value in line.items() if value is not None}))


def to_stdout() -> None:
    """Send the log to standard output, as it is."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(message)s"))
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.propagate = False
