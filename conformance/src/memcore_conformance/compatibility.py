"""The compatibility table: what certificates say, side by side, and the pages that hold it.

`python -m memcore_conformance.compatibility CERTIFICATE … --into PAGE …` writes it between the two marks of each page;
nobody types it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memcore import MemcoreError, MemoryConfigurationError

from memcore_conformance.certificate import read_certificate
from memcore_conformance.claims import CAPABILITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memcore_conformance.certificate import Certificate

BEGIN: Final = "<!-- certificates: generated, do not edit -->"
END: Final = "<!-- /certificates -->"
_NOT_CLAIMED: Final = "–"


def table(certificates: Iterable[Certificate]) -> str:
    """Return a table in Markdown with a column for each certificate, and what none of them claims below it."""
    ordered = sorted(certificates, key=lambda certificate: certificate.adapter)
    columns = [_column(certificate) for certificate in ordered]
    rows = [(name, *(column[name] for column in columns)) for name in (columns[0] if columns else ())]
    nobody = [name for name, *cells in rows if set(cells) == {_NOT_CLAIMED}]
    head = ("", *(f"`{certificate.adapter}`" for certificate in ordered))
    shown = [head, ("---",) * len(head), *(row for row in rows if row[0] not in nobody)]
    lines = ["| " + " | ".join(row) + " |" for row in shown]
    return "\n".join([*lines, *(["", f"Claimed by none of them: {', '.join(nobody)}."] if nobody else [])])


def fill(page: str, certificates: Iterable[Certificate]) -> str:
    """Return the page with the table between its marks.

    Raises:
        MemoryConfigurationError: the page does not have exactly one pair of marks.
    """
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end or BEGIN in rest or END in after:
        msg = f"the page needs one line {BEGIN} and, below it, one line {END}"
        raise MemoryConfigurationError(msg)
    return f"{before}{BEGIN}\n\n{table(certificates)}\n\n{END}{after}"


def _column(certificate: Certificate) -> dict[str, str]:
    """Return what one certificate says, by the heading of the row."""
    grade, claims = certificate.grade, certificate.claims
    if grade is None or claims is None:
        msg = f"the certificate of {certificate.adapter!r} has no grade"
        raise MemoryConfigurationError(msg)
    manifest = claims.manifest
    passed, not_claimed = (len(certificate.ended(outcome)) for outcome in ("passed", "not_claimed"))
    proofs = {name: _proof(name in grade.proven, name in grade.without_proof) for name in CAPABILITIES}
    return {
        "grade": f"**{grade.level}**",
        **{name.replace("_", " "): proof for name, proof in proofs.items()},
        "search sees a write": manifest.search_consistency if manifest else _NOT_CLAIMED,
        "fields that are lost": ", ".join(sorted(manifest.dropped_item_fields)) or "none" if manifest else _NOT_CLAIMED,
        "cases passed": f"{passed} of {certificate.owed}, {not_claimed} not claimed",
        "what took part": ", ".join(f"{name} {version}" for name, version in certificate.versions.items()),
        "suite": certificate.suite,
    }


def _proof(proven: object, claimed: object) -> str:
    return "proven" if proven else "claimed, no proof yet" if claimed else _NOT_CLAIMED


def _main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("certificates", nargs="+", type=Path, metavar="CERTIFICATE")
    parser.add_argument(
        "--into", nargs="+", type=Path, default=[], metavar="PAGE", help="write it there; else print it"
    )
    given = parser.parse_args(arguments)
    try:
        certificates = [read_certificate(file) for file in given.certificates]
        filled = {page: fill(page.read_text(encoding="utf-8"), certificates) for page in given.into}
    except (MemcoreError, OSError) as error:
        parser.error(str(error))
    for page, text in filled.items():
        page.write_text(text, encoding="utf-8")
    if not filled:
        print(table(certificates))  # noqa: T201 - the command's answer
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
