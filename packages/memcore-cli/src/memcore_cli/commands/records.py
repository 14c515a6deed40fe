"""Commands on the records of a store: `records write`, `search`, `get`, `history`, `invalidate`, `delete`, `sweep`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import UUID

import typer
from memcore.errors import MemoryConflict
from memcore.records.model import Invalidation, MemoryRecord, MemoryWrite, RecordQuery
from memcore.records.store import SweepPolicy
from pydantic import BaseModel, ValidationError

from memcore_cli.connection import Connection, connected, warn_if_forgetful
from memcore_cli.exit_codes import ExitCode
from memcore_cli.failures import CommandFailed
from memcore_cli.group import StoreCommand
from memcore_cli.output import say, tell, write_document
from memcore_cli.parameters import AsJson, Limit, Tags, Url, read_argument
from memcore_cli.progress import progress
from memcore_cli.reading import faults_of
from memcore_cli.record_json import hit_document, record_document
from memcore_cli.record_output import show_history, show_record, show_records, write_records
from memcore_cli.record_parameters import (
    KINDS,
    AsOf,
    ExpiresAt,
    KindName,
    KindNames,
    MatchTags,
    RecordId,
    Scopes,
    Supersedes,
    TierName,
    TierNames,
    read_duration,
    read_scope,
)
from memcore_cli.source import read_text
from memcore_cli.text import plural

if TYPE_CHECKING:
    from memcore.records.model import MemoryHit

Model = TypeVar("Model", bound=BaseModel)

_COUNTED = 1000
"""How many matches are counted before an erasure is asked about."""
_WHERE_NOW = "`memcore records history URL {}` shows what became of it"

app = typer.Typer(name="records", add_completion=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def records(context: typer.Context) -> None:
    """Write, find, follow and end scoped facts: superseded or invalidated, never overwritten."""
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")


@app.command("write", cls=StoreCommand)
def write(
    context: typer.Context,
    url: Url,
    content: Annotated[str, typer.Argument(metavar="CONTENT", help="The fact, as text; - reads standard input.")],
    *,
    scope: Scopes = None,
    kind: KindName = "fact",
    tags: Tags = None,
    supersedes: Supersedes = None,
    said_before: Annotated[
        str | None, typer.Option("--context", metavar="TEXT", help="Helps to find it; is never shown to a model.")
    ] = None,
    author: Annotated[str | None, typer.Option("--author", metavar="NAME", help="Who says so.")] = None,
    expires_at: ExpiresAt = None,
    tier: TierName = None,
    payload: Annotated[str | None, typer.Option("--payload", metavar="JSON", help="A structured form of it.")] = None,
    record_id: Annotated[
        UUID | None, typer.Option("--id", metavar="UUID", help="The record's id; the same write again changes nothing.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write one record and print its id.

    Records are never overwritten: one that is not true any more is named by --supersedes, stays, and ends when the
    new one begins. Of several commands that supersede one record, exactly one succeeds.
    """
    change = _made(
        MemoryWrite,
        content=read_text() if content == "-" else content,
        scope=read_scope(scope),
        kind=kind,
        tags=tags or (),
        supersedes=supersedes or (),
        context=said_before,
        provenance={"author": author},
        expires_at=expires_at,
        tier=tier,
        payload=None if payload is None else read_argument(payload, option="--payload"),
        **({"id": record_id} if record_id else {}),
    )
    with connected(context, url) as store:
        try:
            (record,) = store.run(store.records.write([change]))
        except MemoryConflict as error:
            raise CommandFailed(str(error), advice=_way_out(error, change)) from error
        warn_if_forgetful(store)
    if as_json:
        write_document(record_document(record))
    else:
        say(str(record.id))


