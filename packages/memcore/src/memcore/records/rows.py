"""A record and the row that keeps it: one exact payload that never changes, and beside it what does.

Times are whole microseconds since 1970 in UTC, so that no engine rounds them and no time zone moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from memcore.errors import MalformedMemoryPayload, UnsupportedMemoryItem
from memcore.kit import exact_json
from memcore.kit.trusted import build
from memcore.records.model import EPOCH, CallersPart, Invalidation, MemoryRecord, MemoryWrite, Provenance
from memcore.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memcore.items.payload import SizeLimits
    from memcore.records.model import Kind, Tier

M = TypeVar("M", bound=BaseModel)

MICROSECOND: Final = timedelta(microseconds=1)
_DIGEST_BYTES: Final = 16
_NOWHERE: Final = Provenance()
_ORDER: Final = tuple(MemoryRecord.model_fields)
_SPARE: Final[dict[str, Any]] = {
    "tags": [],
    "provenance": [None, None, None],
    "target": None,
    "payload": None,
    "supports": [],
    "context": None,
}
"""What a payload leaves out."""
FIRST_TIME: Final = (datetime.min.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
LAST_TIME: Final = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
"""The bounds of the calendar: a store's time stays at the last one rather than leave it."""
_NOT_OURS: Final = (TypeError, KeyError, ValueError, OverflowError, AttributeError)
"""What shows that a row, or a part of one, is not what this module made."""


class RecordRow(NamedTuple):
    """What every store keeps of a record; the names are those of its columns."""

    id: UUID
    payload: str
    """Exact JSON of the caller's part, without what has a column of its own."""
    kind: Kind
    created_at: int
    updated_at: int
    expires_at: int | None
    tier: Tier | None
    written: bytes | None
    """Digest of the write that made it, by which a retry is known (R-11); none if it was restored."""
    invalid_at: int | None = None
    ending: str | None = None
    """Exact JSON of reason and actor."""
    superseded_by: UUID | None = None
    hits: int = 0
    last_hit_at: int | None = None
    refreshed_at: int | None = None

    def is_expired(self, now: int) -> bool:
        """Tell whether it has expired: the very moment counts (R-16)."""
        return self.expires_at is not None and self.expires_at <= now

    def idle_since(self) -> int:
        """Return since when it was neither used nor refreshed (R-21)."""
        return max(self.created_at, self.last_hit_at or self.created_at, self.refreshed_at or self.created_at)


class EncodedWrite(NamedTuple):
    """A write that passed every check at the door."""

    id: UUID
    payload: str
    kind: Kind
    expires_at: int | None
    tier: Tier | None
    written: bytes
    supersedes: tuple[UUID, ...]
    source: MemoryWrite
    """What it was made of, for deriving words and terms."""

    def born(self, now: int) -> RecordRow:
        """Return the row of the new record."""
        return RecordRow(self.id, self.payload, self.kind, now, now, self.expires_at, self.tier, self.written)

    def made(self, row: RecordRow) -> bool:
        """Tell whether this very write made that row (R-11).

        Of a restored record nobody knows what it superseded nor its first tier: the rest must be the same.
        """
        if row.written is None:
            return (self.payload, self.kind, self.expires_at) == (row.payload, row.kind, row.expires_at)
        return self.written == row.written


class EncodedInvalidation(NamedTuple):
    """An invalidation that passed every check at the door."""

    id: UUID
    ending: str | None


EncodedChange = EncodedWrite | EncodedInvalidation


def encode_changes(changes: Sequence[MemoryWrite | Invalidation], limits: SizeLimits) -> list[EncodedChange]:
    """Check a whole batch before any of it is written (R-10, R-12).

    Raises:
        UnsupportedMemoryItem: one change is refused (its path starts with its place), or there are too many.
    """
    _check_batch(changes, "changes", limits)
    encoded = [_encode_change(change, limits, f"changes[{place}]") for place, change in enumerate(changes)]
    _check_supersedes(encoded, limits)
    return encoded


