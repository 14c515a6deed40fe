"""Agent memory behind HTTP: the client of the memory service, and the protocol that both ends share."""
