"""What the service allows itself and its clients, with reasons."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ServiceLimits(BaseModel, frozen=True, extra="forbid"):
    """Bounds on requests; over one of them a request is refused before anything is done."""

    request_bytes: int = Field(default=67_108_864, ge=1024)
    """Bytes of a request's body: the largest item that the usual limits allow takes half of it."""

    request_seconds: float = Field(default=25.0, gt=0)
    """Seconds from the head of a request to its answer: below the 30 that a client waits by default."""

    requests: int = Field(default=512, ge=1)
    """Requests at once; a further one is told to come back in a second."""

    namespaces: int = Field(default=64, ge=1)
    """Namespaces in use, each with a backend of its own that is kept until the service ends."""
