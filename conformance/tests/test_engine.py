from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar

import pytest
from memcore import MemoryAdapterUnavailable, MemoryItem
from memcore_conformance import expect
from memcore_conformance.engine import survey
from memcore_conformance.memory import MemoryHarness
from memcore_conformance.verdicts import ServiceMissing
from mutants import Backend, Harness, Items
from remote import RemoteBackend, RemoteHarness

if TYPE_CHECKING:
    from uuid import UUID

    from conftest import Judge
    from memcore_conformance.trial import Trial


async def _nothing(_trial: Trial) -> None: ...


async def _store_one(trial: Trial) -> None:
    await (await trial.items()).store(trial.item())


def _memory_with(items: type[Items]) -> type[Harness]:
    backend = type("Changed", (Backend,), {"items_type": items})
    return type("ChangedHarness", (Harness,), {"backend_type": backend})


def test_a_case_that_ends_has_passed(judge: Judge) -> None:
    assert judge(_store_one).outcome == "passed"


def test_a_difference_fails_the_case_and_tells_what_was_done(judge: Judge) -> None:
    async def differ(trial: Trial) -> None:
        items = await trial.items()
        item = trial.item("tea")
        await items.store(item)
        expect.none(await items.retrieve(item.id))

    verdict = judge(differ)
    assert verdict.outcome == "failed"
    assert verdict.failure
    assert [step.split("(")[0] for step in verdict.failure.done] == [
        "harness: make_backend",
        "open",
        "store",
        "retrieve",
    ]
    assert verdict.failure.expected == "the answer is None"
    assert "content='tea'" in verdict.failure.got


def test_what_the_adapter_raises_fails_the_case(judge: Judge) -> None:
    class Raising(Items):
        async def store(self, item: MemoryItem) -> UUID:
            raise KeyError("native")

    verdict = judge(_store_one, _memory_with(Raising))
    assert verdict.outcome == "failed"
    assert verdict.failure
    assert verdict.failure.got == "KeyError: 'native'"


def test_a_stray_cancellation_fails_the_case(judge: Judge) -> None:
    class Cancelling(Items):
        async def store(self, item: MemoryItem) -> UUID:
            raise asyncio.CancelledError

    assert judge(_store_one, _memory_with(Cancelling)).outcome == "failed"


def test_an_adapter_that_hangs_has_failed(judge: Judge) -> None:
    class Hanging(Items):
        async def store(self, item: MemoryItem) -> UUID:
            await asyncio.Event().wait()
            return item.id

    verdict = judge(_store_one, _memory_with(Hanging), patience=0.005)
    assert verdict.outcome == "failed"
    assert verdict.failure
    assert verdict.failure.expected == "an end within 0.1 seconds"


def test_an_adapter_that_blocks_its_thread_has_failed_and_does_not_hang_the_suite(judge: Judge) -> None:
    class Blocking(Items):
        async def store(self, item: MemoryItem) -> UUID:
            time.sleep(1)  # noqa: ASYNC251 - blocking is its fault
            return item.id

    verdict = judge(_store_one, _memory_with(Blocking), patience=0.005)
    assert verdict.failure
    assert "does not let itself be stopped" in verdict.failure.got


def test_a_task_that_is_left_behind_fails_the_case(judge: Judge) -> None:
    class Littering(Items):
        async def store(self, item: MemoryItem) -> UUID:
            self.task = asyncio.ensure_future(asyncio.sleep(60))
            return item.id

    verdict = judge(_store_one, _memory_with(Littering))
    assert verdict.failure
    assert verdict.failure.expected == "no task is left after close()"


def test_what_a_case_opened_is_closed_after_a_failure_too(judge: Judge) -> None:
    closed: list[str] = []

    class Telling(Backend):
        async def close(self) -> None:
            closed.append("backend")
            await super().close()

    class TellingHarness(Harness):
        backend_type = Telling

        async def close(self) -> None:
            closed.append("harness")

    async def fail(trial: Trial) -> None:
        await trial.backend()
        await trial.backend()
        closed.clear()
        raise ValueError

    judge(fail, TellingHarness)
    assert closed == ["backend", "backend", "harness"]


