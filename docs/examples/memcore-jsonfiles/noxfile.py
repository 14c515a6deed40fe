"""`nox` tests and judges the adapter; `nox -s conformance -- --case I-43a` tries one case."""

from __future__ import annotations

import nox


@nox.session
def tests(session: nox.Session) -> None:
    """Run what is this adapter's own business."""
    session.install(".", "pytest")
    session.run("pytest", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Judge the adapter; what follows `--` goes to the judgement."""
    session.install(".[conformance]")
    session.run("memcore", "conformance", "jsonfiles", *session.posargs)
