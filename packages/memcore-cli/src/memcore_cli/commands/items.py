"""Commands on the items of a store: `add`, `search`, `get`, `list`, `delete`."""

from __future__ import annotations

import sys
from typing import Annotated, Any
from uuid import UUID

import typer
from memcore.items.model import MemoryItem, MemoryQuery

from memcore_cli.connection import Connection, connected, warn_if_forgetful
from memcore_cli.exit_codes import ExitCode
from memcore_cli.failures import CommandFailed
from memcore_cli.item_json import item_document
from memcore_cli.listing import item_pages
from memcore_cli.output import compact, content_text, say, show_fields, show_items, tell, write_document, write_items
from memcore_cli.parameters import AsJson, Filters, ItemId, Limit, Metadata, Tags, Url, read_argument, read_entries
from memcore_cli.source import read_text
from memcore_cli.text import moment, plural

_COUNTED = 1000
"""How many matches are counted before an erasure is asked about."""


def add(
    context: typer.Context,
    url: Url,
    content: Annotated[str, typer.Argument(metavar="CONTENT", help="What to remember; - reads standard input.")],
    *,
    tags: Tags = None,
    metadata: Metadata = None,
    item_id: Annotated[UUID | None, typer.Option("--id", help="The item's id; an item of that id is replaced.")] = None,
    json_content: Annotated[bool, typer.Option("--json-content", help="CONTENT is JSON, not text.")] = False,
    as_json: AsJson = False,
) -> None:
    """Store one item and print its id.

    Of what is read from standard input, one line end at the end is left out.
    """
    text = read_text() if content == "-" else content
    value = read_argument(text, option="CONTENT") if json_content else text
    fields: dict[str, Any] = {"id": item_id} if item_id else {}
    item = MemoryItem(content=value, tags=tags or [], metadata=read_entries(metadata, option="--meta"), **fields)
    with connected(context, url) as store:
        store.run(store.items.store(item))
        warn_if_forgetful(store)
    if as_json:
        write_document(item_document(item))
    else:
        say(str(item.id))


def search(
    context: typer.Context,
    url: Url,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for; an empty text finds the newest.")],
    *,
    tags: Tags = None,
    filters: Filters = None,
    limit: Limit = 10,
    as_json: AsJson = False,
) -> None:
    """Find the items that fit a text best.

    An item fits if it has any of the words, any of the tags and all of the filters.
    """
    query = MemoryQuery(text=text, tags=tags, filters=read_entries(filters, option="--filter"), limit=limit)
    with connected(context, url) as store:
        _show(store.run(store.items.search(query)), as_json=as_json)


def get(context: typer.Context, url: Url, item_id: ItemId, *, as_json: AsJson = False) -> None:
    """Show one item by its id."""
    with connected(context, url) as store:
        item = store.run(store.items.retrieve(item_id))
    if item is None:
        raise CommandFailed(f"there is no item {item_id}", advice="`memcore list URL` shows what is there")
    if as_json:
        write_document(item_document(item))
        return
    show_fields(
        [
            ("id", str(item.id)),
            ("created", moment(item.created_at)),
            ("tags", ", ".join(item.tags) or "none"),
            ("metadata", compact(item.metadata)),
            ("content", content_text(item)),
        ]
    )


def list_items(
    context: typer.Context,
    url: Url,
    *,
    limit: Limit = 20,
    everything: Annotated[bool, typer.Option("--all", help="All items, in order of id, however many.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the newest items, or all."""
    with connected(context, url) as store:
        if not everything:
            _show(store.run(store.items.search(MemoryQuery(limit=limit))), as_json=as_json)
        elif as_json:
            write_items(item for page in item_pages(store) for item in page)
        else:
            first = 1
            for page in item_pages(store):
                show_items(page, first=first)
                first += len(page)


def delete(
    context: typer.Context,
    url: Url,
    item_ids: Annotated[
        list[UUID] | None, typer.Argument(metavar="ID…", help="Ids of items.", show_default=False)
    ] = None,
    *,
    filters: Filters = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Erase by filter without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase items by their ids, or by a filter."""
    conditions = read_entries(filters, option="--filter")
    if bool(item_ids) == bool(conditions):
        raise CommandFailed("give either ids or filters", advice="memcore delete --help", code=ExitCode.USAGE)
    with connected(context, url) as store:
        if conditions and not yes:
            _ask(store, conditions)
        if conditions:
            wanted = erased = store.run(store.managed.delete_where(conditions))
        else:
            ids = list(dict.fromkeys(item_ids or ()))
            wanted, erased = len(ids), store.run(store.managed.delete_many(ids))
    if as_json:
        write_document({"erased": erased, "not_found": wanted - erased})
    else:
        say(f"erased {plural(erased, 'item')}")
    if erased < wanted:
        raise CommandFailed(
            f"{plural(wanted - erased, 'item')} not found", advice="`memcore list URL --all` shows all ids"
        )


def _show(items: list[MemoryItem], *, as_json: bool) -> None:
    if as_json:
        write_items(items)
    elif items:
        show_items(items)
    else:
        tell("nothing found")


def _ask(store: Connection, conditions: dict[str, object]) -> None:
    """Let the user confirm an erasure; whoever cannot be asked has to say --yes."""
    if not sys.stdin or not sys.stdin.isatty():
        raise CommandFailed("nobody can be asked here whether to erase", advice="add --yes", code=ExitCode.USAGE)
    found = len(store.run(store.items.search(MemoryQuery(filters=conditions, limit=_COUNTED))))
    number = f"{found:,} or more items" if found == _COUNTED else plural(found, "item")
    if not typer.confirm(f"Erase {number} for good?", err=True):
        raise CommandFailed("nothing was erased", advice="answer y to erase")
