"""Agent memory that you can swap, and prove: the contracts, an in-memory backend, discovery and the adapter kit."""
