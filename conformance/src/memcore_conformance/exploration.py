"""Runs a hypothesis state machine on the event loop of a case, and ends with the shortest failure that was found.

Hypothesis is synchronous: the machine runs in a thread, and what it does to the adapter runs in the loop of the case,
where every other case does it too. The examples are the same in every run.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from hypothesis import HealthCheck, Phase, Verbosity, reject, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from memcore_conformance.trial import Trial

T = TypeVar("T")

_SHRINKING: Final = 60
"""Examples that are tried to find a shorter failure."""
_LOOK: Final = 0.1
"""Seconds after which the thread looks whether the case is over meanwhile."""
_SETTINGS: Final = settings(
    max_examples=8,
    stateful_step_count=30,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
)


class Exploration:
    """Examples of one machine on one adapter."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self._loop = asyncio.get_running_loop()
        self._left: int | None = None
        self._shortest: tuple[list[str], Exception] | None = None
        self._over = False

    async def explore(self, machine: Callable[[], RuleBasedStateMachine]) -> None:
        """Try the examples; end as the shortest failing one did, with its steps."""
        try:
            kind = cast("type[RuleBasedStateMachine]", machine)  # it is called, and no more
            await asyncio.to_thread(run_state_machine_as_test, kind, settings=_SETTINGS)
        except Exception:
            if self._shortest is None:
                raise
        finally:
            self._over = True
        if self._shortest is not None:
            self.trial.done[:], error = self._shortest
            raise error

    def begin(self, work: Coroutine[Any, Any, T]) -> T:
        """Begin an example; after a failure only so many more are tried."""
        if self._left is not None:
            self._left -= 1
        if self._over or self._left == 0:
            self._over = True
            work.close()
            reject()
        return self.do(work)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Await something in the loop of the case."""
        answer = asyncio.run_coroutine_threadsafe(work, self._loop)
        while not wait({answer}, timeout=_LOOK).done:
            if self._over:
                answer.cancel()
        try:
            return answer.result()
        except Exception as error:
            self._note(error)
            raise

    def _note(self, error: Exception) -> None:
        if self._left is None:
            self._left = _SHRINKING
        if not self._over and (self._shortest is None or len(self.trial.done) < len(self._shortest[0])):
            self._shortest = list(self.trial.done), error
