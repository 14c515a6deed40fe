"""`Scope`: whose memory it is, as a flat map of strings (R-01)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler


class Scope(Mapping[str, str]):
    """An immutable, canonical map such as `{"user": "ada", "thread": "t1"}`.

    Two scopes are equal, and hash alike, when they hold the same pairs in any order. Keys and values are compared
    exactly: no prefix, no wildcard, no case folding.

    Raises:
        TypeError: it is no map, or a key or a value is not a string.
        ValueError: a key is empty.
    """

    __slots__ = ("_pairs",)
    _pairs: dict[str, str]

    def __init__(self, pairs: Mapping[str, str] | None = None) -> None:
        if pairs is not None and not isinstance(pairs, Mapping):
            msg = f"a scope is a map of str to str, not {type(pairs).__name__}"
            raise TypeError(msg)
        checked = dict(pairs or {})
        for key, value in checked.items():
            if not isinstance(key, str) or not isinstance(value, str):
                msg = f"a scope maps str to str, not {type(key).__name__} to {type(value).__name__}"
                raise TypeError(msg)
            if not key:
                msg = "a scope key must not be empty"
                raise ValueError(msg)
        plain = str.__str__  # str() would give the name of an enum's member, not its value
        self._pairs = {plain(key): plain(checked[key]) for key in sorted(checked)}

    def contains(self, condition: Mapping[str, str]) -> bool:
        """Tell whether every pair of `condition` is in this scope, exactly; an empty one always is.

        Raises:
            TypeError: the condition is no scope, such as `{"user": None}`.
        """
        return Scope(condition).items() <= self.items()

    def __getitem__(self, key: str) -> str:
        return self._pairs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Scope):
            return self._pairs == other._pairs
        return self._pairs == other if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._pairs.items()))

    def __repr__(self) -> str:
        return f"Scope({self._pairs!r})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: type[Any], _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Validate from any map of strings, serialize as a plain dict."""
        text = core_schema.str_schema(strict=True)
        pairs = core_schema.dict_schema(text, text, strict=True)
        return core_schema.no_info_before_validator_function(
            _as_dict,
            core_schema.no_info_after_validator_function(cls, pairs),
            serialization=core_schema.plain_serializer_function_ser_schema(dict, return_schema=pairs),
        )


def _as_dict(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value
