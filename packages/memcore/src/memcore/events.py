"""Events: what a memory does, told as it happens, without what it holds (E-01 to E-04).

`observe` wraps a backend, so that each call which writes or searches tells a sink how it went; whoever puts memories
into a prompt makes the event of a recall. `python -m memcore.events` prints the schema, which `events.schema.json`
beside this module keeps.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias, cast
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter

from memcore.errors import MemoryConfigurationError
from memcore.kit.text import searchable_strings
from memcore.records.store import SweepReport
from memcore.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from memcore.backend import Backend

_Place: TypeAlias = Literal["items", "records"] | None
MOST_IDS: Final = 100
"""How many ids one event holds; `count` is of all."""


class _Event(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    type: Literal["agent.memory.write", "agent.memory.search", "agent.memory.recall"]
    version: Literal[1] = 1
    """Of this form; another form has another number."""
    at: AwareDatetime = Field(default_factory=lambda: datetime.now(UTC))
    """When it had ended, by the clock of this process."""
    duration: float = Field(ge=0)
    """Seconds."""
    scope: Scope = Scope()
    """What all that took part have in common, as far as it is known; of a search, what was asked for."""
    ids: tuple[UUID, ...] = Field(default=(), max_length=MOST_IDS)
    """The first of what took part."""
    count: int | None = Field(default=None, ge=0)
    """How many took part; `None` if nobody knows: the call failed, or a namespace was dropped."""
    size: int = Field(default=0, ge=0)
    """Characters of their contents together; of a recall, of the text that went into the prompt."""
    error: str | None = None
    """The type of the error that the call raised, such as `MemoryConflict` or `CancelledError`."""


class WriteEvent(_Event):
    """A call changed what is stored, or failed to."""

    type: Literal["agent.memory.write"] = "agent.memory.write"
    adapter: str
    contract: _Place
    """`None` of a call on the backend itself."""
    operation: str
    """The name of the method."""


class SearchEvent(_Event):
    """A search found something, nothing, or failed."""

    type: Literal["agent.memory.search"] = "agent.memory.search"
    adapter: str
    contract: Literal["items", "records"]
    limit: int | None
    truncated: bool
    """The limit was reached: there may be more."""


class RecallEvent(_Event):
    """Memories were put into a prompt; made by whoever put them there."""

    type: Literal["agent.memory.recall"] = "agent.memory.recall"
    truncated: bool
    """Some had to be left out, or cut, to fit."""


Event: TypeAlias = WriteEvent | SearchEvent | RecallEvent
AnyEvent = Annotated[Event, Field(discriminator="type")]
"""What to validate an event of unknown type with: `TypeAdapter(AnyEvent)`."""
Sink: TypeAlias = Callable[[Event], None]
"""Takes each event, at once, before the caller has its answer: a slow one slows every call."""


class LogSink:
    """Writes each event to a logger as one line of JSON."""

    def __init__(self, logger: logging.Logger | None = None, *, level: int = logging.INFO) -> None:
        self._logger = logger or logging.getLogger(__name__)
        self._level = level

    def __call__(self, event: Event) -> None:
        """Write it."""
        self._logger.log(self._level, "%s", event.model_dump_json())


class RingSink:
    """Keeps the newest events in memory; may be shared between threads."""

    def __init__(self, size: int = 1_000) -> None:
        self._events: deque[Event] = deque(maxlen=size)
        self._lock = Lock()

    def __call__(self, event: Event) -> None:
        """Keep it, in place of the oldest if there are too many."""
        with self._lock:
            self._events.append(event)

    @property
    def events(self) -> list[Event]:
        """What is kept, oldest first."""
        with self._lock:
            return list(self._events)


def observe(backend: Backend, sink: Sink) -> Backend:
    """Return a backend that does what this one does, and tells the sink of each write and search (E-02).

    A sink that fails is logged, and breaks nothing (E-03). Only what goes through the returned backend is seen.

    Raises:
        MemoryConfigurationError: the sink is a coroutine function, which nobody would wait for.
    """
    if inspect.iscoroutinefunction(sink) or inspect.iscoroutinefunction(type(sink).__call__):
        msg = "a sink is a plain function: it is called at once, and nothing waits for it"
        raise MemoryConfigurationError(msg)
    return cast("Backend", _observed(_ObservedBackend, backend, _Teller(sink, backend), None))


def event_schema() -> dict[str, Any]:
    """Return the JSON schema of every event (E-04)."""
    return TypeAdapter[Event](AnyEvent).json_schema()


_LOG: Final = logging.getLogger(__name__)
_OPERATIONS: Final[dict[_Place, tuple[str, ...]]] = {
    None: ("drop_namespace",),
    "items": ("search", "store", "store_many", "delete", "delete_many", "delete_where"),
    "records": ("search", "write", "invalidate", "delete", "delete_where", "touch", "refresh", "sweep", "restore"),
}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that has ended, and what is to be told of it."""

    adapter: str
    contract: _Place
    operation: str
    given: object
    """The first argument."""
    answer: object
    error: str | None
    duration: float

    def event(self) -> Event:
        return self._search_event() if self.operation == "search" else self._write_event()

    def _search_event(self) -> SearchEvent:
        limit = getattr(self.given, "limit", None)
        hits = _parts(self.answer)
        return SearchEvent(
            **self._common(hits),
            scope=_common_scope([self.given]),
            count=None if self.error else len(hits),
            limit=limit if isinstance(limit, int) else None,
            truncated=bool(hits) and len(hits) == limit,
        )

    def _write_event(self) -> WriteEvent:
        given = [part for part in _parts(self.given) if _id_of(part)]
        return WriteEvent(
            **self._common(given),
            scope=_common_scope(_parts(self.answer)) or _common_scope(given) or self._erased_scope(),
            count=None if self.error else _count(self.answer),
            operation=self.operation,
        )

    def _common(self, parts: Sequence[object]) -> dict[str, Any]:
        ids = (_id_of(part) for part in parts)
        return {
            "adapter": self.adapter,
            "contract": self.contract,
            "duration": self.duration,
            "ids": tuple(islice(ids, MOST_IDS)),
            "size": 0 if self.error else sum(map(_size, parts)),
            "error": self.error,
        }

    def _erased_scope(self) -> Scope:
        if self.contract == "records" and self.operation == "delete_where" and isinstance(self.given, Mapping):
            with suppress(TypeError, ValueError):  # it may be why the call failed
                return Scope(self.given)
        return Scope()


