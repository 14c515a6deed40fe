"""The page of the contract and the suite that proves it speak of the same clauses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memcore_conformance.traceability import CLAUSES

if TYPE_CHECKING:
    from pathlib import Path


def test_the_suite_traces_every_clause_of_the_contract(root: Path) -> None:
    page = (root / "docs/reference/clauses.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### ([A-Z]-\d\d)$", page, re.MULTILINE)) == CLAUSES.keys()