def encode_record(record: MemoryRecord, limits: SizeLimits, *, place: str = "record") -> RecordRow:
    """Check a record that is to be restored, and return its row (R-22).

    Raises:
        UnsupportedMemoryItem: it is no `MemoryRecord`, or a part would not come back exactly or is over a limit.
    """
    if not isinstance(record, MemoryRecord):
        raise _refusal(place, "", f"a MemoryRecord is needed, not {type(record).__name__}")
    record = _judged(MemoryRecord, record, place)
    return RecordRow(
        id=_plain(record.id),
        payload=_encode_part(record, limits, place),
        kind=record.kind,
        created_at=to_micros(record.created_at),
        updated_at=to_micros(record.updated_at),
        expires_at=_optional_micros(record.expires_at),
        tier=record.tier,
        written=None,
        invalid_at=_optional_micros(record.invalid_at),
        ending=_encode_ending(record.invalid_reason, record.invalidated_by, limits, place),
        superseded_by=None if record.superseded_by is None else _plain(record.superseded_by),
        hits=record.hits,
        last_hit_at=_optional_micros(record.last_hit_at),
        refreshed_at=_optional_micros(record.refreshed_at),
    )


def encode_records(records: Sequence[MemoryRecord], limits: SizeLimits) -> list[RecordRow]:
    """Check all records before any is restored; of one id, the last counts.

    Raises:
        UnsupportedMemoryItem: one is refused (its path starts with its place), or there are too many.
    """
    _check_batch(records, "records", limits)
    return [encode_record(record, limits, place=f"records[{place}]") for place, record in enumerate(records)]


def decode_record(row: RecordRow) -> MemoryRecord:
    """Return the record of a stored row; decoded, not judged again.

    Raises:
        MalformedMemoryPayload: the row is not what this module made.
    """
    try:
        fields = _fields(row)
        return build(MemoryRecord, {name: fields[name] for name in _ORDER})
    except _NOT_OURS as error:
        msg = f"the stored payload of record {row.id} is not what its contract says"
        raise MalformedMemoryPayload(msg) from error


def read_record(row: RecordRow) -> MemoryRecord:
    """Return the record of a row that did not come from a store of ours, judged as what any caller gives.

    Raises:
        MalformedMemoryPayload: it is none.
    """
    with _judging(f"record {row.id}"):
        return MemoryRecord(**_fields(row))


def read_write(
    *,
    write_id: UUID,
    payload: str,
    kind: Kind,
    expires_at: int | None,
    tier: Tier | None,
    supersedes: Sequence[UUID],
) -> MemoryWrite:
    """Return the write that was encoded as these parts, judged as what any caller gives; encoded again it is the same.

    Raises:
        MalformedMemoryPayload: they are of none.
    """
    with _judging(f"write {write_id}"):
        part = _decode_part(payload)
        return MemoryWrite(
            id=write_id, kind=kind, expires_at=_optional_time(expires_at), tier=tier, supersedes=supersedes, **part
        )


def read_invalidation(record_id: UUID, ending: str | None) -> Invalidation:
    """Return the invalidation that was encoded as these parts, judged as what any caller gives.

    Raises:
        MalformedMemoryPayload: they are of none.
    """
    with _judging(f"the invalidation of {record_id}"):
        reason, actor = _decode_ending(ending)
        return Invalidation(id=record_id, reason=reason, actor=actor)


