from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from memcore_conformance import expect
from memcore_conformance.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable

    Front = Callable[..., pytest.RunResult]

PARTIAL = "PARTIAL: nothing is concluded from a filtered or shortened run"
OWED = len(catalogue())


@pytest.fixture
def front(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Front:
    """Run the suite as an author would, in a folder of their own; without the other plugins, which take seconds."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    arguments = ("--pyargs", "memcore_conformance", "-p", "memcore_conformance.pytest_plugin", "-p", "no:cacheprovider")
    return lambda *more: pytester.runpytest_inprocess(*arguments, *more)


def test_a_complete_run_ends_with_the_grade(front: Front) -> None:
    result = front("--adapter", "memory")
    result.stdout.fnmatch_lines(
        [
            f"memory: {OWED} of {OWED} verdicts *",
            "memory: core + analysed + managed + records + history + lifecycle + transfer; NOT claimed: *",
        ]
    )
    result.stdout.fnmatch_lines(["to certify: memcore conformance memory --certify FILE"])
    assert result.ret == pytest.ExitCode.OK
    assert PARTIAL not in result.stdout.str()


def test_what_is_not_claimed_is_neither_passed_nor_skipped(front: Front) -> None:
    counts = front("--adapter", "memory").parseoutcomes()
    assert "skipped" not in counts
    assert counts["passed"] < OWED


@pytest.mark.parametrize(
    "options",
    [("-k", "I-43"), ("-k", "not I-43a"), ("-m", "nothing")],
    ids=" ".join,
)
def test_a_filtered_run_is_partial_and_no_success(front: Front, options: tuple[str, str]) -> None:
    result = front("--adapter", "memory", *options)
    assert PARTIAL in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_run_with_a_deselected_case_is_partial_and_no_success(front: Front) -> None:
    listed = front("--adapter", "memory", "--collect-only", "-q").stdout.str()
    (name,) = [line for line in listed.splitlines() if "I-43a" in line]
    result = front("--adapter", "memory", "--deselect", name)
    assert f"memory: {OWED - 1} of {OWED} verdicts" in result.stdout.str()
    assert PARTIAL in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("option", ["-x", "--maxfail=1"])
def test_a_run_that_stops_at_the_first_failure_is_partial(front: Front, pytester: pytest.Pytester, option: str) -> None:
    pytester.makeconftest(f"{_BROKEN}\n")
    result = front("--adapter", "broken", option)
    assert PARTIAL in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_conftest_that_drops_cases_makes_the_run_partial(front: Front, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_collection_modifyitems(items): del items[3]")
    result = front("--adapter", "memory")
    assert f"memory: {OWED - 1} of {OWED} verdicts" in result.stdout.str()
    assert PARTIAL in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("mark", ["skip", "xfail(run=False)"])
def test_a_conftest_that_skips_cases_makes_the_run_partial(front: Front, pytester: pytest.Pytester, mark: str) -> None:
    pytester.makeconftest(
        f"import pytest\ndef pytest_collection_modifyitems(items): items[3].add_marker(pytest.mark.{mark})"
    )
    result = front("--adapter", "memory")
    assert PARTIAL in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_failure_that_a_conftest_excuses_still_denies_the_grade(front: Front, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        f"{_BROKEN}\nimport pytest\n"
        "def pytest_collection_modifyitems(items):\n    for item in items: item.add_marker(pytest.mark.xfail)\n"
    )
    result = front("--adapter", "broken")
    assert "broken: no grade; " in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_conftest_that_patches_a_comparator_makes_the_run_void(
    front: Front, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expect, "none", expect.none)  # what the conftest does is undone with this
    pytester.makeconftest("from memcore_conformance import expect\nexpect.none = lambda *_, **__: None")
    result = front("--adapter", "memory")
    assert "VOID: the suite was changed while it ran: memcore_conformance.expect.none" in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_plugin_that_patches_a_comparator_makes_the_run_void(
    front: Front, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expect, "that", expect.that)  # what the plugin does is undone with this
    pytester.makepyfile(cheating="from memcore_conformance import expect\nexpect.that = lambda *_, **__: None")
    pytester.syspathinsert()
    result = front("-p", "cheating", "--adapter", "memory")
    assert "VOID: the suite was changed while it ran: memcore_conformance.expect.that" in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_failing_case_is_told_in_a_few_lines(front: Front, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(_BROKEN)
    result = front("--adapter", "broken")
    result.stdout.fnmatch_lines(
        [
            "I-50a  An id that was never stored gives `None`",
            "  verdict   failed (must, clause I-50)",
            "  done      harness: make_backend()",
            "            open()",
            "            store(item *",
            "            retrieve(*",
            "  expected  the answer is None",
            "  got       item *",
            "  again     memcore conformance broken --case I-50a",
        ]
    )


def test_an_unknown_adapter_is_a_usage_error_that_names_those_installed(front: Front) -> None:
    result = front("--adapter", "nix")
    result.stderr.fnmatch_lines(["*no installed harness is called 'nix'; there are: *memory*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_listing_the_cases_is_a_success(front: Front) -> None:
    assert front("--adapter", "memory", "--collect-only", "-q").ret == pytest.ExitCode.OK


def test_without_an_adapter_nothing_is_collected(front: Front) -> None:
    assert front().ret == pytest.ExitCode.NO_TESTS_COLLECTED


_BROKEN = """
from memcore import MemoryItem, hookimpl
from memcore.plugins import registry
from memcore_conformance.memory import MemoryHarness
from mutants import Backend, Harness, Items

class Inventing(Items):
    async def retrieve(self, item_id):
        return await super().retrieve(item_id) or MemoryItem(id=item_id)

class Broken(Harness):
    name = "broken"
    backend_type = type("BrokenBackend", (Backend,), {"items_type": Inventing})

class Plugin:
    @hookimpl
    def memcore_harnesses(self):
        return [Broken]

if not any(harness.name == "broken" for harness in registry().harnesses()):
    registry().register(Plugin(), name="broken", distribution="broken")
"""
