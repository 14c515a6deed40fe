"""Certificates: what a complete run in a fresh interpreter found, as JSON with a schema.

`certify` starts an isolated interpreter (`python -I`: no conftest, no plugin of pytest, no path of the caller) in which
`judge` tries the canaries, the adapter and the canaries again, and looks whether the suite itself was changed
meanwhile. Anything else than a complete run of an untouched suite gives no certificate.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memcore import MemoryConfigurationError
from pydantic import ValidationError

from memcore_conformance import canary
from memcore_conformance.discovery import distribution_of, find_harness
from memcore_conformance.integrity import altered
from memcore_conformance.render import command, report_text
from memcore_conformance.run import Report, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore_conformance.catalogue import Case
    from memcore_conformance.verdicts import Verdict

SCHEMA: Final = "certificate.schema.json"


class NoCertificate(Exception):
    """The run is void, or the adapter has no grade; the message tells which."""


class Certificate(Report):
    """A report that can be relied on."""

    distribution: str
    """The distribution of the adapter, with its version."""
    python: str
    platform: str
    canaries: dict[str, int]
    """How many cases each known bad adapter failed, in the same run."""
    command: str
    """What repeats it."""


def certify(adapter: str, file: Path) -> Certificate:
    """Judge an installed adapter in a fresh interpreter and write its certificate to a file.

    Raises:
        NoCertificate: the run is void or the adapter has no grade; no file is written.
    """
    file.unlink(missing_ok=True)
    child = [sys.executable, "-I", "-m", "memcore_conformance.certificate", adapter, str(file.absolute())]
    ended = subprocess.run(child, check=False, stdout=subprocess.PIPE, text=True, encoding="utf-8")  # noqa: S603
    if not file.exists():
        raise NoCertificate(ended.stdout.strip() or f"the run ended with code {ended.returncode}")
    return read_certificate(file)


def read_certificate(file: Path) -> Certificate:
    """Read a certificate.

    Raises:
        MemoryConfigurationError: the file is none.
    """
    try:
        return Certificate.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        msg = f"{file} is no certificate: {error}"
        raise MemoryConfigurationError(msg) from error


def schema() -> str:
    """Return the JSON schema of a certificate, as it is kept in the package."""
    return json.dumps(Certificate.model_json_schema(mode="serialization"), indent=2, sort_keys=True) + "\n"


def schema_file() -> Path:
    """Return where the schema is kept."""
    return Path(str(resources.files("memcore_conformance") / SCHEMA))


def judge(adapter: str, *, told: Callable[[Case, Verdict], None] = lambda _case, _verdict: None) -> Certificate:
    """Judge an adapter in this interpreter, if nothing has touched the suite.

    Raises:
        NoCertificate: it was touched, or it does not find what is known to be bad, or the adapter has no grade.
    """
    if not sys.flags.isolated:
        raise NoCertificate("certificates come from an isolated interpreter alone")
    canaries = _check_suite()
    factory = find_harness(adapter)
    report = run(factory, told=told)
    _check_suite()
    if not report.met:
        raise NoCertificate(report_text(report))
    return Certificate(
        **dict(report),
        distribution=" ".join(distribution_of(factory)),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        canaries=canaries,
        command=f"{command(adapter)} --certify FILE",
    )


def _check_suite() -> dict[str, int]:
    changed = altered()
    if changed:
        raise NoCertificate(f"the suite was changed while it ran: {', '.join(changed)}")
    try:
        return canary.check()
    except canary.SuiteBroken as broken:
        raise NoCertificate(str(broken)) from broken


def _main(adapter: str, file: str) -> int:
    try:
        certificate = judge(adapter)
    except (NoCertificate, MemoryConfigurationError) as reason:
        print(reason)  # noqa: T201 - what the parent process reads
        return 1
    Path(file).write_text(certificate.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
