"""The clock of tests (R-18)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memcore.records.clock import StillClock

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_a_still_clock_stands_until_it_is_moved_to_the_microsecond() -> None:
    clock = StillClock(NOON)
    assert clock() == clock() == NOON
    clock.advance(604_799.999999)
    assert clock() == NOON + timedelta(days=7) - timedelta(microseconds=1)
    clock.advance(-604_799.999999)
    assert clock() == NOON


def test_a_still_clock_starts_at_the_time_of_the_system() -> None:
    assert StillClock()().utcoffset() == timedelta(0)
