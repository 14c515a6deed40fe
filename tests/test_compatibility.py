"""The certificates in the repository are of the suite as it is, and the tables that people read are made from them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from memcore_conformance.catalogue import catalogue
from memcore_conformance.certificate import Certificate, read_certificate
from memcore_conformance.compatibility import fill

if TYPE_CHECKING:
    from pathlib import Path

AGAIN = "run `nox -s certificates live`"


@pytest.fixture
def certificates(root: Path) -> list[Certificate]:
    return [read_certificate(file) for file in sorted(root.glob("conformance/certificates/*.json"))]


def test_every_adapter_that_is_judged_has_a_certificate(root: Path, certificates: list[Certificate]) -> None:
    judged = re.findall(r"^(?:JUDGED|LIVE) = \((.*?)\)", (root / "noxfile.py").read_text(), re.MULTILINE)
    assert sorted(each.adapter for each in certificates) == sorted(re.findall(r"[\w-]+", " ".join(judged)))


def test_the_certificates_are_of_the_cases_as_they_are(certificates: list[Certificate]) -> None:
    assert {certificate.catalogue for certificate in certificates} == {catalogue().digest}, AGAIN


@pytest.mark.parametrize("page", ["README.md", "docs/reference/compatibility.md"])
def test_a_table_says_what_the_certificates_say(root: Path, certificates: list[Certificate], page: str) -> None:
    text = (root / page).read_text(encoding="utf-8")
    assert text == fill(text, certificates), AGAIN
