"""Exact JSON: what goes in comes back equal and of equal type, or is refused (I-40, I-41).

The text is ASCII, so that U+0000 and lone surrogates survive every wire and every database as escapes.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final

from memcore.errors import MalformedMemoryPayload, UnsupportedMemoryItem

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH: Final = 100
"""How many containers may stand inside each other."""
MAX_INT_DIGITS: Final = 4300
"""How many digits an integer may have: Python's own default limit for reading one back."""

_INT_BOUND: Final = 10**MAX_INT_DIGITS
_SURROGATE_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_encoder: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, check_circular=False, separators=(",", ":"))
_decoder: Final = json.JSONDecoder(parse_constant=int)  # int("NaN") raises: NaN is not JSON
_HOW_TO_CONVERT: Final = {
    "tuple": "convert it to a list",
    "set": "convert it to a sorted list",
    "frozenset": "convert it to a sorted list",
    "bytes": "decode it, or encode it as base64 text",
    "bytearray": "decode it, or encode it as base64 text",
    "datetime": "convert it with .isoformat()",
    "date": "convert it with .isoformat()",
    "time": "convert it with .isoformat()",
    "UUID": "convert it with str()",
    "PurePath": "convert it with str()",
    "Enum": "take its .value",
    "Decimal": "convert it to str or float",
}


def encode(value: object, *, field: str, max_chars: int) -> str:
    """Return the ASCII JSON text of a value that survives the round trip.

    Args:
        value: what to encode.
        field: the name that an error's path starts with.
        max_chars: the size limit of the text in characters (I-45).

    Raises:
        UnsupportedMemoryItem: some part of the value would come back changed, or the text is over the limit.
    """
    check(value, field=field, max_chars=max_chars)
    try:
        text = encode_checked(value)
    except ValueError as error:  # an interpreter set to fewer digits than ours: sys.set_int_max_str_digits
        raise UnsupportedMemoryItem(field=field, reason=f"this interpreter cannot write it: {error}") from error
    if len(text) > max_chars:
        raise _too_large(field, max_chars)
    return text


def check(value: object, *, field: str, max_chars: int) -> None:
    """Check that a value survives the round trip; of the size limit, only what shows without encoding it.

    Raises:
        UnsupportedMemoryItem: some part of the value would come back changed, or its text is surely over the limit.
    """
    try:
        _check(value, 0, max_chars)
    except _Inexact as error:
        raise _refusal(value, error, field=field, max_chars=max_chars) from None


def encode_checked(value: object) -> str:
    """Return the ASCII JSON text of a value that passed `check`.

    Raises:
        ValueError: this interpreter is set to write fewer digits than ours.
    """
    return _encoder.encode(value)


