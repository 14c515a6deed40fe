from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from memcore import MemoryConfigurationError
from memcore_conformance.catalogue import catalogue
from memcore_conformance.certificate import (
    Certificate,
    NoCertificate,
    certify,
    judge,
    read_certificate,
    schema,
    schema_file,
)
from memcore_conformance.compare import compare

if TYPE_CHECKING:
    from pathlib import Path

JUDGE = """
from memcore_conformance.certificate import NoCertificate, judge
{before}
try:
    print("CERTIFICATE", judge({adapter!r}).grade)
except NoCertificate as reason:
    print("NONE", reason)
"""

REGISTER = """
from memcore import hookimpl
from memcore.plugins import registry
from memcore_conformance.memory import MemoryHarness
class Plugin:
    @hookimpl
    def memcore_harnesses(self):
        return [type("Bad", (MemoryHarness,), {{"name": "bad", "reset": {reset}}})]
registry().register(Plugin(), name="bad", distribution="bad")
"""


def _judged(adapter: str, *, before: str = "") -> str:
    program = JUDGE.format(before=before, adapter=adapter)
    return subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certify("memory", tmp_path_factory.mktemp("certificates") / "memory.json")


def test_a_certificate_holds_a_verdict_for_every_case_and_what_it_takes_to_repeat_it(certificate: Certificate) -> None:
    assert [verdict.case for verdict in certificate.verdicts] == [case.id for case in catalogue()]
    assert certificate.catalogue == catalogue().digest
    assert certificate.distribution.startswith("memcore-conformance ")
    assert certificate.command == "memcore conformance memory --certify FILE"
    assert min(certificate.canaries.values()) > 0
    assert str(certificate.grade).startswith("core + analysed + managed")


def test_a_certificate_is_read_as_it_was_written(certificate: Certificate, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(certificate.model_dump_json())
    assert read_certificate(tmp_path / "c.json") == certificate


def test_the_schema_in_the_package_is_that_of_the_models() -> None:
    assert schema_file().read_text(encoding="utf-8") == schema()


def test_a_file_that_is_no_certificate_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(MemoryConfigurationError, match=r"c\.json is no certificate"):
        read_certificate(tmp_path / "c.json")


def test_an_unknown_adapter_gives_no_certificate_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("an older one")
    with pytest.raises(NoCertificate, match=r"no installed harness is called 'nix'; there are: .*memory"):
        certify("nix", tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_an_interpreter_that_is_not_isolated_gives_no_certificate() -> None:
    with pytest.raises(NoCertificate, match="isolated interpreter"):
        judge("memory")


@pytest.mark.parametrize(
    ("before", "named"),
    [
        ("from memcore_conformance import expect; expect.equal = lambda *_, **__: None", "expect.equal"),
        ("from memcore_conformance import run; run.run_case = run.survey", "run.run_case"),
        ("from memcore_conformance import canary; canary.check = dict", "canary.check"),
        ("from memcore_conformance.items import Items; Items.keep = Items.count", "items.Items.keep"),
    ],
)
def test_a_patched_suite_gives_no_certificate(before: str, named: str) -> None:
    assert _judged("memory", before=before).startswith(
        f"NONE the suite was changed while it ran: memcore_conformance.{named}"
    )


def test_what_stands_on_the_path_or_in_the_folder_does_not_reach_a_certificate(
    certificate: Certificate, tmp_path: Path
) -> None:
    patch = "from memcore_conformance import expect\nexpect.equal = expect.none = expect.ids = print\n"
    for name in ("sitecustomize", "conftest"):
        (tmp_path / f"{name}.py").write_text(patch)
    command = [sys.executable, "-m", "memcore_conformance", "memory", "--certify", "c.json"]
    environ = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "conftest.py")}
    subprocess.run(command, cwd=tmp_path, env=environ, check=True, capture_output=True)
    found = read_certificate(tmp_path / "c.json")
    assert [verdict.outcome for verdict in found.verdicts] == [verdict.outcome for verdict in certificate.verdicts]


def test_an_adapter_that_patches_the_suite_while_it_is_judged_gets_no_certificate() -> None:
    reset = (
        "lambda self: __import__('asyncio').sleep(0, setattr(__import__('memcore_conformance').expect, 'none', print))"
    )
    judged = _judged("bad", before=REGISTER.format(reset=reset))
    assert "the suite was changed while it ran: memcore_conformance.expect.none" in judged


def test_an_adapter_that_does_not_pass_gets_its_failures_instead_of_a_certificate() -> None:
    judged = _judged("bad", before=REGISTER.format(reset="None"))
    assert judged.startswith("NONE")
    assert "no grade" in judged


def test_a_catalogue_from_which_a_case_was_dropped_gives_no_certificate() -> None:
    before = (
        "from memcore_conformance.catalogue import catalogue; c = catalogue(); "
        "c._cases = {k: v for k, v in c._cases.items() if k != 'I-43b'}"
    )
    assert _judged("memory", before=before).startswith("NONE the canary")


def test_two_equal_certificates_do_not_differ(certificate: Certificate) -> None:
    assert compare(certificate, certificate) == []


def test_a_comparison_names_claims_verdicts_and_circumstances_that_changed(certificate: Certificate) -> None:
    data = json.loads(certificate.model_dump_json())
    data["python"] = "3.99"
    data["claims"]["capabilities"]["durable"] = True
    data["verdicts"][0]["outcome"] = "failed"
    del data["verdicts"][1]
    lines = compare(certificate, Certificate.model_validate(data))
    first, second = certificate.verdicts[:2]
    assert lines == [
        f"python: {certificate.python} -> 3.99",
        "claim durable: new",
        f"{first.case}: {first.outcome} -> failed",
        f"{second.case}: {second.outcome} -> no such case",
    ]
