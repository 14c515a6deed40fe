"""Whether the `memcore` of this environment is ours: other distributions install a module of that name too."""

from __future__ import annotations

from importlib.metadata import packages_distributions

_MODULE = "memcore"


def foreign_modules() -> list[str]:
    """Return a warning for every other distribution whose module `memcore` may stand in the way of ours."""
    others = {name for name in packages_distributions().get(_MODULE, ()) if name != _MODULE}
    return [
        f"{name} installs a module named {_MODULE} too and may stand in its way: pip uninstall {name}, "
        f"then install {_MODULE} again"
        for name in sorted(others)
    ]
