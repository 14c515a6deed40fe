from __future__ import annotations

from memcore_conformance.catalogue import catalogue
from memcore_conformance.traceability import CLAUSES, REASONS, traceability


def test_every_clause_has_a_case_or_a_stated_reason() -> None:
    assert [trace.clause for trace in traceability() if trace.missing] == []


def test_a_reason_stands_only_where_there_is_no_case() -> None:
    assert [trace.clause for trace in traceability() if trace.cases and trace.reason] == []


def test_every_case_proves_a_clause_of_the_contract() -> None:
    assert {case.clause for case in catalogue()} <= CLAUSES.keys()


def test_no_reason_is_given_for_an_unknown_clause() -> None:
    assert REASONS.keys() <= CLAUSES.keys()
