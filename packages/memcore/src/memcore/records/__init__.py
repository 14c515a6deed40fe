"""The records contract: scoped facts that are superseded or invalidated, never overwritten (R-01 to R-22)."""
