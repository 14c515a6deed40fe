"""The vocabulary of the cases: each word compares, and a difference says what was expected and what came.

Nothing here depends on the rewriting of asserts, and no case compares in any other way: the canary, whose failures are
known beforehand, goes through the same functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from memcore import MemoryHit, MemoryItem, MemoryRecord
from memcore.items.manifest import ITEM_FIELDS
from memcore.records.model import CallersPart
from pydantic import BaseModel

from memcore_conformance.verdicts import Ending, Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType
    from uuid import UUID

    from memcore import MemoryWrite
    from memcore.items.manifest import MemoryItemField


class Identified(Protocol):
    """An item or a record."""

    @property
    def id(self) -> UUID:
        """Its identity."""
        ...


E = TypeVar("E", bound=BaseException)

_LONGEST = 200
_NAMED = (MemoryItem, CallersPart)


def that(condition: object, *, expected: str, got: object) -> None:
    """Expect a condition that no other word says."""
    if not condition:
        raise Mismatch(expected=expected, got=got if isinstance(got, str) else describe(got))


def equal(got: object, wanted: object, *, what: str = "") -> None:
    """Expect an equal value of the same type, exactly: `1`, `1.0` and `True` differ, as do `0.0` and `-0.0`."""
    place = first_difference(got, wanted, at=what or "the value")
    if place is not None:
        prefix = f"{what}: " if what else ""
        raise Mismatch(expected=f"{prefix}{describe(wanted)}", got=f"{describe(got)} (differs: {place})")


def none(got: object, *, what: str = "the answer") -> None:
    """Expect `None`: a miss."""
    that(got is None, expected=f"{what} is None", got=got)


def same_item(got: object, wanted: MemoryItem, *, fields: Iterable[MemoryItemField] = ITEM_FIELDS) -> None:
    """Expect a fresh `MemoryItem` that equals another one in these fields, bit for bit and type for type (I-51)."""
    that(type(got) is MemoryItem, expected=f"a memcore.MemoryItem: {describe(wanted)}", got=got)
    that(got is not wanted, expected="a fresh item", got="the very object that was stored")
    for field in sorted(fields):
        equal(getattr(got, field), getattr(wanted, field), what=field)


def same_record(got: object, wanted: MemoryRecord, *, but: Iterable[str] = ()) -> None:
    """Expect a fresh `MemoryRecord` that equals another one exactly, in all fields but those named."""
    that(type(got) is MemoryRecord, expected=f"a memcore.MemoryRecord: {describe(wanted)}", got=got)
    that(got is not wanted, expected="a fresh record", got="the very object that was there before")
    _same_fields(got, wanted, MemoryRecord.model_fields.keys() - set(but))


def written(got: object, write: MemoryWrite) -> None:
    """Expect a `MemoryRecord` whose caller's part is exactly that of a write."""
    that(type(got) is MemoryRecord, expected=f"a memcore.MemoryRecord: {describe(write)}", got=got)
    _same_fields(got, write, CallersPart.model_fields)


def ids(found: Sequence[Identified], wanted: Sequence[Identified | UUID], *, ordered: bool = True) -> None:
    """Expect a list of exactly these items or records, in this order unless it is free."""
    that(type(found) is list, expected="a list of items or records", got=found)
    got_ids = [str(item.id) for item in found]
    wanted_ids = [str(getattr(item, "id", item)) for item in wanted]
    if not ordered:
        got_ids, wanted_ids = sorted(got_ids), sorted(wanted_ids)
    names = {str(item.id): describe(item) for item in [*found, *wanted] if isinstance(item, _NAMED)}
    if got_ids != wanted_ids:
        raise Mismatch(expected=_list(wanted_ids, names), got=_list(got_ids, names))


def contains(found: Sequence[Identified], item: Identified) -> None:
    """Expect this item among those found."""
    that(item.id in {hit.id for hit in found}, expected=f"{describe(item)} among the hits", got=_hits(found))


def lacks(found: Sequence[Identified], item: Identified) -> None:
    """Expect this item not to be found."""
    that(item.id not in {hit.id for hit in found}, expected=f"no {describe(item)} among the hits", got=_hits(found))


def raises(*kinds: type[E], where: Callable[[E], bool] | None = None, what: str = "") -> Raised[E]:
    """Expect the body of a `with` to raise such an error; `where` says what must hold of it, `what` in words."""
    return Raised(kinds, where, what)


