"""Whether the `memcore` of this environment is ours: other distributions install a module of that name too."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from typing import Final

_OURS: Final = "memcore"
_MODULE: Final = re.compile(r"^memcore(/|\.py,)", re.MULTILINE)
"""The lines of a distribution's RECORD that stand for that module."""


def foreign_modules() -> list[str]:
    """Return a warning for every other distribution whose module `memcore` may stand in the way of ours."""
    others = {str(found.name) for found in distributions() if _MODULE.search(found.read_text("RECORD") or "")}
    return [
        f"{name} installs a module named {_OURS} too and may stand in its way: pip uninstall {name}, "
        f"then install {_OURS} again"
        for name in sorted(others - {_OURS})
    ]
