"""What the tests of the suite share: adapters and cases to be judged with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memcore_conformance.catalogue import Case, catalogue
from memcore_conformance.engine import run_case, survey
from memcore_conformance.memory import MemoryHarness

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memcore_conformance.harness import HarnessFactory
    from memcore_conformance.trial import Trial
    from memcore_conformance.verdicts import Verdict

    Judge = Callable[..., Verdict]

pytest_plugins = ["pytester"]


@pytest.fixture
def judge() -> Judge:
    """Try a function as a case, or a case by its id, on an adapter."""

    def try_case(
        case: str | Callable[[Trial], Awaitable[None]],
        factory: HarnessFactory = MemoryHarness,
        *,
        patience: float = 1.0,
        **declared: object,
    ) -> Verdict:
        part = (
            catalogue()[case] if isinstance(case, str) else Case(id="I-43a", title="tried", function=case, **declared)
        )
        return run_case(part, factory, survey(factory).claims, patience=patience)

    return try_case
