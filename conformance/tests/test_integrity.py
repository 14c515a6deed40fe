from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memcore_conformance import engine, expect, items, trial, verdicts
from memcore_conformance.cases import write
from memcore_conformance.integrity import altered

if TYPE_CHECKING:
    import pytest


def test_an_untouched_suite_is_not_altered() -> None:
    assert altered() == []


def test_a_replaced_comparator_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expect, "equal", lambda *_got, **_more: None)
    assert altered() == ["memcore_conformance.expect.equal"]


def test_a_replaced_function_of_the_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "run_case", lambda case, *_more: verdicts.Verdict(case=case.id, outcome="passed"))
    assert "memcore_conformance.engine.run_case" in altered()


def test_a_name_that_is_bound_to_something_else_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "UnsupportedMemoryItem", Exception)
    assert altered() == ["memcore_conformance.cases.write.UnsupportedMemoryItem"]


def test_a_module_that_is_exchanged_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "expect", object())
    assert altered() == ["memcore_conformance.cases.write.expect"]


def test_a_replaced_method_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items.Items, "keep", lambda *_given: None)
    assert altered() == ["memcore_conformance.items.Items.keep"]


def test_a_replaced_property_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial.Trial, "faults", property(lambda _trial: None))
    assert altered() == ["memcore_conformance.trial.Trial.faults"]


def test_exchanged_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expect.none, "__code__", (lambda *_got, **_more: None).__code__)
    assert altered() == ["memcore_conformance.expect.none"]


def test_a_replaced_case_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pass_everything(_trial: object) -> None: ...

    changed = replace(write.store_returns_the_id_of_the_item, function=pass_everything)
    monkeypatch.setattr(write, "store_returns_the_id_of_the_item", changed)
    assert altered() == ["memcore_conformance.cases.write.store_returns_the_id_of_the_item"]


def test_a_removed_function_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(expect, "ids")
    assert altered() == ["memcore_conformance.expect.ids"]
