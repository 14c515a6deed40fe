"""The arguments and options that several commands share, and how their texts are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

import typer

from memcore_cli.json_text import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable

URL_VARIABLE: Final = "MEMCORE_URL"

Url = Annotated[
    str,
    typer.Argument(
        metavar="URL",
        help=f"The store, such as sqlite:///memory.db. May be left out where {URL_VARIABLE} names one.",
        show_default=False,
    ),
]
ItemId = Annotated[UUID, typer.Argument(metavar="ID", help="The id of an item.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text for people.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="A tag; may be repeated.")]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        "-f",
        metavar="KEY=TEXT",
        help="A metadata entry that must be equal; KEY:=JSON for anything but text; may be repeated.",
    ),
]
Metadata = Annotated[
    list[str] | None,
    typer.Option(
        "--meta",
        "-m",
        metavar="KEY=TEXT",
        help="A metadata entry; KEY:=JSON for anything but text, as in year:=2026; may be repeated.",
    ),
]
AcceptedLosses = Annotated[
    list[str] | None,
    typer.Option("--accept-loss", metavar="WHAT", help="A loss that may be, as the refusal names it; may be repeated."),
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=0, help="How many at most.")]


def read_entries(texts: Iterable[str] | None, *, option: str) -> dict[str, object]:
    """Return the metadata entries that `KEY=TEXT` and `KEY:=JSON` stand for.

    Raises:
        typer.BadParameter: one has another form, or a key stands twice.
    """
    entries: dict[str, object] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        is_json = key.endswith(":")
        key = key.removesuffix(":")
        if not equals:
            raise typer.BadParameter("expected KEY=TEXT or KEY:=JSON", param_hint=option)
        if key in entries:
            raise typer.BadParameter(f"{key!r} stands twice", param_hint=option)
        entries[key] = read_argument(value, option=option) if is_json else value
    return entries


def read_argument(text: str, *, option: str) -> object:
    """Return the JSON value that stands on the command line.

    Raises:
        typer.BadParameter: it is not exact JSON.
    """
    try:
        return read_json(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def decode_argument(text: str) -> str:
    """Return an argument that this locale could not decode as the UTF-8 that it is.

    Raises:
        typer.BadParameter: it is not UTF-8 either.
    """
    if text.isascii():
        return text
    try:
        return os.fsencode(text).decode("utf-8") if any("\udc80" <= char <= "\udcff" for char in text) else text
    except UnicodeError:
        raise typer.BadParameter("an argument is not UTF-8 text", param_hint=ascii(text)) from None
