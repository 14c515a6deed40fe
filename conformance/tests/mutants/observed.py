"""A backend that is observed is judged as the backend itself: observing changes no behaviour (E-02)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.events import RingSink, observe
from memcore_conformance.memory import MemoryHarness

from mutants import harmless

if TYPE_CHECKING:
    from memcore import Backend


@harmless
class Observed(MemoryHarness):
    """Every write and search is told to a sink."""

    async def make_backend(self, **settings: object) -> Backend:
        return observe(await super().make_backend(**settings), RingSink())
