"""The pytest front: `pytest --pyargs memcore_conformance --adapter NAME`.

The plugin makes the items itself, so there is nothing to inherit and nothing to override. What counts is the ledger of
verdicts, not what pytest made of them: where an item is missing, for whatever reason, the run is PARTIAL and fails.
The plugin is loaded by every pytest of the environment and does nothing without `--adapter`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memcore_conformance.catalogue import Case
    from memcore_conformance.run import Run
    from memcore_conformance.verdicts import Verdict

_PACKAGE: Final = Path(__file__).parent
_OUTCOME: Final = "conformance"
_WORDS: Final = {
    "unproven": ("unproven", "u", "UNPROVEN"),
    "not_claimed": ("not claimed", "-", "NOT CLAIMED"),
    "not_met": ("not met", "r", "NOT MET"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--adapter`."""
    group = parser.getgroup("memcore conformance")
    group.addoption("--adapter", action="append", default=[], metavar="NAME", help="judge this installed adapter")


def pytest_configure(config: pytest.Config) -> None:
    """Take part only where an adapter is named."""
    if config.getoption("adapter"):
        config.pluginmanager.register(_Front(config.getoption("adapter")), "memcore_conformance_front")


class _Front:
    """The runs of one session."""

    def __init__(self, adapters: list[str]) -> None:
        from memcore import MemoryConfigurationError  # noqa: PLC0415 - only where an adapter is judged

        from memcore_conformance.discovery import find_harness  # noqa: PLC0415
        from memcore_conformance.run import Run  # noqa: PLC0415

        try:
            self.runs = {name: Run(find_harness(name)) for name in dict.fromkeys(adapters)}
        except MemoryConfigurationError as error:
            raise pytest.UsageError(str(error)) from error

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if path != _PACKAGE:
            return None
        suite: _Suite = _Suite.from_parent(parent, path=path)
        suite.runs = self.runs
        return suite

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        outcome = dict(report.user_properties).get(_OUTCOME) if report.when == "call" and report.passed else None
        return _WORDS.get(str(outcome))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        concluded = not self._changed() and all(run.report().met for run in self.runs.values())
        if session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED} and not concluded:
            collecting = session.config.getoption("collectonly")
            session.exitstatus = pytest.ExitCode.OK if collecting else pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:  # noqa: ANN401 - pytest does not export its type
        from memcore_conformance.render import command, summary  # noqa: PLC0415

        for run in self.runs.values():
            report = run.report()
            terminalreporter.section(f"conformance of {report.adapter}")
            terminalreporter.line(summary(report))
            if report.met:
                terminalreporter.line(f"to certify: {command(report.adapter)} --certify FILE")
        if self._changed():
            terminalreporter.line(f"VOID: the suite was changed while it ran: {', '.join(self._changed())}", red=True)

    def _changed(self) -> list[str]:
        from memcore_conformance.integrity import altered  # noqa: PLC0415

        return altered()


class _Suite(pytest.Directory):
    """The package as pytest sees it: every case once for each adapter."""

    runs: dict[str, Run]

    def collect(self) -> Iterator[pytest.Item]:
        from memcore_conformance.catalogue import catalogue  # noqa: PLC0415

        for name, run in self.runs.items():
            for case in catalogue():
                item: _Item = _Item.from_parent(self, name=f"{case.id}[{name}]")
                item.case, item.run, item.adapter = case, run, name
                yield item


class _Item(pytest.Item):
    """One case on one adapter."""

    case: Case
    run: Run
    adapter: str

    def runtest(self) -> None:
        verdict = self.run.try_case(self.case)
        bad = verdict.outcome in {"failed", "error"}
        self.user_properties.append((_OUTCOME, "not_met" if bad else verdict.outcome))
        if bad and self.case.level == "must":
            raise _NotMet(verdict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401
        from memcore_conformance.render import failure_text  # noqa: PLC0415

        if isinstance(excinfo.value, _NotMet):
            return failure_text(self.case, excinfo.value.verdict, self.adapter)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, 0, f"{self.adapter}: {self.case.title}"


class _NotMet(Exception):
    """Carries a verdict to where pytest prints it."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(verdict.case)
