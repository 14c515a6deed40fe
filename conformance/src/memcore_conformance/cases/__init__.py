"""The cases, one module a family; every `Case` that stands in one of them is in the catalogue."""
