"""What goes wrong in stores: values that must come back exactly, values that must be refused, items of a host's own."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_DEPTH: Final = 100
"""How many containers may stand inside each other (I-41)."""

STRINGS: Final = (
    *("", " ", "  two  spaces  ", "tea", "\t", "a\r\nb\rc\n", "\ufeffmark", "\xa0\u2028\u2029\x85"),
    *("na\u00efve", "nai\u0308ve", "\u212bngstr\u00f6m", "\ufb01ne", "\u65e5\u672c\u8a9e", "\U00020bb7"),
    *("\u202eright to left\u202c", "\u05d0\u05d1\u05d2", "\u0645\u0631\u062d\u0628\u0627"),
    *("\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f1f3\U0001f1f4", "\u2764\ufe0f", "\U0001f44d\U0001f3fd"),
    *("\x00", "a\x00b", "\x1b[31m", "\x7f", "\ud800", "\udfff\ud800", "low \udc81 alone", "\uffff", "\U0010ffff"),
    *("null", "true", "NaN", "0", "1.0", "{}", '["a"]', "\\u0041", "\\x00", '"\\/\b\f\n\r\t'),
    *("it's", 'say "so"', "`", "%s %d {0} $1 :name ?", "'; DROP TABLE items; --", "<b>&amp;</b>", "../x", "*"),
)
"""Strings that databases, wires and languages change, cut short, fold together or take for something else."""

NUMBERS: Final = (
    *(0, 1, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**4299, -(10**4300) + 1),
    *(0.0, -0.0, 1.0, -1.0, 1e16, 1e22, 1e23, 0.1, 0.1 + 0.2, 1e-7, 123456789.12345678),
    *(5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0),
)
"""Integers of up to 4,300 digits, and floats at every edge."""


def nested(depth: int) -> Any:  # noqa: ANN401 - a JSON value
    """Return lists and mappings inside each other, so many in all."""
    value: Any = "tea"
    for level in range(depth):
        value = [value] if level % 2 else {"": value}
    return value


_SHARED: Final = ["tea"]
CONTAINERS: Final[tuple[Any, ...]] = (
    *([], {}, [[]], [{}], {"": {}}, [None, [None]], {"a": [1, 1.0, True, None, "1"]}),
    *({"b": 1, "a": 2, "B": 3}, {"10": 1, "9": 2, "1": 3}, {"\u00e9": 1, "e\u0301": 2}, {"__class__": 1, "id": 2}),
    *({"$ne": 1, "a.b": 2, "a'b": 3, "a[0]": 4}, [_SHARED, _SHARED], nested(MOST_DEPTH - 1)),
    {text: place for place, text in enumerate(STRINGS)},
)
"""Containers whose shape, order and keys must stay."""

EXACT: Final[tuple[Any, ...]] = (None, True, False, *NUMBERS, *STRINGS, *CONTAINERS)
"""One value for every way in which JSON goes wrong."""

TIMES: Final = (
    *(0.0, 1.0, -1.0, 0.1 + 0.2, 1_700_000_000.123_456_7, 1_700_000_000.000_000_2, -62_135_596_801.5),
    *(253_402_300_800.25, 2.0**53 + 2.0, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308),
)
"""Epoch seconds that a calendar, a decimal number or a shorter float would change."""


@dataclass
class HostItem:
    """An item class of a host's own."""

    id: Any
    created_at: Any
    metadata: Any
    content: Any
    tags: Any


class Text(str):
    """A string that would come back as a plain one."""

    __slots__ = ()


class _Number(IntEnum):
    ONE = 1


class _Colour(Enum):
    RED = "red"


class _Fraction(float):
    __slots__ = ()


class _List(list[Any]):
    __slots__ = ()


class _Model(BaseModel):
    tea: int = 1


def inexact() -> Iterator[tuple[str, Any]]:
    """Yield what no JSON text gives back as it was, each with a name; made anew, as some can be used up."""
    yield from {"NaN": float("nan"), "infinity": float("inf"), "minus infinity": float("-inf")}.items()
    yield from {"an integer of 4,301 digits": 10**4300, "a negative one": -(10**4300)}.items()
    yield from {"a surrogate pair": "a\ud83d\ude80", "a key of one": {"\ud83d\ude80": 1}}.items()
    values: tuple[Any, ...] = (
        *(("tea",), {"tea"}, frozenset(), b"tea", bytearray(b"tea"), memoryview(b"tea"), range(2), iter([1]), 1j),
        *(datetime(2024, 2, 29, tzinfo=UTC), date(2024, 2, 29), Decimal("1.5"), UUID(int=1), PurePosixPath("tea")),
        *(Text("tea"), _Number.ONE, _Colour.RED, _Fraction(0.5), _List(), OrderedDict(), MappingProxyType({})),
        *(_Model(), HostItem(1, 1, 1, 1, 1), object(), len, int),
    )
    for value in values:
        yield type(value).__name__, value
    for key in (1, 1.0, True, None, ("a",), b"a", Text("a")):
        yield f"a key of type {type(key).__name__}", {key: "tea"}
    yield "nesting over 100", nested(MOST_DEPTH + 1)
    yield "nesting far over 100", nested(10_000)
    yield from {"a list in itself": _endless_list(), "a mapping in itself": _endless_mapping()}.items()


def _endless_list() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def _endless_mapping() -> dict[str, Any]:
    endless: dict[str, Any] = {}
    endless["again"] = [endless]
    return endless
