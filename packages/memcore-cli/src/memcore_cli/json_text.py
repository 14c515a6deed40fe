"""Exact JSON text: written as ASCII, so that every string survives every wire; when read, never repaired."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def write_json(document: object) -> bytes:
    """Return a document as one line of ASCII JSON.

    Raises:
        TypeError: a part is not JSON.
        ValueError: a number is not finite.
    """
    return json.dumps(document, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def read_json(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON text; unlike `json.loads`, take no NaN, no infinity and no key twice.

    Raises:
        ValueError: the text is not such.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise ValueError(f"not JSON: {error.msg} at {line}column {error.colno}") from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    except ValueError as error:  # of our own checks, or of an integer with too many digits
        raise ValueError(str(error).partition("; use sys.")[0]) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:40]!a} stands twice in one object")
    return document
