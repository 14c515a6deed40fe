"""What records are made of: `MemoryRecord`, the changes that make and end one, and `RecordQuery` (R-02 to R-05).

A record has two parts. The caller's part is fixed at birth. The other is the store's: when it was written, what became
of it, how often it was used. Four ends are four different things: a record is *superseded* by another, *invalidated*
without one, *expires* at a time set at birth, or is *deleted*, which leaves nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self
from uuid import UUID, uuid4

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from memcore.records.cursor import encode_place
from memcore.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind = Literal["fact", "preference", "episode", "profile", "observation", "state"]
"""What sort of memory it is; the last two are internal, found only by a search that names them (R-03)."""
Tier = Literal["short", "long", "permanent"]
"""How long a record may lie idle before a sweep archives it (R-21)."""
Status = Literal["expired", "superseded", "invalidated", "valid"]
Mode = Literal["auto", "keyword", "semantic", "hybrid"]

MEMORY_KINDS: Final[tuple[Kind, ...]] = ("fact", "preference", "episode", "profile")
"""The kinds that a search finds unless it names others."""
TIERS: Final[tuple[Tier, ...]] = ("short", "long", "permanent")
"""Lowest first; a tier only ever rises."""

MOST_HITS: Final = (1 << 31) - 1
"""Hits are counted up to here: every database takes such a number."""

_MICROSECOND: Final = timedelta(microseconds=1)


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        msg = "the time has no form in UTC: it lies before year 1 or after year 9999"
        raise ValueError(msg) from error


def _prompt_ready(text: str) -> str:
    if not text:
        msg = "must not be empty"
        raise ValueError(msg)
    if "\0" in text:
        msg = "must not hold U+0000"
        raise ValueError(msg)
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        msg = "must not hold surrogates"
        raise ValueError(msg)
    return text


Time = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time with a zone, kept in UTC; one without is refused."""
Content = Annotated[str, AfterValidator(_prompt_ready)]


