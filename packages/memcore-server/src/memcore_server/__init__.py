"""The memory service: any memcore backend over HTTP."""
