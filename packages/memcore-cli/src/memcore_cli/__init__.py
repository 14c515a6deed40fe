"""The `memcore` command."""