class Raised(Generic[E]):
    """The context of `raises`; afterwards `error` is what was raised."""

    error: E

    def __init__(self, kinds: tuple[type[E], ...], where: Callable[[E], bool] | None, what: str) -> None:
        self._kinds = kinds
        self._where = where
        self._what = what

    def __enter__(self) -> Raised[E]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        expected = " or ".join(kind.__name__ for kind in self._kinds) + (f" {self._what}" if self._what else "")
        if error is None:
            raise Mismatch(expected=expected, got="no error")
        if isinstance(error, Ending) or not isinstance(error, (Exception, *self._kinds)):
            return False  # the case has ended inside, or its time is over
        if not isinstance(error, self._kinds):
            raise Mismatch(expected=expected, got=describe(error)) from error
        self.error = error
        if self._where is not None and not self._where(error):
            raise Mismatch(expected=expected, got=describe(error)) from error
        return True


def first_difference(got: object, wanted: object, *, at: str) -> str | None:
    """Return the place of the first difference between two values, or `None` if they are the same, types included."""
    if type(got) is not type(wanted):
        return f"{at} is {type(got).__name__}, not {type(wanted).__name__}"
    if isinstance(wanted, dict) and isinstance(got, dict):
        return _mapping_difference(got, wanted, at)
    if isinstance(wanted, (list, tuple)) and isinstance(got, (list, tuple)):
        if len(got) != len(wanted):
            return f"{at} has {len(got)} elements, not {len(wanted)}"
        pairs = enumerate(zip(got, wanted, strict=True))
        return next(filter(None, (first_difference(a, b, at=f"{at}[{place}]") for place, (a, b) in pairs)), None)
    if isinstance(wanted, BaseModel):
        fields = ((getattr(got, name), getattr(wanted, name), name) for name in sorted(type(wanted).model_fields))
        return next(filter(None, (first_difference(a, b, at=f"{at}.{name}") for a, b, name in fields)), None)
    same = repr(got) == repr(wanted) if isinstance(wanted, float) else got == wanted
    return None if same else at


def describe(value: object) -> str:
    """Return a short, printable, one-line picture of a value for a person."""
    if isinstance(value, MemoryItem):
        parts = [f"content={describe(value.content)}"]
        parts += [f"{name}={describe(part)}" for name in ("tags", "metadata") if (part := getattr(value, name))]
        return _shorten(f"item {str(value.id)[:8]}({', '.join(parts)})")
    if isinstance(value, CallersPart):
        kind = "record" if isinstance(value, MemoryRecord) else "write"
        parts = [describe(value.content), *(f"{name}={getattr(value, name)!r}" for name in _told(value))]
        return _shorten(f"{kind} {str(value.id)[:8]}({', '.join(parts)})")
    if isinstance(value, BaseException):
        cause = f" from {type(value.__cause__).__name__}" if value.__cause__ else ""
        return _shorten(f"{type(value).__name__}: {value}{cause}")
    if isinstance(value, list) and value and all(isinstance(part, (*_NAMED, MemoryHit)) for part in value):
        return _hits([part.record if isinstance(part, MemoryHit) else part for part in value])
    try:
        return _shorten(repr(value))
    except Exception as error:  # noqa: BLE001 - a foreign object's own repr
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"


def _same_fields(got: object, wanted: object, names: Iterable[str]) -> None:
    for name in sorted(names):
        equal(getattr(got, name), getattr(wanted, name), what=name)


def _told(record: CallersPart) -> list[str]:
    """Return the fields of a record that a person wants to see: those that are not as in any other."""
    usual = {"id", "content", "created_at", "updated_at"}
    fields = type(record).model_fields
    return [name for name in fields if name not in usual and getattr(record, name) != fields[name].default]


def _mapping_difference(got: dict[object, object], wanted: dict[object, object], at: str) -> str | None:
    if list(got) != list(wanted):
        same_keys = sorted(map(repr, got)) == sorted(map(repr, wanted))
        return f"{at} has its keys in another order" if same_keys else f"{at} has other keys"
    parts = ((got[key], wanted[key], f"{at}[{key!r}]") for key in wanted)
    return next(filter(None, (first_difference(a, b, at=place) for a, b, place in parts)), None)


def _hits(found: Sequence[Identified]) -> str:
    return _list([str(item.id) for item in found], {str(item.id): describe(item) for item in found})


def _list(wanted: Sequence[str], names: dict[str, str]) -> str:
    shown = ", ".join(names.get(name, name[:8]) for name in wanted)
    return _shorten(f"{len(wanted)} of them [{shown}]", 2 * _LONGEST)


def _shorten(text: str, longest: int = _LONGEST) -> str:
    printable = text if text.isprintable() else text.encode("unicode_escape", "backslashreplace").decode("ascii")
    return printable if len(printable) <= longest else f"{printable[: longest - 1]}…"
