"""The suite that judges any memcore adapter, clause by clause."""
