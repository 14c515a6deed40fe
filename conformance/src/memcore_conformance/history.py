"""Histories: what concurrent clients did and saw, and whether one order explains it, item by item.

The search is that of Wing and Gong, with Lowe's memory of the states that were tried. An item is a register: it holds
the last value written, or `None`; every operation must take effect at one moment between its start and its end.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from memcore import MemoryAdapterError, MemoryConflict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

T = TypeVar("T")

_Pair = tuple[object, object]
Kind = Literal["write", "read", "erase", "swap", "lost"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of one client, as the client saw it."""

    kind: Kind
    value: Hashable
    """What was written, what was read, or whether there was something to erase.

    Of a swap, what was to be replaced and by what; of one that lost, the former and what was there instead.
    """
    start: int
    end: int | None
    """`None`: it failed, and may have taken effect at any time since, or not at all."""


class History:
    """Records the operations of concurrent clients by key, on a clock that every call and every answer moves."""

    def __init__(self) -> None:
        self.operations: dict[Hashable, list[Operation]] = defaultdict(list)
        self._clock = count()

    async def write(self, key: Hashable, value: Hashable, call: Awaitable[object]) -> None:
        """Record a write; what fails is recorded as of unknown outcome."""
        await self._record(call, lambda _answer: [(key, "write", value)], failed=(key, "write", value))

    async def erase(self, key: Hashable, call: Awaitable[bool]) -> None:
        """Record an erasure; what fails is recorded as of unknown outcome."""
        await self._record(call, lambda was_there: [(key, "erase", was_there)], failed=(key, "erase", True))

    async def read(self, call: Awaitable[T], seen: Callable[[T], dict[Hashable, Hashable]]) -> None:
        """Record what a call shows of one or several keys; a read that fails shows nothing."""
        await self._record(call, lambda answer: [(key, "read", value) for key, value in seen(answer).items()])

    async def swap(self, key: Hashable, old: Hashable, new: Hashable, call: Awaitable[object]) -> Hashable:
        """Record the superseding of one record by another, by their ids; return which one is there for all we know."""
        start = next(self._clock)
        try:
            await call
        except MemoryConflict as conflict:
            seen: Hashable = getattr(conflict.current, "id", None)
            self.operations[key].append(Operation("lost", (old, seen), start, next(self._clock)))
            return seen
        self.operations[key].append(Operation("swap", (old, new), start, next(self._clock)))
        return new

    def unexplained(self) -> list[Hashable]:
        """Return the keys whose operations no order explains."""
        return [key for key, operations in self.operations.items() if not explained(operations)]

    async def _record(
        self,
        call: Awaitable[T],
        outcome: Callable[[T], list[tuple[Hashable, Kind, Hashable]]],
        *,
        failed: tuple[Hashable, Kind, Hashable] | None = None,
    ) -> None:
        start = next(self._clock)
        end: int | None
        try:
            answer = await call
        except MemoryAdapterError:
            recorded, end = [failed] if failed else [], None
        else:
            recorded, end = [*outcome(answer)], next(self._clock)
        for key, kind, value in recorded:
            self.operations[key].append(Operation(kind, value, start, end))


def explained(operations: Sequence[Operation]) -> bool:
    """Tell whether some order of the operations on one register explains all that was seen."""
    must = sum(1 << number for number, operation in enumerate(operations) if operation.end is not None)
    states: list[tuple[int, Hashable]] = [(0, None)]
    tried = set(states)
    while states:
        done, value = states.pop()
        if done & must == must:
            return True
        left = [(1 << number, operation) for number, operation in enumerate(operations) if not done >> number & 1]
        first_end = min(operation.end for _, operation in left if operation.end is not None)
        for bit, operation in left:
            if operation.start < first_end and _possible(operation, value):
                after = done | bit, _value_after(operation, value)
                if after not in tried:
                    tried.add(after)
                    states.append(after)
    return False


def _possible(operation: Operation, value: Hashable) -> bool:
    match operation.kind:
        case "write":
            return True
        case "read":
            return operation.value == value
        case "erase":
            return operation.end is None or operation.value == (value is not None)
        case "swap":
            return cast("_Pair", operation.value)[0] == value
        case "lost":
            old, seen = cast("_Pair", operation.value)
            return old != value and seen == value


def _value_after(operation: Operation, value: Hashable) -> Hashable:
    match operation.kind:
        case "write":
            return operation.value
        case "read" | "lost":
            return value
        case "erase":
            return None
        case "swap":
            return cast("_Pair", operation.value)[1]
