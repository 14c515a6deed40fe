"""The embedded default of memcore: agent memory in one SQLite file."""
