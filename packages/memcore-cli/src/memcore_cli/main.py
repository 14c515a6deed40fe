"""The entry point of the `memcore` command: light, so that even a wrong `memcore` beside it is told clearly."""

from __future__ import annotations

import sys
from typing import NoReturn

from memcore_cli.exit_codes import ExitCode


def run() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    try:
        from memcore_cli.app import main  # noqa: PLC0415 - fails when another module named memcore is in the way
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "memcore":
            raise
        sys.stderr.write(_foreign(sys.modules.get("memcore")))
        sys.exit(ExitCode.CONFIGURATION)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    sys.exit(main(sys.argv[1:]))


def _foreign(module: object) -> str:
    place = getattr(module, "__file__", None) or "nowhere on the path of this Python"
    return (
        f"memcore: the module 'memcore' that was found is not ours: {ascii(str(place))[1:-1]}\n"
        "  try: uninstall or rename it, then install memcore-cli and its local siblings again, in one command\n"
    )
