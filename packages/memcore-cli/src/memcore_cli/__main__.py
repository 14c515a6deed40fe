"""`python -m memcore_cli` is the `memcore` command."""

from memcore_cli.main import run

run()
