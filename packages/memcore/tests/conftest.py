"""What the tests of the core share: an open `memory://` backend, an environment without our variables, no deadlines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import memcore
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memcore import Backend
    from memcore.items.in_memory import InMemoryItems
    from memcore.records.in_memory import InMemoryRecords

# A shared machine is slow at times, and no test is about time; every run takes new examples.
settings.register_profile("memcore", deadline=None, max_examples=60)
settings.load_profile("memcore")


@pytest.fixture(autouse=True)
def _no_variables_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MEMCORE_"):
            monkeypatch.delenv(name)


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memcore.connect("memory://") as opened:
        yield opened


@pytest.fixture
def items(backend: Backend) -> InMemoryItems:
    return backend.items  # type: ignore[return-value]


@pytest.fixture
def records(backend: Backend) -> InMemoryRecords:
    return backend.records  # type: ignore[return-value]
