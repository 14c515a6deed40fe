"""Agent memory in PostgreSQL: one server or a cluster, many machines."""
