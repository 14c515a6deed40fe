"""Right before fast: a driver is measured only in what it answers as the workload says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memcore_conformance.bench.driver import NotOffered
from memcore_conformance.bench.workload import make_items, make_questions, matching

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore_conformance.bench.driver import Driver
    from memcore_conformance.bench.workload import Item, Question

NOT_OFFERED: Final = "not offered"
DIFFERENT: Final = "answered differently"

_ITEMS: Final = 400
_ASKED: Final = 40


async def check(driver: Driver) -> Mapping[str, str]:
    """Return the operations that are not to be measured, each with its reason; the driver must be open and empty."""
    items = make_items(_ITEMS)
    half = len(items) // 2
    await driver.put_many(items[:half])
    for item in items[half:]:
        await driver.put(item)
    faults = {} if await _gets(driver, items) else {"get": DIFFERENT}
    for name, questions in make_questions().items():
        fault = await _fault(driver, items, questions[:_ASKED])
        if fault:
            faults[name] = fault
    return faults


async def _gets(driver: Driver, items: Sequence[Item]) -> bool:
    for item in items:
        hit = await driver.get(item.id)
        if hit is None or driver.id_of(hit) != item.id:
            return False
    (absent,) = make_items(1, seed=99)
    return await driver.get(absent.id) is None


async def _fault(driver: Driver, items: Sequence[Item], questions: Sequence[Question]) -> str | None:
    for question in questions:
        try:
            hits = [driver.id_of(hit) for hit in await driver.find(question)]
        except NotOffered:
            return NOT_OFFERED
        if not _answers(hits, matching(items, question), question, ordered=driver.newest_first):
            return DIFFERENT
    return None


def _answers(hits: list[UUID], expected: list[UUID], question: Question, *, ordered: bool) -> bool:
    if ordered and not question.words:
        return hits == expected[: question.limit]
    wanted = min(question.limit, len(expected))
    return len(hits) == len(set(hits)) == wanted and set(hits) <= set(expected)