class _Frozen(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Provenance(_Frozen):
    """Where something is known from; each part is the host's own name for it."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        revalidate_instances="always"
    )  # a store judges what it is given, all of it

    conversation_id: str | None = None
    run_id: str | None = None
    author: str | None = None


class CallersPart(_Frozen):
    """What a caller says about a record; never changed afterwards, but for the tier, which rises with use."""

    id: UUID = Field(default_factory=uuid4)
    """Made by the client, so that every write can be retried (R-11)."""
    scope: Scope = Scope()
    """Whose memory it is (R-01)."""
    kind: Kind = "fact"
    content: Content
    """Natural language, ready for a prompt: not empty, without U+0000 and surrogates."""
    tags: tuple[str, ...] = ()
    provenance: Provenance = Provenance()
    expires_at: Time | None = None
    """From this moment on it is found by nothing (R-16)."""
    target: dict[str, Any] | None = None
    """A typed pointer into the host's own composition, exact JSON, kept untouched."""
    payload: Any = None
    """A structured form of the content, exact JSON."""
    supports: tuple[Provenance, ...] = ()
    """What else is evidence for it."""
    context: str | None = None
    """What was said before, a heading: helps to find the record, is never rendered."""
    tier: Tier | None = None
    """Without a tier, a record never decays."""


class MemoryRecord(CallersPart):
    """A fact with provenance and validity, as a store keeps it (R-02)."""

    id: UUID
    created_at: Time
    """The store's own time (R-18)."""
    updated_at: Time
    """When it was written, superseded or invalidated; a use does not move it."""
    invalid_at: Time | None = None
    """From this moment on it is not valid; until then it was."""
    invalid_reason: str | None = None
    invalidated_by: str | None = None
    """Who invalidated it."""
    superseded_by: UUID | None = None
    hits: int = Field(default=0, ge=0, le=MOST_HITS)
    """How often it was used."""
    last_hit_at: Time | None = None
    refreshed_at: Time | None = None
    """When its idle clock was last set back without a use (R-21)."""

    @model_validator(mode="after")
    def _is_coherent(self) -> Self:
        ended = self.superseded_by or self.invalid_reason is not None or self.invalidated_by is not None
        if self.invalid_at is None and ended:
            msg = "superseded_by, invalid_reason and invalidated_by need invalid_at"
            raise ValueError(msg)
        if self.superseded_by == self.id:
            msg = "a record cannot supersede itself"
            raise ValueError(msg)
        if min(self.updated_at, self.invalid_at or self.updated_at) < self.created_at:
            msg = "updated_at and invalid_at must not lie before created_at"
            raise ValueError(msg)
        return self

    def status_at(self, moment: datetime) -> Status:
        """Return what the record is, or was, at a moment; the first that is true of the four, in this order.

        Raises:
            ValueError: the moment has no time zone.
        """
        if moment.utcoffset() is None:
            msg = "a moment needs a time zone"
            raise ValueError(msg)
        if self.expires_at is not None and self.expires_at <= moment:
            return "expired"
        if self.invalid_at is None or self.invalid_at > moment:
            return "valid"
        return "invalidated" if self.superseded_by is None else "superseded"

    def __hash__(self) -> int:
        return hash(self.id)


class MemoryWrite(CallersPart):
    """A new record, and what it supersedes: none, one, or in a merge several (R-04)."""

    supersedes: tuple[UUID, ...] = ()

    if TYPE_CHECKING:  # what validation takes; type checkers believe that a field takes its own type alone

        def __init__(
            self,
            *,
            content: str,
            id: UUID | str = ...,  # noqa: A002 - the field's name
            scope: Mapping[str, str] = ...,
            kind: Kind = ...,
            tags: Sequence[str] = ...,
            provenance: Provenance = ...,
            expires_at: datetime | None = ...,
            target: dict[str, Any] | None = ...,
            payload: object = ...,
            supports: Sequence[Provenance] = ...,
            context: str | None = ...,
            tier: Tier | None = ...,
            supersedes: Sequence[UUID] = ...,
        ) -> None: ...

    def __hash__(self) -> int:
        return hash(self.id)


class Invalidation(_Frozen):
    """The end of a record without a successor (R-13)."""

    id: UUID
    reason: str | None = None
    actor: str | None = None
    """Who invalidates it."""


class RecordQuery(_Frozen):
    """Which records to look for; all conditions are ANDed, and hold before the limit (R-05, R-16)."""

    text: str | None = None
    """Words to look for; without, the newest come first."""
    scope: Scope = Scope()
    """Every pair of it must be in the record's scope, exactly; empty means everything."""
    kinds: tuple[Kind, ...] | None = None
    """`None` means the four memory kinds; empty finds nothing."""
    tags: tuple[str, ...] = ()
    """Empty is no condition."""
    match_tags: Literal["any", "all"] = "any"
    tiers: tuple[Tier, ...] | None = None
    """`None` is no condition; empty finds nothing."""
    include_invalidated: bool = False
    as_of: Time | None = None
    """What was valid at that moment, of what has not expired since."""
    mode: Mode = "auto"
    limit: int = 20
    after: str | None = None
    """The `cursor` of the last hit of the page before; for queries without text alone."""

    if TYPE_CHECKING:  # as in `MemoryWrite`

        def __init__(
            self,
            *,
            text: str | None = ...,
            scope: Mapping[str, str] = ...,
            kinds: Sequence[Kind] | None = ...,
            tags: Sequence[str] = ...,
            match_tags: Literal["any", "all"] = ...,
            tiers: Sequence[Tier] | None = ...,
            include_invalidated: bool = ...,
            as_of: datetime | None = ...,
            mode: Mode = ...,
            limit: int = ...,
            after: str | None = ...,
        ) -> None: ...


class MemoryHit(_Frozen):
    """One record that was found."""

    record: MemoryRecord
    score: float | None
    """How well it fits the text, by the store's own measure; `None` without a text."""

    @property
    def cursor(self) -> str:
        """What `RecordQuery.after` takes to go on behind this hit; opaque."""
        return encode_place((self.record.created_at - EPOCH) // _MICROSECOND, self.record.id)


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
