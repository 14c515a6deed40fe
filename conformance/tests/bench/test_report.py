"""Goals are judged by ratios within one run, and the report shows what was measured and what was not."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from memcore_conformance.bench.candidates import Candidate, Group
from memcore_conformance.bench.chart import chart
from memcore_conformance.bench.goals import GOALS, judge
from memcore_conformance.bench.measure import OPERATIONS, Measurements
from memcore_conformance.bench.report import Report, figures_table, show, table
from memcore_conformance.bench.scopes import IN_SCOPE, ScopeFigures
from memcore_conformance.bench.scopes import OPERATIONS as SCOPED
from memcore_conformance.bench.writers import Outcome

OURS = "sqlite:///bench.db"
GROUP = Group(
    scheme="sqlite",
    adapters=(Candidate(OURS, OURS),),
    beside=tuple(Candidate(name, OURS) for name in ("sqlite3 full", "aiosqlite full")),
    synchronous="full",
)


def measured(size: int, **figures: dict[str, float]) -> Measurements:
    """Return measurements of one round; `put_many` stands for the operation "put many"."""
    by_operation = {name: {who: [figure] for who, figure in each.items()} for name, each in figures.items()}
    return Measurements(size, by_operation, {}, {})


def verdicts(*measurements: Measurements, **costs: float) -> dict[tuple[str, int], tuple[float, bool]]:
    return {
        (judgement.goal.operation, judgement.size): (judgement.allowed, judgement.met)
        for judgement in judge(GROUP, measurements, costs)
    }


def test_an_operation_may_take_a_multiple_of_its_limit() -> None:
    slow = measured(100, put={OURS: 181.0, "sqlite3 full": 100.0})
    quick = measured(200, put={OURS: 180.0, "sqlite3 full": 100.0})
    assert verdicts(slow, quick) == {("put", 100): (180.0, False), ("put", 200): (180.0, True)}


def test_the_median_of_the_rounds_is_judged() -> None:
    figures = {"put": {OURS: [100.0, 900.0, 110.0], "sqlite3 full": [100.0, 100.0, 1.0]}}
    assert verdicts(Measurements(100, figures, {}, {})) == {("put", 100): (180.0, True)}


def test_a_thread_hop_is_allowed_on_top_of_a_search() -> None:
    search = {OURS: 150.0, "sqlite3 full": 100.0}
    get = {OURS: 10.0, "sqlite3 full": 5.0, "aiosqlite full": 30.0}
    assert verdicts(measured(10_000, get=get, **{"search rare": search}))["search rare", 10_000] == (150.0, True)


def test_the_import_of_pydantic_is_allowed_on_top_of_a_first_result() -> None:
    figures = {"first result": {OURS: 0.28, "aiosqlite full": 0.1}}
    allowed, met = verdicts(measured(10, **figures), pydantic=0.14)["first result", 10]
    assert (allowed, met) == (pytest.approx(0.29), True)


def test_a_large_store_is_compared_with_a_small_one() -> None:
    small, large = measured(10_000, **{"tag rare": {OURS: 10.0}}), measured(100_000, **{"tag rare": {OURS: 21.0}})
    assert verdicts(small, large) == {("tag rare", 100_000): (20.0, False)}


def test_what_was_not_measured_on_both_sides_is_not_judged() -> None:
    assert verdicts(measured(100_000, put={OURS: 10.0}, bulk={"sqlite3 full": 1.0}, **{"tag rare": {OURS: 1.0}})) == {}


def test_every_goal_is_about_an_operation_that_is_measured() -> None:
    goals = [goal for goals in GOALS.values() for goal in goals]
    assert {goal.operation for goal in goals} | {goal.of for goal in goals if goal.of} <= set(OPERATIONS)


def test_a_table_shows_figures_and_the_ratio_to_the_yardstick() -> None:
    put = {OURS: 0.00015, "sqlite3 full": 0.0001, "aiosqlite full": 0.0002}
    assert figures_table(GROUP, measured(10, put=put)).splitlines() == [
        "| operation | sqlite:///bench.db | / sqlite3 full | sqlite3 full | aiosqlite full |",
        "| --------- | -----------------: | -------------: | -----------: | -------------: |",
        "| put       |                150 |           1.50 |          100 |            200 |",
    ]


def test_the_columns_of_a_table_are_aligned() -> None:
    assert table(("a", "figure"), [("long name", "1")]).splitlines() == [
        "| a         | figure |",
        "| --------- | -----: |",
        "| long name |      1 |",
    ]


@pytest.mark.parametrize(
    ("operation", "figure", "shown"),
    [
        ("get", 0.0000123, "12.3"),
        ("get", 0.00123, "1,230"),
        ("first result", 0.25, "250 ms"),
        ("bytes an item", 1234.5, "1,234"),
        ("get", None, ""),
    ],
)
def test_a_figure_is_shown_in_its_unit(operation: str, figure: float | None, shown: str) -> None:
    assert show(operation, figure) == shown


@pytest.fixture
def report() -> Report:
    figures = {"put": {OURS: [0.0002], "sqlite3 full": [0.0001]}, "get": {OURS: [0.00001]}}
    left_out = {"aiosqlite full": {"get": "answered differently"}}
    outcomes = {"4 processes, 1 task each": {OURS: [Outcome(1.0, 38, ("OSError", "OSError"), 1)]}}
    measurements = Measurements(100, figures, left_out, outcomes)
    importing = {"memcore": 0.15, "pydantic": 0.14}
    return Report({"file system": "tmpfs"}, 5, importing, {"pydantic": 0.14}, [(GROUP, [measurements])])


def test_the_text_says_where_how_and_with_what_result(report: Report) -> None:
    text = report.text()
    assert "- file system: tmpfs" in text
    assert "## sqlite, 100 items, synchronous = full" in text
    assert "1.8 x sqlite3 full = 180 |  1.11 | MISSED" in text
    assert "`import memcore` takes 150 ms, pydantic with one model 140 ms; 40 ms more are the goal: met." in text


def test_the_text_says_what_was_left_out_refused_and_lost(report: Report) -> None:
    text = report.text()
    assert "- aiosqlite full, answered differently: get" in text
    assert "- 4 processes, 1 task each: sqlite:///bench.db wrote 38, 2 x OSError, 1 lost" in text


def test_the_data_are_json_with_every_round_and_verdict(report: Report) -> None:
    data = json.loads(json.dumps(report.data()))
    (result,) = data["results"]
    assert result["figures"]["put"] == {OURS: [0.0002], "sqlite3 full": [0.0001]}
    assert [(goal["operation"], goal["met"]) for goal in data["goals"]] == [("put", False)]


def test_the_chart_has_a_dot_for_every_figure_further_right_for_slower(report: Report) -> None:
    root = ET.fromstring(chart(report))  # noqa: S314 - our own text
    svg = "{http://www.w3.org/2000/svg}"
    dots = {dot[0].text: int(dot.get("cx", "")) for dot in root.iter(f"{svg}circle") if len(dot)}
    assert len(dots) == 3
    assert dots[f"{OURS}: 10.0"] < dots["sqlite3 full: 100"] < dots[f"{OURS}: 200"]


def scoped(*, slower: float) -> ScopeFigures:
    figures = {name: {1: [0.001], 1_000: [0.001]} for name in SCOPED}
    figures[IN_SCOPE][1_000] = [0.001 * slower]
    return ScopeFigures("sqlite:///b.db", "sqlite", figures)


def goal_line(figures: ScopeFigures) -> str:
    report = Report({}, 1, {"memcore": 0.1, "pydantic": 0.1}, {}, [], [figures])
    return next(line for line in report.text().splitlines() if "2 x the same among the fewest others" in line)


def test_a_search_in_one_scope_that_grows_with_other_users_misses_its_goal() -> None:
    assert "1.90 x |" in goal_line(scoped(slower=1.9))
    assert "| MISSED |" not in goal_line(scoped(slower=1.9))
    assert "| MISSED |" in goal_line(scoped(slower=2.1))
