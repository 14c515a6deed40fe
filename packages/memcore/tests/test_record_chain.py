"""Chains of rows: the pure decisions, against naive models of them (R-12, R-14, R-16, R-20, R-21)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import Invalidation, MemoryConflict, MemoryWrite, SizeLimits, SweepPolicy
from memcore.records.chain import Link, Thresholds, apply, component, heirs, idle_bounds, refreshed, shown, touched
from memcore.records.rows import FIRST_TIME, LAST_TIME, RecordRow, encode_changes

NOW = 1_000
IDS = [UUID(int=number) for number in range(8)]


def row(number: int, **changed: Any) -> RecordRow:
    plain = RecordRow(IDS[number], '{"scope":{},"content":"tea"}', "fact", number, number, None, None, None)
    return plain._replace(**changed)


@st.composite
def chains(draw: st.DrawFn) -> dict[UUID, RecordRow]:
    """Rows of which each may be superseded by a later one, and each may have expired."""
    rows = {}
    for number in range(len(IDS)):
        successor = draw(st.none() | st.sampled_from(IDS[number + 1 :])) if number + 1 < len(IDS) else None
        expires_at = draw(st.sampled_from([None, NOW, NOW + 1]))
        invalid_at = None if successor is None else number
        rows[IDS[number]] = row(number, superseded_by=successor, invalid_at=invalid_at, expires_at=expires_at)
    return rows


@given(chains())
def test_what_is_shown_is_what_a_sweep_would_leave(rows: dict[UUID, RecordRow]) -> None:
    links: dict[UUID, Link | None] = {key: Link(each.superseded_by, each.expires_at) for key, each in rows.items()}
    erased = {key: each.superseded_by for key, each in rows.items() if each.is_expired(NOW)}
    successors = heirs(erased)
    for each in rows.values():
        if not each.is_expired(NOW):
            mended = successors.get(each.superseded_by, each.superseded_by) if each.superseded_by else None
            assert shown(each, links, NOW).superseded_by == mended


@given(chains(), st.sampled_from(IDS))
def test_a_history_is_the_same_before_and_after_a_sweep(rows: dict[UUID, RecordRow], start: UUID) -> None:
    erased = {key: each.superseded_by for key, each in rows.items() if each.is_expired(NOW)}
    successors = heirs(erased)
    left = [
        each._replace(superseded_by=successors.get(each.superseded_by, each.superseded_by))  # type: ignore[arg-type]
        for each in rows.values()
        if each.id not in erased
    ]
    assert component(start, rows.values(), NOW) == component(start, left, NOW)


def test_heirs_of_a_circle_end() -> None:
    assert heirs({IDS[0]: IDS[1], IDS[1]: IDS[0]}) == {IDS[0]: None, IDS[1]: None}


def test_a_time_never_lies_behind_that_of_a_predecessor() -> None:
    (change,) = encode_changes([MemoryWrite(content="tea", supersedes=[IDS[0]])], SizeLimits())
    old = row(0, updated_at=NOW + 50)
    outcome = apply([change], {old.id: old}, NOW)

    assert [outcome.changed[0].invalid_at, outcome.answer[0].created_at] == [NOW + 51, NOW + 51]


def test_a_time_stays_within_the_calendar() -> None:
    (change,) = encode_changes([Invalidation(id=IDS[0])], SizeLimits())
    old = row(0, created_at=LAST_TIME, updated_at=LAST_TIME)

    assert apply([change], {old.id: old}, NOW).changed[0].invalid_at == LAST_TIME


def test_two_different_writes_of_one_id_in_a_call_conflict_with_nothing_that_is_stored() -> None:
    changes = encode_changes([MemoryWrite(id=IDS[0], content=text) for text in ("tea", "milk")], SizeLimits())

    with pytest.raises(MemoryConflict) as caught:
        apply(changes, {}, NOW)
    assert caught.value.current is None


@pytest.mark.parametrize(
    ("tier", "hits", "after"),
    [("short", 0, "short"), ("short", 1, "long"), ("long", 3, "long"), ("long", 4, "permanent"), (None, 9, None)],
)
def test_a_use_raises_a_tier_at_its_threshold(tier: Any, hits: int, after: Any) -> None:
    assert touched(row(0, tier=tier, hits=hits), NOW, Thresholds(2, 5)).tier == after


@pytest.mark.parametrize(
    ("tier", "asked", "after"),
    [("long", "short", "long"), ("short", "permanent", "permanent"), (None, "long", None), ("long", None, "long")],
)
def test_a_refresh_never_lowers_a_tier_and_gives_none(tier: Any, asked: Any, after: Any) -> None:
    assert refreshed(row(0, tier=tier), NOW, asked).tier == after


def test_the_idle_bounds_of_a_policy_stay_within_the_calendar() -> None:
    policy = SweepPolicy.model_validate({"short_idle": "P999999999D"})

    assert idle_bounds(policy, NOW)["short"] == FIRST_TIME
