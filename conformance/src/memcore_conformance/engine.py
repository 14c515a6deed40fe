"""The engine: tries one case on one adapter and says how it ended, whatever the adapter does.

Every case gets a new harness in a new event loop in a thread of its own, so that a hung or blocking adapter costs its
time-out and nothing else. The engine knows neither pytest nor a command line: both are fronts on it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from memcore_conformance.claims import TO_BE_PROVEN, Claims
from memcore_conformance.expect import describe
from memcore_conformance.harness import Harness, InProcess, StoreHarness
from memcore_conformance.trial import Trial, lacking
from memcore_conformance.verdicts import Failure, Mismatch, ServiceMissing, Unproven, Verdict

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from memcore_conformance.catalogue import Case
    from memcore_conformance.harness import HarnessFactory

T = TypeVar("T")

SEED: Final = "memcore"
"""What all random material of a run starts from, together with the id of the case."""

_GRACE: Final = 5.0
"""Seconds to stop and to close in, after the time of a case is over."""
_SURVEY_SECONDS: Final = 20.0
_TASKS_END_WITHIN: Final = 0.2
_METHODS: Final = sorted(name for name in dir(Harness) if not name.startswith("_"))
_QUIET: Final = "no error in the last step"


@dataclass(frozen=True, slots=True)
class Survey:
    """What an adapter says of itself before anything is proven."""

    claims: Claims
    versions: dict[str, str]


def survey(factory: HarnessFactory) -> Survey:
    """Ask an adapter for its claims and its versions.

    Raises:
        ServiceMissing: it does not answer, so that nothing can be said about it.
    """
    answer = _in_thread(_survey(factory), seconds=_SURVEY_SECONDS)
    if isinstance(answer, Survey):
        return answer
    if isinstance(answer, ServiceMissing):
        raise answer
    msg = f"the adapter does not say what it claims: {describe(answer or TimeoutError('no answer'))}"
    raise ServiceMissing(msg) from answer


def run_case(
    case: Case, factory: HarnessFactory, claims: Claims, *, seed: str = SEED, patience: float = 1.0
) -> Verdict:
    """Try one case on a fresh harness and return its verdict; never raises what the adapter raises.

    Args:
        case: what to try.
        factory: makes the harness of the adapter.
        claims: what `survey` found.
        seed: what all random material starts from.
        patience: what every time-out is multiplied by.
    """
    missing = [name for name in case.claims if name not in claims.names]
    if missing:
        return Verdict(case=case.id, outcome="not_claimed", note=f"not claimed: {', '.join(missing)}")
    started = time.perf_counter()
    verdict = _Attempt(case, factory, claims, seed=seed, patience=patience).verdict()
    return verdict.model_copy(update={"seconds": round(time.perf_counter() - started, 4)})


class _Hung(Exception):
    """The time of a case is over."""


class _Attempt:
    """One case in one thread."""

    def __init__(self, case: Case, factory: HarnessFactory, claims: Claims, *, seed: str, patience: float) -> None:
        self._case = case
        self._factory = factory
        self._claims = claims
        self._seed = f"{seed}/{case.id}"
        self._seconds = case.seconds * patience
        self._grace = _GRACE * patience
        self._trial: Trial | None = None

    def verdict(self) -> Verdict:
        answer = _in_thread(self._judge(), seconds=self._seconds + 4 * self._grace)
        if isinstance(answer, Verdict):
            return answer
        if answer is None:
            return self._failed(expected=self._in_time(), got="still running, and it does not let itself be stopped")
        return self._failed(expected=_QUIET, got=describe(answer))

    async def _judge(self) -> Verdict:
        try:
            harness = self._factory()
        except Exception as error:  # noqa: BLE001 - whatever a foreign harness does
            return self._other("error", f"the harness cannot be made: {describe(error)}")
        without = lacking(harness, self._case.needs)
        if without:
            return self._without(", ".join(without))
        self._trial = Trial(harness, self._claims, needs=self._case.needs, seed=self._seed)
        verdict = await self._guarded(self._run(self._trial), self._seconds)
        closing = await self._guarded(_close(self._trial, harness, asyncio.current_task()), self._grace)
        return closing if verdict.outcome == "passed" else verdict

    async def _run(self, trial: Trial) -> None:
        await trial.reset()
        await self._case.function(trial)

    async def _guarded(self, work: Coroutine[object, object, None], seconds: float) -> Verdict:
        """Turn whatever the work ends in into a verdict."""
        try:
            await self._within(seconds, work)
        except Mismatch as difference:
            return self._failed(expected=difference.expected, got=difference.got)
        except Unproven as reason:
            return self._without(str(reason))
        except ServiceMissing as reason:
            return self._other("error", str(reason))
        except _Hung:
            return self._failed(expected=self._in_time(), got="still running in the last step")
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever the adapter raises
            return self._failed(expected=_QUIET, got=describe(error))
        return Verdict(case=self._case.id, outcome="passed")

    async def _within(self, seconds: float, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        if not (await asyncio.wait({task}, timeout=seconds))[0]:
            task.cancel()
            await asyncio.wait({task}, timeout=self._grace)
            raise _Hung
        task.result()

    def _without(self, what: str) -> Verdict:
        """What is claimed has to be proven; only what every adapter has to do may stay unproven, as `portable`."""
        beyond = [claim for claim in self._case.claims if claim in TO_BE_PROVEN]
        if not beyond:
            return self._other("unproven", f"the harness cannot show it: {what}")
        return self._failed(
            expected=f"a harness that can prove the claim {beyond[0]!r}: {what}",
            got="one that cannot; a claim makes its proof mandatory",
        )

    def _failed(self, *, expected: str, got: str) -> Verdict:
        done = tuple(self._trial.done) if self._trial else ()
        return Verdict(case=self._case.id, outcome="failed", failure=Failure(done=done, expected=expected, got=got))

    def _other(self, outcome: Literal["error", "unproven"], note: str) -> Verdict:
        return Verdict(case=self._case.id, outcome=outcome, note=note)

    def _in_time(self) -> str:
        return f"an end within {self._seconds:g} seconds"


async def _close(trial: Trial, harness: Harness | StoreHarness, runner: asyncio.Task[object] | None) -> None:
    try:
        await trial.close()
    finally:
        await trial.harness_does("close()", harness.close())
    left = asyncio.all_tasks() - {runner, asyncio.current_task()}
    if left:
        left = (await asyncio.wait(left, timeout=_TASKS_END_WITHIN))[1]
    if left:
        raise Mismatch(expected="no task is left after close()", got=", ".join(sorted(map(describe, left))))


async def _survey(factory: HarnessFactory) -> Survey:
    harness = factory()
    if not isinstance(harness, (Harness, StoreHarness)):
        missing = [name for name in _METHODS if not hasattr(harness, name)]
        raise ServiceMissing(f"the harness lacks {', '.join(missing)}")
    try:
        return await _ask_backend(harness) if isinstance(harness, Harness) else await _ask_store(harness)
    finally:
        await harness.close()


async def _ask_backend(harness: Harness) -> Survey:
    async with await harness.make_backend() as backend:
        capabilities = backend.capabilities
        manifest = getattr(backend.items, "manifest", None) if "items" in capabilities.contracts else None
        # as told, not checked: whether a manifest is coherent is for a case to say
        claims = Claims.model_construct(
            manifest=manifest, capabilities=capabilities, transport=not isinstance(harness, InProcess)
        )
        return Survey(claims, (await backend.ping()).versions)


async def _ask_store(harness: StoreHarness) -> Survey:
    store = await harness.make_store()
    return Survey(Claims.model_construct(manifest=store.manifest, capabilities=None, transport=True), {})


def _in_thread(work: Coroutine[object, object, T], *, seconds: float) -> T | BaseException | None:
    """Run the work in a new loop in a new thread; what it returned or raised, or `None` if it has not ended in time."""
    outcome: list[T | BaseException] = []

    def body() -> None:
        try:
            with asyncio.Runner() as runner:
                outcome.append(runner.run(work))
        except BaseException as error:  # noqa: BLE001 - the thread has nobody else to tell
            outcome.append(error)

    thread = threading.Thread(target=body, name="conformance", daemon=True)
    thread.start()
    thread.join(seconds)
    return outcome[0] if outcome else None
