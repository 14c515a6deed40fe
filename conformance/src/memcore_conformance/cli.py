"""`memcore conformance`, and the same as `python -m memcore_conformance`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from memcore import MemcoreError

from memcore_conformance.catalogue import catalogue
from memcore_conformance.certificate import NoCertificate, certify, read_certificate
from memcore_conformance.compare import compare
from memcore_conformance.discovery import find_harness
from memcore_conformance.integrity import altered
from memcore_conformance.render import failure_text, summary
from memcore_conformance.run import run

if TYPE_CHECKING:
    from memcore_conformance.catalogue import Case
    from memcore_conformance.run import Report
    from memcore_conformance.verdicts import Verdict

NOT_MET = 1
"""The adapter has no grade, a certificate is void, or two certificates differ."""
USAGE = 2
PARTIAL = 7
"""What ran passed, but it was not everything: no build may take this for success."""

app = typer.Typer(
    name="conformance",
    help="Judge an installed adapter, clause by clause.",
    add_completion=False,
    context_settings={"allow_interspersed_args": True},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def conformance(
    *,
    adapter: Annotated[str | None, typer.Argument(help="The name of an installed harness, such as memory.")] = None,
    case: Annotated[
        list[str] | None, typer.Option("--case", metavar="ID", help="Try this case alone; again for more.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certify", metavar="FILE", help="Judge in a fresh interpreter; write the certificate."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the cases.")] = False,
    pair: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--compare", metavar="A B", help="Show what changed between certificates."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON document.")] = False,
) -> None:
    """Judge an installed adapter, clause by clause.

    Exit codes: 0 the adapter has a grade; 1 it has none, or certificates differ, or the run is void; 7 the run was
    partial; 2 a wrong command line or no such adapter.
    """
    try:
        if listing:
            _list(as_json=as_json)
        elif pair:
            _compare(*pair, as_json=as_json)
        elif adapter is None:
            _stop("which adapter? `memcore conformance NAME`, or --list, or --compare A B")
        elif certificate and case:
            _stop("a certificate is for all cases: --certify and --case exclude each other")
        elif certificate:
            _certify(adapter, certificate, as_json=as_json)
        else:
            _judge(adapter, case or [], as_json=as_json)
    except MemcoreError as error:
        _stop(str(error))


def _list(*, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([part.declaration() for part in catalogue()], indent=1))
        return
    for part in catalogue():
        typer.echo(f"{part.id:7} {part.level:6} {' + '.join(part.claims):20} {part.title}")


def _compare(old: Path, new: Path, *, as_json: bool) -> None:
    lines = compare(read_certificate(old), read_certificate(new))
    typer.echo(json.dumps(lines, indent=1) if as_json else "\n".join(lines) or "no difference")
    raise typer.Exit(NOT_MET if lines else 0)


def _certify(adapter: str, file: Path, *, as_json: bool) -> None:
    try:
        certificate = certify(adapter, file)
    except NoCertificate as reason:
        typer.echo(f"no certificate: {reason}", err=True)
        raise typer.Exit(NOT_MET) from None
    _finish(certificate, as_json=as_json)


def _judge(adapter: str, ids: list[str], *, as_json: bool) -> None:
    unknown = [name for name in ids if name not in catalogue()]
    if unknown:
        _stop(f"no such case: {', '.join(unknown)}; --list shows them")
    factory = find_harness(adapter)
    told: set[str | None] = set()

    def tell(part: Case, verdict: Verdict) -> None:
        if as_json or verdict.outcome not in {"failed", "error"}:
            return
        if verdict.failure or verdict.note not in told:  # a service that is missing is missing for every case
            told.add(verdict.note)
            typer.echo(failure_text(part, verdict, adapter) + "\n", err=True)

    report = run(factory, cases=[catalogue()[name] for name in ids] or None, told=tell)
    changed = altered()
    if changed:
        typer.echo(f"VOID: the suite was changed while it ran: {', '.join(changed)}", err=True)
        raise typer.Exit(NOT_MET)
    _finish(report, as_json=as_json)


def _finish(report: Report, *, as_json: bool) -> NoReturn:
    typer.echo(report.model_dump_json(indent=1) if as_json else summary(report))
    broken = report.ended("failed", "error")
    partial = not report.complete and not broken
    raise typer.Exit(PARTIAL if partial else 0 if report.met else NOT_MET)


def _stop(message: str) -> NoReturn:
    typer.echo(f"memcore conformance: {message}", err=True)
    raise typer.Exit(USAGE)
