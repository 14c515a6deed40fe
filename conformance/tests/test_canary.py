from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from memcore_conformance import canary, expect
from memcore_conformance.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPARATORS = ["that", "equal", "none", "same_item", "same_record", "written", "ids", "contains", "raises"]


@contextmanager
def _any_error(*_kinds: type[BaseException], **_more: object) -> Iterator[Any]:
    with suppress(Exception):
        yield canary


def test_the_known_failing_sets_are_those_of_this_catalogue() -> None:
    assert canary.failing_sets() == json.loads(canary._file().read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", COMPARATORS)
def test_a_comparator_that_says_yes_to_everything_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expect, name, _any_error if name == "raises" else lambda *_got, **_more: None)
    with pytest.raises(canary.SuiteBroken, match="fails other cases than it must"):
        canary.check()


def test_a_case_that_says_yes_to_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pass_everything(_trial: object) -> None: ...

    changed = replace(catalogue()["I-43b"], function=pass_everything)
    monkeypatch.setattr(catalogue(), "_cases", catalogue()._cases | {"I-43b": changed})
    with pytest.raises(canary.SuiteBroken, match="I-43b"):
        canary.check()


def test_what_a_run_of_untouched_canaries_says_is_how_many_cases_each_failed() -> None:
    found = canary.check()
    assert found.keys() == {"mute", "wild"}
    assert min(found.values()) > 0