@app.command("search", cls=StoreCommand)
def search(
    context: typer.Context,
    url: Url,
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="What to look for; without, the newest.")] = "",
    *,
    scope: Scopes = None,
    kinds: KindNames = None,
    tags: Tags = None,
    match_tags: MatchTags = "any",
    tiers: TierNames = None,
    as_of: AsOf = None,
    include_invalidated: Annotated[
        bool, typer.Option("--include-invalidated", help="Also what has been superseded or invalidated.")
    ] = False,
    limit: Limit = 10,
    after: Annotated[
        str | None, typer.Option("--after", metavar="CURSOR", help="Go on behind the last hit of the page before.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the valid records that fit a text best, or the newest."""
    query = _made(
        RecordQuery,
        text=text or None,
        scope=read_scope(scope),
        kinds=kinds or None,
        tags=tags or (),
        match_tags=match_tags,
        tiers=tiers or None,
        as_of=as_of,
        include_invalidated=include_invalidated,
        limit=limit,
        after=after,
    )
    with connected(context, url) as store:
        hits = store.run(store.records.search(query))
    if as_json:
        write_records(map(hit_document, hits))
    elif hits:
        show_records([hit.record for hit in hits], as_of=as_of)
        _tell_next(hits, query)
    else:
        tell("nothing found")


@app.command("get", cls=StoreCommand)
def get(context: typer.Context, url: Url, record_id: RecordId, *, as_json: AsJson = False) -> None:
    """Show one record by its id, whether it is valid or not."""
    with connected(context, url) as store:
        record = store.run(store.records.get(record_id))
    if record is None:
        raise _unknown(record_id)
    _show(record, as_json=as_json)


@app.command("history", cls=StoreCommand)
def history(context: typer.Context, url: Url, record_id: RecordId, *, as_json: AsJson = False) -> None:
    """Draw all that is linked with a record by superseding.

    The newest stands at the top, below each record what it superseded; a merge has several branches. With --json an
    array, the oldest first.
    """
    with connected(context, url) as store:
        records = store.run(store.chronicle.history(record_id))
    if not records:
        raise _unknown(record_id)
    if as_json:
        write_records(map(record_document, records))
    else:
        show_history(records)


@app.command("invalidate", cls=StoreCommand)
def invalidate(
    context: typer.Context,
    url: Url,
    record_id: RecordId,
    *,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why it is not true any more.")] = None,
    actor: Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Who says so.")] = None,
    as_json: AsJson = False,
) -> None:
    """End a record without a successor.

    It stays, and can be seen in its history. Whatever has ended already stays as it ended.
    """
    change = _made(Invalidation, id=record_id, reason=reason, actor=actor)
    with connected(context, url) as store:
        (record,) = store.run(store.records.write([change]))
    _show(record, as_json=as_json)


@app.command("delete", cls=StoreCommand)
def delete(
    context: typer.Context,
    url: Url,
    record_ids: Annotated[
        list[UUID] | None, typer.Argument(metavar="ID…", help="Ids of records.", show_default=False)
    ] = None,
    *,
    scope: Scopes = None,
    kinds: KindNames = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase by scope without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase records by their ids, or all of a scope, ended ones and every kind among them.

    Erasing is for what must not be kept. What is not true any more is superseded or invalidated instead.
    """
    pairs = read_scope(scope)
    if bool(record_ids) == bool(pairs) or (kinds and not pairs):
        what = "give either ids, or a scope and perhaps kinds"
        raise CommandFailed(what, advice="memcore records delete --help", code=ExitCode.USAGE)
    with connected(context, url) as store:
        if pairs:
            if not yes:
                _ask(store, pairs, kinds)
            chosen: Any = kinds or None
            wanted = erased = store.run(store.records.delete_where(pairs, kinds=chosen))
        else:
            ids = list(dict.fromkeys(record_ids or ()))
            wanted, erased = len(ids), sum(store.run(store.records.delete(record_id)) for record_id in ids)
    if as_json:
        write_document({"erased": erased, "not_found": wanted - erased})
    else:
        say(f"erased {plural(erased, 'record')}")
    if erased < wanted:
        raise CommandFailed(
            f"{plural(wanted - erased, 'record')} not found",
            advice="`memcore records search URL --include-invalidated` shows what is there",
        )


@app.command("sweep", cls=StoreCommand)
def sweep(
    context: typer.Context,
    url: Url,
    *,
    short_idle: Annotated[
        str, typer.Option("--short-idle", metavar="SPAN", help="How long a record of tier short may lie idle.")
    ] = "7d",
    long_idle: Annotated[
        str, typer.Option("--long-idle", metavar="SPAN", help="How long one of tier long may, as in 30d or 12h.")
    ] = "30d",
    as_json: AsJson = False,
) -> None:
    """Erase what has expired; invalidate what has lain idle for too long.

    Records of tier permanent and those without a tier are never touched. Made to be run from time to time, by cron
    for example, and safe while others use the store.
    """
    policy = SweepPolicy(
        short_idle=read_duration(short_idle, option="--short-idle"),
        long_idle=read_duration(long_idle, option="--long-idle"),
    )
    with connected(context, url) as store, progress("sweeping"):
        report = store.run(store.lifecycle.sweep(policy))
    if as_json:
        write_document(report.model_dump(mode="json"))
    else:
        say(f"erased {plural(report.erased, 'record')} that had expired, archived {report.archived:,} that lay idle")


def _made(model: type[Model], **fields: Any) -> Model:  # noqa: ANN401 - judged by the model
    """Return a model of what the command line says.

    Raises:
        CommandFailed: the model refuses it.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        advice = "change that part; nothing was sent"
        raise CommandFailed(faults_of(error), advice=advice, code=ExitCode.REFUSED) from None


def _way_out(error: MemoryConflict, change: MemoryWrite) -> str:
    current = error.current
    if isinstance(current, MemoryRecord) and current.id == change.id:
        return "leave --id out, or give another"
    if isinstance(current, MemoryRecord):
        return f"look at `memcore records get URL {current.id}`, then write again with --supersedes {current.id}"
    return " or ".join(_WHERE_NOW.format(record_id) for record_id in change.supersedes) or "leave --id out"


def _unknown(record_id: UUID) -> CommandFailed:
    advice = "`memcore records search URL --include-invalidated` shows what is there"
    return CommandFailed(f"there is no record {record_id}", advice=advice)


def _show(record: MemoryRecord, *, as_json: bool) -> None:
    if as_json:
        write_document(record_document(record))
    else:
        show_record(record)


def _tell_next(hits: list[MemoryHit], query: RecordQuery) -> None:
    if len(hits) == query.limit and query.text is None:
        tell(f"there may be more: --after {hits[-1].cursor}")


def _ask(store: Connection, scope: dict[str, str], kinds: list[str] | None) -> None:
    """Let the user confirm an erasure; whoever cannot be asked has to say --yes."""
    if not sys.stdin or not sys.stdin.isatty():
        raise CommandFailed("nobody can be asked here whether to erase", advice="add --yes", code=ExitCode.USAGE)
    query = _made(RecordQuery, scope=scope, kinds=kinds or KINDS, include_invalidated=True, limit=_COUNTED)
    found = len(store.run(store.records.search(query)))
    number = f"{found:,} or more records" if found == _COUNTED else plural(found, "record")
    if not typer.confirm(f"Erase {number} for good?", err=True):
        raise CommandFailed("nothing was erased", advice="answer y to erase")