class _Teller:
    """Tells a sink of calls."""

    def __init__(self, sink: Sink, backend: Backend) -> None:
        self._sink = sink
        self._backend = backend

    def told(
        self, call: Callable[..., Awaitable[object]], contract: _Place, operation: str
    ) -> Callable[..., Awaitable[object]]:
        """Return the same call, which is told of when it has ended."""

        @wraps(call)
        async def told(*args: object, **keywords: object) -> object:
            started = time.perf_counter()
            answer, error = None, None
            try:
                answer = await call(*args, **keywords)
            except BaseException as raised:
                error = type(raised).__name__
                raise
            finally:
                duration = time.perf_counter() - started
                self._tell(
                    lambda: _Call(
                        adapter=self._backend.name,
                        contract=contract,
                        operation=operation,
                        given=_first(call, args, keywords),
                        answer=answer,
                        error=error,
                        duration=duration,
                    )
                )
            return answer

        return told

    def _tell(self, ended: Callable[[], _Call]) -> None:
        try:
            self._sink(ended().event())
        except (Exception, asyncio.CancelledError):  # noqa: BLE001 - the operation has ended already (E-03), and who
            # cancels it does not reach a plain function: it is a sink that asked for the result of a cancelled task
            _LOG.exception("an event could not be told; the operation ends as it would have without it")


class _Observed:
    """What delegates everything public to a target, and has some of its calls told."""

    def __init__(self, target: Any, teller: _Teller, contract: _Place) -> None:  # noqa: ANN401 - whatever is observed
        self._target = target
        self._teller = teller
        for operation in _OPERATIONS[contract]:
            if operation in dir(target):
                vars(self)[operation] = teller.told(getattr(target, operation), contract, operation)

    def __repr__(self) -> str:
        return repr(self._target)


class _ObservedBackend(_Observed):
    def __init__(self, target: Any, teller: _Teller, contract: _Place) -> None:  # noqa: ANN401
        super().__init__(target, teller, contract)
        self._stores: dict[str, tuple[object, _Observed]] = {}

    @property
    def items(self) -> object:
        return self._store("items")

    @property
    def records(self) -> object:
        return self._store("records")

    async def __aenter__(self) -> Self:
        await self._target.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> object:
        return await self._target.__aexit__(*error)

    def _store(self, contract: Literal["items", "records"]) -> object:
        """Return the store as it is observed: one object for as long as the target has one."""
        target = getattr(self._target, contract)
        known, observed = self._stores.get(contract, (None, None))
        if observed is None or known is not target:
            observed = _observed(_Observed, target, self._teller, contract)
            self._stores[contract] = target, observed
        return observed


def _observed(base: type[_Observed], target: object, teller: _Teller, contract: _Place) -> _Observed:
    """Return the target as it is observed, of a class that has its public names and no others.

    So it satisfies the protocols that the target satisfies, whichever way a version of Python looks for their members.
    """
    own = {*dir(base), *_OPERATIONS[contract]}
    names = {name for name in dir(target) if not name.startswith("_")} - own
    made: type[_Observed] = type(
        f"Observed{type(target).__name__}", (base,), {name: _delegated(name) for name in names}
    )
    return made(target, teller, contract)


def _delegated(name: str) -> property:
    return property(lambda self: getattr(self._target, name))


def _first(call: Callable[..., object], args: tuple[object, ...], keywords: Mapping[str, object]) -> object:
    """Return the first argument, however it was given."""
    if args or not keywords:
        return args[0] if args else None
    return keywords.get(next(iter(inspect.signature(call).parameters)))


def _parts(value: object) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    return [] if value is None else [value]


def _id_of(part: object) -> UUID | None:
    """Return the id of a part: it is one, has one, or has a record that does."""
    found = part if isinstance(part, UUID) else getattr(getattr(part, "record", part), "id", None)
    return found if isinstance(found, UUID) else None


def _size(part: object) -> int:
    content = getattr(getattr(part, "record", part), "content", None)
    return sum(map(len, searchable_strings(content)))


def _count(answer: object) -> int | None:
    if isinstance(answer, SweepReport):
        return answer.erased + answer.archived
    if isinstance(answer, int):  # how many there were, or whether there was one
        return int(answer)
    return None if answer is None else len(_parts(answer))


def _common_scope(parts: Iterable[object]) -> Scope:
    scopes = {scope for part in parts if isinstance(scope := getattr(part, "scope", None), Scope)}
    return Scope(dict(set.intersection(*(set(scope.items()) for scope in scopes)))) if scopes else Scope()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(event_schema(), indent=2) + "\n")