def test_a_backend_that_fails_to_close_fails_the_case(judge: Judge) -> None:
    class Stuck(Backend):
        async def close(self) -> None:
            raise OSError("busy")

    async def only_open(trial: Trial) -> None:
        trial._harness.backend_type = Stuck  # type: ignore[union-attr]
        await trial.backend()

    verdict = judge(only_open, type("StuckHarness", (Harness,), {}))
    assert verdict.failure
    assert verdict.failure.got == "OSError: busy"


def test_a_harness_that_fails_is_an_error_and_says_nothing_of_the_adapter(judge: Judge) -> None:
    class Broken(MemoryHarness):
        async def make_search_index_visible(self) -> None:
            raise ConnectionError("no service")

    async def show(trial: Trial) -> None:
        await trial.show_index()

    verdict = judge(show, Broken)
    assert verdict.outcome == "error"
    assert "ConnectionError: no service" in str(verdict.note)


def test_a_service_that_cannot_be_reached_is_an_error_and_never_skipped(judge: Judge) -> None:
    class Down(Backend):
        async def open(self) -> None:
            raise MemoryAdapterUnavailable("nobody listens")

    async def open_one(trial: Trial) -> None:
        trial._harness.backend_type = Down  # type: ignore[union-attr]
        await trial.backend()

    assert judge(open_one, type("DownHarness", (Harness,), {})).outcome == "error"


def test_an_adapter_that_does_not_even_open_cannot_be_surveyed() -> None:
    class Down(RemoteBackend):
        async def open(self) -> None:
            raise MemoryAdapterUnavailable("nobody listens")

    with pytest.raises(ServiceMissing, match="nobody listens"):
        survey(type("DownHarness", (RemoteHarness,), {"backend_type": Down}))


def test_what_is_not_claimed_is_not_tried(judge: Judge) -> None:
    verdict = judge(_nothing, claims=("items", "durable", "shared"))
    assert (verdict.outcome, verdict.note) == ("not_claimed", "not claimed: durable, shared")


def test_what_every_adapter_does_is_unproven_without_the_faculty(judge: Judge) -> None:
    assert judge(_nothing, needs=("faults",)).outcome == "unproven"


def test_a_claim_makes_the_faculty_that_proves_it_mandatory(judge: Judge) -> None:
    verdict = judge(_nothing, claims=("items", "managed"), needs=("faults",))
    assert verdict.outcome == "failed"
    assert verdict.failure
    assert "'managed'" in verdict.failure.expected


def test_a_fault_that_a_harness_does_not_know_is_unproven(judge: Judge) -> None:
    async def ask(trial: Trial) -> None:
        raise trial.unproven("the fault denied")

    assert judge(ask).outcome == "unproven"


def test_a_case_uses_only_the_faculties_that_it_declares(judge: Judge) -> None:
    async def use(trial: Trial) -> None:
        trial.faults.calls()

    verdict = judge(use, RemoteHarness)
    assert verdict.failure
    assert "does not declare that it needs 'faults'" in verdict.failure.got


def test_a_fault_that_no_longer_bites_fails_the_cases_about_it(judge: Judge) -> None:
    class Toothless(RemoteHarness):
        async def make_transport_unavailable(self) -> None: ...

        def fail_next(self, fault: object) -> None: ...

    failed = {case: judge(case, Toothless).outcome for case in ("I-70a", "I-70b", "I-70c", "I-71a", "I-43c")}
    assert set(failed.values()) == {"failed"}


def test_random_material_is_the_same_in_every_run(judge: Judge) -> None:
    seen: list[UUID] = []

    async def draw(trial: Trial) -> None:
        seen.append(trial.item().id)

    judge(draw)
    judge(draw)
    assert seen[0] == seen[1]


def test_every_case_starts_on_a_harness_of_its_own(judge: Judge) -> None:
    class Counting(MemoryHarness):
        made: ClassVar[list[str]] = []

        def __init__(self) -> None:
            super().__init__()
            self.made.append("made")

        async def reset(self) -> None:
            self.made.append("reset")

    judge(_nothing, Counting)
    assert Counting.made[-2:] == ["made", "reset"]
