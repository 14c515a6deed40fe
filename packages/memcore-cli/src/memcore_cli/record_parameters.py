"""The options that the commands on records share, and how their texts are read."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final, get_args
from uuid import UUID

import typer
from memcore.records.model import TIERS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_DURATION: Final = re.compile("([0-9]+)([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def _one_of(names: Sequence[str]) -> Callable[[str], str]:
    """Return what takes one of some names and refuses any other."""

    def take(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r} is none of {', '.join(names)}")
        return text

    return take


def read_time(text: str) -> datetime:
    """Return the time that an ISO 8601 text with a zone stands for.

    Raises:
        typer.BadParameter: it is no such text.
    """
    try:
        time = datetime.fromisoformat(text)
        if time.utcoffset() is None:
            raise typer.BadParameter("a time needs its zone, as in 2026-05-01T12:00:00+02:00 or 2026-05-01T10:00:00Z")
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{text!r} is no time; write it as in 2026-05-01T12:00:00+02:00") from None


def read_duration(text: str, *, option: str) -> timedelta:
    """Return the time span that a number with its unit stands for, as in `7d`.

    Raises:
        typer.BadParameter: it is no such text, or nothing.
    """
    match = _DURATION.fullmatch(text)
    try:
        duration = timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else timedelta(0)
    except (ValueError, OverflowError):
        duration = timedelta(0)
    if not duration:
        raise typer.BadParameter(f"{text!r} is no time span; write it as in 7d, 12h, 30m or 45s", param_hint=option)
    return duration


def read_scope(texts: Iterable[str] | None) -> dict[str, str]:
    """Return the scope that `KEY=VALUE` pairs stand for.

    Raises:
        typer.BadParameter: one has another form, or a key stands twice.
    """
    scope: dict[str, str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise typer.BadParameter("expected KEY=VALUE, as in user=ada", param_hint="--scope")
        if key in scope:
            raise typer.BadParameter(f"{key!r} stands twice", param_hint="--scope")
        scope[key] = value
    return scope


RecordId = Annotated[UUID, typer.Argument(metavar="ID", help="The id of a record.")]
Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", "-s", metavar="KEY=VALUE", help="A pair of the scope, as in user=ada; may be repeated."),
]
KindName = Annotated[str, typer.Option("--kind", "-k", metavar="KIND", parser=_one_of(KINDS), help=", ".join(KINDS))]
KindNames = Annotated[
    list[str] | None,
    typer.Option("--kind", "-k", metavar="KIND", parser=_one_of(KINDS), help=f"{', '.join(KINDS)}; may be repeated."),
]
TierName = Annotated[
    str | None,
    typer.Option(
        "--tier", metavar="TIER", parser=_one_of(TIERS), help=f"{', '.join(TIERS)}; without one it never decays."
    ),
]
TierNames = Annotated[
    list[str] | None,
    typer.Option("--tier", metavar="TIER", parser=_one_of(TIERS), help=f"{', '.join(TIERS)}; may be repeated."),
]
MatchTags = Annotated[
    str,
    typer.Option(
        "--match-tags", metavar="HOW", parser=_one_of(("any", "all")), help="Whether any tag must be there, or all."
    ),
]
Supersedes = Annotated[
    list[UUID] | None,
    typer.Option("--supersedes", metavar="ID", help="A record that this one takes the place of; may be repeated."),
]
ExpiresAt = Annotated[
    datetime | None,
    typer.Option("--expires-at", metavar="TIME", parser=read_time, help="When it stops being found by anything."),
]
AsOf = Annotated[
    datetime | None,
    typer.Option("--as-of", metavar="TIME", parser=read_time, help="What was valid then; ISO 8601 with a zone."),
]