def to_micros(moment: datetime) -> int:
    """Return a time in microseconds since 1970."""
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the time of that many microseconds since 1970, in UTC.

    Raises:
        OverflowError: no calendar has it.
    """
    return EPOCH + timedelta(microseconds=micros)


@contextmanager
def _judging(what: str) -> Iterator[None]:
    msg = f"what stands for {what} is none"
    try:
        yield
    except ValidationError:  # not chained: it shows the values
        raise MalformedMemoryPayload(msg) from None
    except _NOT_OURS as error:
        raise MalformedMemoryPayload(msg) from error


def _fields(row: RecordRow) -> dict[str, Any]:
    reason, actor = _decode_ending(row.ending)
    return _decode_part(row.payload) | {
        "id": row.id,
        "kind": row.kind,
        "expires_at": _optional_time(row.expires_at),
        "tier": row.tier,
        "created_at": from_micros(row.created_at),
        "updated_at": from_micros(row.updated_at),
        "invalid_at": _optional_time(row.invalid_at),
        "invalid_reason": reason,
        "invalidated_by": actor,
        "superseded_by": row.superseded_by,
        "hits": row.hits,
        "last_hit_at": _optional_time(row.last_hit_at),
        "refreshed_at": _optional_time(row.refreshed_at),
    }


def _decode_part(payload: str) -> dict[str, Any]:
    part = _SPARE | exact_json.decode(payload)
    fields = {
        "scope": Scope(part.pop("scope")),
        "content": part.pop("content"),
        "tags": tuple(_listed(part.pop("tags"))),
        "provenance": _decode_provenance(part.pop("provenance")),
        "target": part.pop("target"),
        "payload": part.pop("payload"),
        "supports": tuple(map(_decode_provenance, _listed(part.pop("supports")))),
        "context": part.pop("context"),
    }
    if part:
        msg = f"{len(part)} unknown fields"
        raise ValueError(msg)
    return fields


def _decode_ending(ending: str | None) -> tuple[str | None, str | None]:
    reason, actor = (None, None) if ending is None else _listed(exact_json.decode(ending))
    return reason, actor


def _check_batch(values: object, field: str, limits: SizeLimits) -> None:
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise UnsupportedMemoryItem(field=field, reason=f"a sequence is needed, not {type(values).__name__}")
    if len(values) > limits.batch:
        raise UnsupportedMemoryItem(field=field, reason=f"over the limit of {limits.batch:,} {field} in one call")


def _judged(model: type[M], value: M, place: str) -> M:
    """Return the value as validation makes it: `model_construct` and `model_copy` pass it by."""
    try:
        return model.model_validate(vars(value))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = str(next(iter(fault["loc"]), ""))
    path = field + "".join(f"[{part!r}]" for part in fault["loc"][1:])
    # not chained: the cause shows the value
    raise _refusal(place, field, fault["msg"].removeprefix("Value error, "), path)


def _encode_change(change: object, limits: SizeLimits, place: str) -> EncodedChange:
    if isinstance(change, Invalidation):
        end = _judged(Invalidation, change, place)
        return EncodedInvalidation(_plain(end.id), _encode_ending(end.reason, end.actor, limits, place))
    if not isinstance(change, MemoryWrite):
        raise _refusal(place, "", f"a MemoryWrite or an Invalidation is needed, not {type(change).__name__}")
    change = _judged(MemoryWrite, change, place)
    payload = _encode_part(change, limits, place)
    expires_at = _optional_micros(change.expires_at)
    supersedes = tuple(map(_plain, change.supersedes))
    caller = repr((payload, change.kind, expires_at, change.tier, sorted(supersedes)))
    digest = blake2b(caller.encode(), digest_size=_DIGEST_BYTES).digest()
    return EncodedWrite(_plain(change.id), payload, change.kind, expires_at, change.tier, digest, supersedes, change)


def _encode_part(part: CallersPart, limits: SizeLimits, place: str) -> str:
    _check_scope(part.scope, limits, place)
    _check_tags(part.tags, limits, place)
    if len(part.supports) > limits.tags:
        raise _refusal(place, "supports", f"over the limit of {limits.tags:,} supports")
    fields: dict[str, Any] = {
        "scope": dict(part.scope),
        "content": part.content,
        "tags": list(part.tags),
        "provenance": _encode_provenance(part.provenance),
        "target": part.target,
        "payload": part.payload,
        "supports": list(map(_encode_provenance, part.supports)),
        "context": part.context,
    }
    kept = {field: value for field, value in fields.items() if field not in _SPARE or not _is_spare(field, value)}
    try:
        texts = {
            field: exact_json.encode(value, field=field, max_chars=_bound(field, limits))
            for field, value in kept.items()
        }
    except UnsupportedMemoryItem as error:
        raise _refusal(place, error.field, error.reason, error.path) from error.__cause__
    return "{" + ",".join(f'"{field}":{text}' for field, text in texts.items()) + "}"


def _is_spare(field: str, value: object) -> bool:
    """Tell whether a payload may leave the field out; what is compared with `None` may not know how."""
    return value is None if _SPARE[field] is None else value == _SPARE[field]


def _bound(field: str, limits: SizeLimits) -> int:
    return limits.metadata if field in {"payload", "target"} else limits.content


def _check_scope(scope: Mapping[str, str], limits: SizeLimits, place: str) -> None:
    if len(scope) > limits.tags:
        raise _refusal(place, "scope", f"over the limit of {limits.tags:,} pairs")
    if any(len(text) > limits.tag for pair in scope.items() for text in pair):
        raise _refusal(place, "scope", f"over the limit of {limits.tag:,} characters of a key or a value")


def _check_tags(tags: Sequence[str], limits: SizeLimits, place: str) -> None:
    if len(tags) > limits.tags:
        raise _refusal(place, "tags", f"over the limit of {limits.tags:,} tags")
    for number, tag in enumerate(tags):
        if len(tag) > limits.tag:
            raise _refusal(place, "tags", f"over the limit of {limits.tag:,} characters", f"tags[{number}]")


def _check_supersedes(changes: Sequence[EncodedChange], limits: SizeLimits) -> None:
    """Refuse what could not succeed whatever is stored: a chain, or a fork, within one call."""
    writes = [(place, change) for place, change in enumerate(changes) if isinstance(change, EncodedWrite)]
    written = {write.id for _, write in writes}
    taken: dict[UUID, UUID] = {}
    for place, write in writes:
        seen: set[UUID] = set()
        for number, old in enumerate(write.supersedes):
            path = f"supersedes[{number}]"
            if old in written:
                raise _refusal(f"changes[{place}]", "supersedes", "a record of the same call", path)
            if old in seen or taken.setdefault(old, write.id) != write.id:
                raise _refusal(f"changes[{place}]", "supersedes", "superseded twice in one call", path)
            seen.add(old)
    if len(taken) > limits.batch:
        raise UnsupportedMemoryItem(field="supersedes", reason=f"over the limit of {limits.batch:,} in one call")


def _encode_ending(reason: str | None, actor: str | None, limits: SizeLimits, place: str) -> str | None:
    if reason is None and actor is None:
        return None
    try:
        return exact_json.encode([reason, actor], field="reason", max_chars=limits.content)
    except UnsupportedMemoryItem as error:
        raise _refusal(place, "reason", error.reason) from error.__cause__


def _encode_provenance(provenance: Provenance) -> list[str | None]:
    return [provenance.conversation_id, provenance.run_id, provenance.author]


def _decode_provenance(parts: object) -> Provenance:
    conversation_id, run_id, author = _listed(parts)
    if conversation_id is run_id is author is None:
        return _NOWHERE
    return Provenance(conversation_id=conversation_id, run_id=run_id, author=author)


def _listed(value: object) -> list[Any]:
    """Return the list: a text or an object could be taken apart as well, into something else."""
    if type(value) is not list:
        msg = f"a list is needed, not {type(value).__name__}"
        raise TypeError(msg)
    return value


def _optional_micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _optional_time(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _plain(record_id: UUID) -> UUID:
    return record_id if type(record_id) is UUID else UUID(int=record_id.int)


def _refusal(place: str, field: str, reason: str, path: str | None = None) -> UnsupportedMemoryItem:
    where = path or field
    return UnsupportedMemoryItem(field=field or place, path=f"{place}.{where}" if where else place, reason=reason)
