"""Commands that look after the indexes and files of a store: `reindex`, `check`, `purge`."""

from __future__ import annotations

from typing import Annotated

import typer

from memcore_cli.connection import connected
from memcore_cli.failures import CommandFailed
from memcore_cli.output import say, write_document
from memcore_cli.parameters import AsJson, Url
from memcore_cli.progress import progress
from memcore_cli.text import plural


def reindex(context: typer.Context, url: Url, *, as_json: AsJson = False) -> None:
    """Build every index of a store anew.

    That is safe while others use the store.
    """
    with connected(context, url) as store, progress("reindexing") as advance:
        done = store.run(store.maintenance.reindex(progress=advance))
    if as_json:
        write_document({"reindexed": done})
    else:
        say(f"reindexed {plural(done, 'entry', 'entries')}")


def check(
    context: typer.Context,
    url: Url,
    *,
    repair: Annotated[bool, typer.Option("--repair/--no-repair", help="Repair what is found.")] = True,
    as_json: AsJson = False,
) -> None:
    """Compare the indexes of a store with what it holds."""
    with connected(context, url) as store, progress("checking") as advance:
        report = store.run(store.maintenance.check(repair=repair, progress=advance))
    if as_json:
        write_document(report.model_dump(mode="json"))
    else:
        for fault in report.faults:
            say(f"fault: {fault}")
        outcome = ", repaired" if report.repaired else ""
        say(f"checked {plural(report.checked, 'entry', 'entries')}: {plural(len(report.faults), 'fault')}{outcome}")
    if report.faults and not report.repaired:
        raise CommandFailed("faults were found and stay", advice="memcore check URL --repair")


def purge(context: typer.Context, url: Url, *, as_json: AsJson = False) -> None:
    """Remove the bytes of what was erased for good."""
    with connected(context, url) as store, progress("purging"):
        store.run(store.maintenance.purge())
    if as_json:
        write_document({"purged": True})
    else:
        say("purged: the bytes of what was erased are gone")
