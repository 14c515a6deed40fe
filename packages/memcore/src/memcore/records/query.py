"""A record query as a store answers it: checked before any transport, in one form for every backend (R-05, R-16)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from memcore.errors import UnsupportedMemoryItem, UnsupportedMemoryQuery
from memcore.kit.query import LARGEST_LIMIT, MOST_FILTERS, check_id
from memcore.kit.text import analyse_query
from memcore.records.cursor import decode_place
from memcore.records.model import MEMORY_KINDS, TIERS, Invalidation, Kind, RecordQuery, Tier
from memcore.records.rows import to_micros
from memcore.records.store import SweepPolicy
from memcore.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from memcore.backend import SearchMode
    from memcore.records.cursor import Place
    from memcore.records.rows import RecordRow

M = TypeVar("M", bound=BaseModel)

MOST_CONDITIONS: Final = MOST_FILTERS
"""Scope pairs, and tags, of one query at most: databases bound how many conditions a statement may have (I-45)."""


@dataclass(frozen=True, slots=True)
class CheckedRecordQuery:
    """A query that the store can answer; `finds_nothing` tells of one that needs no transport."""

    text: str
    words: tuple[str, ...]
    """The analysed words of the text."""
    scope: Scope
    kinds: frozenset[Kind]
    tags: tuple[str, ...]
    all_tags: bool
    tiers: frozenset[Tier] | None
    include_invalidated: bool
    as_of: int | None
    """Microseconds since 1970; likewise in `after`."""
    limit: int
    after: Place | None

    @property
    def finds_nothing(self) -> bool:
        """Whether nothing can match, whatever is stored."""
        hopeless = not self.kinds or self.tiers == frozenset() or (bool(self.text) and not self.words)
        return hopeless or self.limit == 0

    def is_met_by(self, row: RecordRow, now: int) -> bool:
        """Tell whether kind, tier, expiry, validity and place are as asked for; scope, tags and words are left out.

        A query of what is valid now asks whether the record has ended, not when: other clients' clocks may be ahead.
        """
        if row.kind not in self.kinds or (self.tiers is not None and row.tier not in self.tiers):
            return False
        if row.is_expired(now if self.as_of is None else max(now, self.as_of)):
            return False
        if self.as_of is not None and row.created_at > self.as_of:
            return False
        if not self.include_invalidated and not self._is_valid(row):
            return False
        return self.after is None or (row.created_at, row.id) < self.after

    def _is_valid(self, row: RecordRow) -> bool:
        return row.invalid_at is None or (self.as_of is not None and row.invalid_at > self.as_of)


def check_record_query(query: RecordQuery, mode: SearchMode = "keyword") -> CheckedRecordQuery:
    """Check a query and return it in one form; `mode` is what the store's search can do.

    Raises:
        UnsupportedMemoryQuery: it is no `RecordQuery`, its limit is negative, its mode is not offered, there are too
            many conditions, or `after` is no cursor or stands beside a text; all offending keys at once.
    """
    if not isinstance(query, RecordQuery):
        reason = f"a RecordQuery is needed, not {type(query).__name__}"
        raise UnsupportedMemoryQuery(["query"], reason=reason)
    query = _judged(RecordQuery, query)
    offered = {"auto", mode} if mode != "hybrid" else {"auto", "keyword", "semantic", "hybrid"}
    judged = (
        ("after", query.after is None or not query.text, "only for a search without a text"),
        ("limit", query.limit >= 0, "below 0"),
        ("mode", query.mode in offered, f"{query.mode} is not offered"),
        ("scope", len(query.scope) <= MOST_CONDITIONS, f"over the limit of {MOST_CONDITIONS} pairs"),
        ("tags", len(query.tags) <= MOST_CONDITIONS, f"over the limit of {MOST_CONDITIONS}"),
    )
    if reasons := {key: f"{key}: {reason}" for key, fits, reason in judged if not fits}:
        raise UnsupportedMemoryQuery(reasons, reason="; ".join(reasons.values()))
    text = query.text or ""
    return CheckedRecordQuery(
        text=text,
        words=tuple(analyse_query(text)) if text else (),
        scope=query.scope,
        kinds=frozenset(MEMORY_KINDS if query.kinds is None else query.kinds),
        tags=tuple(dict.fromkeys(query.tags)),
        all_tags=query.match_tags == "all",
        tiers=None if query.tiers is None else frozenset(query.tiers),
        include_invalidated=query.include_invalidated,
        as_of=None if query.as_of is None else to_micros(query.as_of),
        limit=min(query.limit, LARGEST_LIMIT),
        after=None if query.after is None else decode_place(query.after),
    )


def check_scope_erasure(scope: Mapping[str, str], kinds: Sequence[Kind] | None) -> tuple[Scope, frozenset[Kind] | None]:
    """Check what `delete_where` is to erase (R-19); no kinds means every kind.

    Raises:
        UnsupportedMemoryQuery: the scope is empty or no scope, or a kind is unknown.
    """
    try:
        checked = Scope(scope)
    except (TypeError, ValueError) as error:
        raise UnsupportedMemoryQuery(["scope"], reason=str(error)) from error
    if not checked:
        raise UnsupportedMemoryQuery(["scope"], reason="an empty scope would erase everything: drop_namespace() does")
    if len(checked) > MOST_CONDITIONS:
        raise UnsupportedMemoryQuery(["scope"], reason=f"over the limit of {MOST_CONDITIONS} pairs")
    if kinds is None:
        return checked, None
    known: tuple[Kind, ...] = get_args(Kind)
    if not isinstance(kinds, Collection) or isinstance(kinds, str) or not all(kind in known for kind in kinds):
        raise UnsupportedMemoryQuery(["kinds"], reason=f"a sequence of kinds is needed: {', '.join(known)}")
    return checked, frozenset(kind for kind in known if kind in kinds)


def check_invalidation(record_id: UUID, reason: str | None, actor: str | None) -> Invalidation:
    """Return the change that a call of `invalidate` stands for (R-13).

    Raises:
        UnsupportedMemoryQuery: the id is no UUID.
        UnsupportedMemoryItem: reason or actor is no text.
    """
    for field, text in {"reason": reason, "actor": actor}.items():
        if text is not None and not isinstance(text, str):
            raise UnsupportedMemoryItem(field=field, reason=f"text is needed, not {type(text).__name__}")
    return Invalidation(id=check_id(record_id), reason=reason, actor=actor)


def check_tier(tier: Tier | None) -> Tier | None:
    """Return the tier if it is one, or none.

    Raises:
        UnsupportedMemoryQuery: it is something else.
    """
    if tier is None or tier in TIERS:
        return tier
    raise UnsupportedMemoryQuery(["tier"], reason=f"one of {', '.join(TIERS)} is needed")


def check_policy(policy: SweepPolicy | None) -> SweepPolicy:
    """Return the policy, or the usual one if there is none.

    Raises:
        UnsupportedMemoryQuery: it is something else, or holds what no policy may.
    """
    if policy is None:
        return SweepPolicy()
    if isinstance(policy, SweepPolicy):
        return _judged(SweepPolicy, policy)
    raise UnsupportedMemoryQuery(["policy"], reason=f"a SweepPolicy is needed, not {type(policy).__name__}")


def _judged(model: type[M], value: M) -> M:
    """Return the value as validation makes it: `model_construct` and `model_copy` pass it by."""
    try:
        return model.model_validate(vars(value))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
    reasons = [f"{fault['loc'][0]}: {fault['msg']}" for fault in faults]
    # not chained: the cause shows the values
    raise UnsupportedMemoryQuery([str(fault["loc"][0]) for fault in faults], reason="; ".join(reasons))
