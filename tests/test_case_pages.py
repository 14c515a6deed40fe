"""The reference of the suite says what the suite is: its cases, its faculties, its command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

import pytest
from memcore_conformance.certificate import Certificate
from memcore_conformance.claims import CLAIMS
from memcore_conformance.harness import FACULTIES, Fault, StorageFault
from memcore_conformance.listing import page

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def reference(root: Path) -> str:
    return (root / "docs/reference/conformance.md").read_text(encoding="utf-8")


def test_the_page_of_cases_is_that_of_the_catalogue(root: Path) -> None:
    assert (root / "docs/reference/cases.md").read_text(encoding="utf-8") == page(), "run `nox -s cases`"


@pytest.mark.parametrize("faculty", FACULTIES)
def test_a_faculty_is_in_the_reference_with_its_methods(reference: str, faculty: str) -> None:
    (row,) = re.findall(rf"^\| `{faculty}` \|.*", reference, re.MULTILINE)
    methods = [name for name in vars(FACULTIES[faculty]) if not name.startswith("_")]
    assert methods
    assert [name for name in methods if f"`{name}" not in row] == []


@pytest.mark.parametrize("fault", [*get_args(Fault), *get_args(StorageFault)])
def test_a_fault_is_in_the_reference(reference: str, fault: str) -> None:
    assert f"| `{fault}` |" in reference


def test_every_claim_is_in_the_reference(reference: str) -> None:
    assert [name for name in CLAIMS if f"`{name}`" not in reference] == []


@pytest.mark.parametrize("field", Certificate.model_fields)
def test_a_field_of_a_certificate_is_in_the_reference(reference: str, field: str) -> None:
    assert f"| `{field}` |" in reference