def decode(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a text that `encode` made.

    Raises:
        MalformedMemoryPayload: it is no text, or not JSON.
    """
    try:
        value, end = _decoder.raw_decode(text)  # `encode` writes no blanks that `decode` would look for
        if end != len(text):
            raise json.JSONDecodeError("extra data", "", end)
    except (TypeError, ValueError, RecursionError) as error:
        msg = "a stored payload is not valid JSON"
        raise MalformedMemoryPayload(msg) from error
    return value


def canonical(value: object) -> str:
    """Return one text for all values that are equal as JSON (I-67): `1 == 1.0`, `True != 1`, key order is free.

    The value must be exact JSON already.
    """
    return _encoder.encode(_comparable(value))


def copy(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a deep copy of a value that is exact JSON already."""
    kind = type(value)
    if kind is dict:
        return {key: copy(part) if type(part) in _CONTAINERS else part for key, part in value.items()}
    if kind is list:
        return [copy(part) if type(part) in _CONTAINERS else part for part in value]
    return value


_CONTAINERS: Final = frozenset((dict, list))


def _comparable(value: object) -> object:
    if isinstance(value, dict):
        return {"{": sorted((key, _comparable(part)) for key, part in value.items())}
    if isinstance(value, list):
        return [_comparable(part) for part in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class _Inexact(Exception):
    """Some part of a value would not come back as it is; `steps` lead to it, innermost first."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str | int] = []


def _check(value: object, depth: int, left: int) -> int:
    """Return how many characters are left of the budget: sharing a part must not make the walk endless."""
    check = _CHECKS.get(type(value))
    if check is None:
        raise _Inexact(_describe(value))
    left = check(value, depth, left)
    if left < 0:
        raise _Inexact(_TOO_LARGE)
    return left


def _check_str(value: str, _depth: int, left: int) -> int:
    if not value.isascii() and _SURROGATE_PAIR.search(value):
        raise _Inexact("a high surrogate directly followed by a low one would become one character")
    return left - len(value) - 2


def _check_int(value: int, _depth: int, left: int) -> int:
    if abs(value) >= _INT_BOUND:
        raise _Inexact(f"an integer of more than {MAX_INT_DIGITS:,} digits")
    return left - 1


def _check_float(value: float, _depth: int, left: int) -> int:
    if not math.isfinite(value):
        raise _Inexact("NaN and infinities are not JSON")
    return left - 3


def _check_list(value: list[object], depth: int, left: int) -> int:
    if depth >= MAX_DEPTH:
        raise _Inexact(_TOO_DEEP)
    place = 0
    try:
        for place, part in enumerate(value):  # noqa: B007 - names the place of a refusal
            left = _check(part, depth + 1, left)
    except _Inexact as error:
        error.steps.append(place)
        raise
    return left - len(value) - 1


def _check_dict(value: dict[object, object], depth: int, left: int) -> int:
    if depth >= MAX_DEPTH:
        raise _Inexact(_TOO_DEEP)
    for key in value:
        if type(key) is not str:
            raise _Inexact(f"a key of type {type(key).__name__}; keys must be str")
        left = _check_str(key, depth, left) - 2
    key = None
    try:
        for key, part in value.items():  # noqa: B007 - names the place of a refusal
            left = _check(part, depth + 1, left)
    except _Inexact as error:
        error.steps.append(str(key))
        raise
    return left - 1


def _accept(_value: object, _depth: int, left: int) -> int:
    return left - 4


_CHECKS: Final[dict[type, Callable[[Any, int, int], int]]] = {
    str: _check_str,
    int: _check_int,
    float: _check_float,
    list: _check_list,
    dict: _check_dict,
    bool: _accept,
    type(None): _accept,
}
_TOO_LARGE: Final = "too large"
_TOO_DEEP: Final = f"nested over {MAX_DEPTH} deep"


def _refusal(value: object, error: _Inexact, *, field: str, max_chars: int) -> UnsupportedMemoryItem:
    if error.reason is _TOO_LARGE:
        return _too_large(field, max_chars)
    if error.reason is _TOO_DEEP:
        reason = "it contains itself" if _contains_itself(value, error.steps) else _TOO_DEEP
        return UnsupportedMemoryItem(field=field, reason=reason)
    path = field + "".join(_step(step) for step in reversed(error.steps))
    return UnsupportedMemoryItem(field=field, path=path, reason=error.reason)


def _contains_itself(value: Any, steps: list[str | int]) -> bool:  # noqa: ANN401 - containers by construction
    """Follow the one way down that was too deep and look for a container that stands on it twice."""
    seen: set[int] = set()
    for step in reversed(steps):
        if id(value) in seen:
            return True
        seen.add(id(value))
        value = value[step]
    return False


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() and step.isascii() else f"[{step!a}]"


def _describe(value: object) -> str:
    kind = type(value)
    how = next((_HOW_TO_CONVERT[base.__name__] for base in kind.__mro__ if base.__name__ in _HOW_TO_CONVERT), None)
    if parent := next((base.__name__ for base in kind.__mro__ if base in _CHECKS), None):
        how = how or f"convert it with {parent}()"
        return f"{kind.__name__} is a subclass of {parent} and would come back as one; {how}"
    if hasattr(kind, "model_dump"):
        how = "convert it with .model_dump(mode='json')"
    elif hasattr(kind, "__dataclass_fields__"):
        how = "convert it with dataclasses.asdict()"
    return f"{kind.__name__} is not JSON" + (f"; {how}" if how else "")


def _too_large(field: str, max_chars: int) -> UnsupportedMemoryItem:
    return UnsupportedMemoryItem(field=field, reason=f"over the size limit of {max_chars:,} characters of JSON")
