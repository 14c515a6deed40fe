from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memcore import MemoryConfigurationError
from memcore_conformance.certificate import Certificate
from memcore_conformance.compatibility import BEGIN, END, fill, table
from memcore_conformance.memory import MemoryHarness
from memcore_conformance.run import run

if TYPE_CHECKING:
    from memcore_conformance.run import Report


@pytest.fixture(scope="module")
def report() -> Report:
    return run(MemoryHarness)


@pytest.fixture
def certificate(report: Report) -> Certificate:
    return Certificate(
        **dict(report), distribution="tea 1.0", python="3", platform="Tea", canaries={}, command="memcore conformance"
    )


def test_a_table_has_a_column_for_each_certificate_by_name(certificate: Certificate) -> None:
    lines = table([certificate, certificate.model_copy(update={"adapter": "alpha"})]).splitlines()
    assert lines[0] == "|  | `alpha` | `memory` |"
    assert "| grade | **core** | **core** |" in lines
    assert "| analysed | proven | proven |" in lines
    version = f"python {certificate.versions['python']}"
    assert f"| what took part | {version} | {version} |" in lines


def test_what_nobody_claims_stands_below_the_table(certificate: Certificate) -> None:
    assert "| durable |" not in table([certificate])
    assert "durable" in table([certificate]).splitlines()[-1]


def test_what_is_claimed_without_a_case_is_not_called_proven(certificate: Certificate) -> None:
    grade = certificate.grade
    assert grade
    unproven = grade.model_copy(update={"without_proof": ("durable",)})
    assert "| durable | claimed, no proof yet |" in table([certificate.model_copy(update={"grade": unproven})])


def test_a_page_keeps_what_stands_around_the_table(certificate: Certificate) -> None:
    page = fill(f"# Tea\n\n{BEGIN}\nold\n{END}\n\nmore\n", [certificate])
    assert page == f"# Tea\n\n{BEGIN}\n\n{table([certificate])}\n\n{END}\n\nmore\n"
    assert fill(page, [certificate]) == page


@pytest.mark.parametrize("page", ["", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}{END}" * 2])
def test_a_page_without_exactly_one_pair_of_marks_is_refused(certificate: Certificate, page: str) -> None:
    with pytest.raises(MemoryConfigurationError, match="the page needs"):
        fill(page, [certificate])


def test_a_certificate_without_a_grade_is_refused(certificate: Certificate) -> None:
    with pytest.raises(MemoryConfigurationError, match="no grade"):
        table([certificate.model_copy(update={"grade": None})])
