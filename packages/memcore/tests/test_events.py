"""Events: what is told of a memory, and that telling changes nothing (E-01 to E-04)."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import memcore
import pytest
from memcore import (
    Invalidation,
    Maintenance,
    ManagedMemoryStore,
    MemoryConfigurationError,
    MemoryConflict,
    MemoryItem,
    MemoryQuery,
    MemoryWrite,
    RecordHistory,
    RecordLifecycle,
    RecordQuery,
    SweepPolicy,
    Transfer,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore.events import (
    MOST_IDS,
    AnyEvent,
    LogSink,
    RecallEvent,
    RingSink,
    SearchEvent,
    WriteEvent,
    event_schema,
    observe,
)
from memcore.in_memory import InMemoryBackend
from memcore.records.clock import StillClock
from memcore.settings import MemorySettings
from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from memcore import Backend
    from memcore.events import Event

ADA = {"user": "ada"}
SECRET = "saffron"


@pytest.fixture
def ring() -> RingSink:
    return RingSink()


@pytest.fixture
async def seen(backend: Backend, ring: RingSink) -> Backend:
    return observe(backend, ring)


def told(event: Event, *names: str) -> list[Any]:
    return [getattr(event, name) for name in names]


class Hanging:
    """A backend whose items wait for ever, and that has what not every backend has."""

    name = "hanging"
    items: Any
    extra = 5

    def __init__(self) -> None:
        self.items = self

    async def store(self, item: MemoryItem) -> UUID:
        await asyncio.Event().wait()
        return item.id

    async def reindex(self, *, progress: object = None) -> int:
        return 7

    async def check(self, *, repair: bool = True, progress: object = None) -> None: ...

    async def purge(self) -> None: ...


# --- what is told ---


async def test_a_write_of_records_is_told_with_ids_scope_and_sizes(seen: Backend, ring: RingSink) -> None:
    writes = [
        MemoryWrite(scope={"user": "ada", "thread": "1"}, content="likes tea"),
        MemoryWrite(scope={"user": "ada", "thread": "2"}, content="was in Oslo"),
    ]
    await seen.records.write(writes)

    (event,) = ring.events
    assert isinstance(event, WriteEvent)
    assert told(event, "adapter", "contract", "operation") == ["memory", "records", "write"]
    assert told(event, "ids", "count", "size", "error") == [tuple(write.id for write in writes), 2, 20, None]
    assert event.scope == ADA
    assert event.duration >= 0
    assert abs(event.at - datetime.now(UTC)) < timedelta(hours=1)


async def test_a_search_of_records_is_told_with_its_hits_and_whether_there_may_be_more(
    seen: Backend, ring: RingSink
) -> None:
    await seen.records.write([MemoryWrite(scope=ADA, content=f"tea {number}") for number in range(3)])
    hits = await seen.records.search(RecordQuery(text="tea", scope=ADA, limit=2))
    await seen.records.search(RecordQuery(text="tea", scope=ADA, limit=4))

    _, full, whole = ring.events
    assert isinstance(full, SearchEvent)
    assert isinstance(whole, SearchEvent)
    assert full.ids == tuple(hit.record.id for hit in hits)
    assert told(full, "contract", "scope", "count", "size", "limit", "truncated") == ["records", ADA, 2, 10, 2, True]
    assert told(whole, "count", "limit", "truncated") == [3, 4, False]


async def test_a_search_of_items_is_told(seen: Backend, ring: RingSink) -> None:
    item = MemoryItem(content=["tea", {"with": "milk"}])
    await seen.items.store(item)
    await seen.items.search(MemoryQuery(text="tea"))

    event = ring.events[-1]
    assert told(event, "type", "contract", "ids", "count", "size") == ["agent.memory.search", "items", (item.id,), 1, 7]


async def test_every_operation_that_writes_is_told_with_its_count(ring: RingSink) -> None:
    clock = StillClock()
    seen: Any = observe(InMemoryBackend(MemorySettings(clock=clock)), ring)
    item, other = MemoryItem(content="x", metadata={"k": 1}), MemoryItem(content="y")
    gone, kept = MemoryWrite(scope=ADA, content="tea"), MemoryWrite(content="coffee", tier="short")
    await seen.items.store(item)
    await seen.items.store_many([item, other])
    await seen.items.delete_where({"k": 1})
    await seen.items.delete(item.id)
    await seen.items.delete_many([item.id, other.id])
    (stored, _) = await seen.records.write([gone, kept])
    await seen.records.touch([gone.id, uuid4()])
    await seen.records.refresh(kept.id)
    clock.advance(8 * 86_400)
    await seen.records.sweep(SweepPolicy())
    await seen.records.invalidate(gone.id)
    await seen.records.delete_where(kinds=["fact"], scope=ADA)
    await seen.records.restore([stored])
    await seen.records.delete(gone.id)
    await seen.drop_namespace()

    assert [told(event, "contract", "operation", "count", "scope") for event in ring.events] == [
        ["items", "store", 1, {}],
        ["items", "store_many", 2, {}],
        ["items", "delete_where", 1, {}],
        ["items", "delete", 0, {}],
        ["items", "delete_many", 1, {}],
        ["records", "write", 2, {}],
        ["records", "touch", 1, {}],
        ["records", "refresh", 1, {}],
        ["records", "sweep", 1, {}],
        ["records", "invalidate", 1, ADA],
        ["records", "delete_where", 1, ADA],
        ["records", "restore", 1, ADA],
        ["records", "delete", 1, {}],
        [None, "drop_namespace", None, {}],
    ]


async def test_reading_by_identity_and_listing_are_not_told(seen: Any, ring: RingSink) -> None:
    await seen.items.retrieve(uuid4())
    await seen.items.scan()
    await seen.items.count()
    await seen.records.get(uuid4())
    await seen.records.history(uuid4())
    await seen.records.scan()
    await seen.ping()

    assert ring.events == []


async def test_an_event_holds_the_first_ids_and_the_count_of_all(seen: Backend, ring: RingSink) -> None:
    writes = [MemoryWrite(content="tea") for _ in range(MOST_IDS + 5)]
    await seen.records.write(writes)

    assert ring.events[0].ids == tuple(write.id for write in writes[:MOST_IDS])
    assert ring.events[0].count == MOST_IDS + 5


async def test_no_event_holds_content(seen: Any, ring: RingSink) -> None:
    await seen.items.store(MemoryItem(content=SECRET, tags=[SECRET], metadata={SECRET: SECRET}))
    await seen.items.search(MemoryQuery(text=SECRET, tags=[SECRET], filters={SECRET: SECRET}))
    await seen.items.delete_where({SECRET: SECRET})
    (record,) = await seen.records.write([MemoryWrite(content=SECRET, tags=[SECRET], payload=SECRET, context=SECRET)])
    await seen.records.search(RecordQuery(text=SECRET, tags=[SECRET]))
    await seen.records.invalidate(record.id, SECRET, SECRET)
    with pytest.raises(MemoryConflict):
        await seen.records.write([MemoryWrite(id=record.id, content=f"not {SECRET}")])

    assert len(ring.events) == 7
    assert SECRET not in "".join(event.model_dump_json() for event in ring.events)


async def test_a_call_that_failed_is_told_with_the_type_of_its_error(seen: Backend, ring: RingSink) -> None:
    write = MemoryWrite(scope=ADA, content="tea", payload={1})
    with pytest.raises(UnsupportedMemoryItem):
        await seen.records.write([write])
    with pytest.raises(UnsupportedMemoryQuery):
        await seen.items.search(MemoryQuery(limit=-1))

    failed, search = ring.events
    assert told(failed, "error", "ids", "scope", "count", "size") == [
        "UnsupportedMemoryItem",
        (write.id,),
        ADA,
        None,
        0,
    ]
    assert told(search, "error", "ids", "count", "truncated") == ["UnsupportedMemoryQuery", (), None, False]


async def test_a_call_with_arguments_that_make_no_sense_is_told_too(seen: Any, ring: RingSink) -> None:
    with pytest.raises(UnsupportedMemoryQuery):
        await seen.records.delete_where({"user": None})
    with pytest.raises(TypeError):
        await seen.records.write()

    assert [event.error for event in ring.events] == ["UnsupportedMemoryQuery", "TypeError"]


async def test_a_cancelled_call_is_told_and_stays_cancelled(ring: RingSink) -> None:
    seen: Any = observe(Hanging(), ring)  # type: ignore[arg-type]
    task = asyncio.ensure_future(seen.items.store(MemoryItem()))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.error for event in ring.events] == ["CancelledError"]


# --- what does not change ---


async def test_claims_are_the_very_objects(backend: Backend, seen: Backend) -> None:
    assert seen.name == backend.name
    assert seen.capabilities is backend.capabilities
    assert seen.items.manifest is backend.items.manifest
    assert seen.records.capabilities() is backend.records.capabilities()
    assert repr(seen) == repr(backend)


async def test_each_store_is_one_object(seen: Backend) -> None:
    assert seen.items is seen.items
    assert seen.records is seen.records


@pytest.mark.parametrize("protocol", [ManagedMemoryStore, RecordHistory, RecordLifecycle, Transfer, Maintenance])
async def test_it_satisfies_the_protocols_that_the_observed_satisfies(
    backend: Backend, seen: Backend, protocol: type
) -> None:
    assert isinstance(seen.items, protocol) is isinstance(backend.items, protocol)
    assert isinstance(seen.records, protocol) is isinstance(backend.records, protocol)
    assert isinstance(seen, protocol) is isinstance(backend, protocol)


async def test_what_only_some_backends_have_is_there_too(ring: RingSink) -> None:
    seen: Any = observe(Hanging(), ring)  # type: ignore[arg-type]

    assert isinstance(seen, Maintenance)
    assert (seen.extra, await seen.reindex()) == (5, 7)
    with pytest.raises(AttributeError):
        _ = seen.records


async def test_a_contract_that_is_not_offered_is_not_offered(seen: Backend) -> None:
    with pytest.raises(MemoryConfigurationError, match="does not offer the conversations contract"):
        _ = seen.conversations


async def test_its_life_is_that_of_the_observed(ring: RingSink) -> None:
    backend = memcore.connect("memory://")
    seen = observe(backend, ring)
    with pytest.raises(MemoryConfigurationError, match="once it is open"):
        _ = seen.capabilities
    async with seen as entered:
        assert entered is seen
        assert seen.capabilities.analysed
    with pytest.raises(MemoryConfigurationError, match="is closed"):
        await backend.items.count()  # type: ignore[attr-defined]


def test_a_method_keeps_its_signature_and_its_documentation(ring: RingSink) -> None:
    backend = InMemoryBackend()
    method = observe(backend, ring).records.delete_where

    assert inspect.iscoroutinefunction(method)
    assert inspect.signature(method) == inspect.signature(backend.records.delete_where)
    assert method.__doc__ == backend.records.delete_where.__doc__


async def test_an_error_passes_through_as_it_is(seen: Backend) -> None:
    (first,) = await seen.records.write([MemoryWrite(content="tea")])
    (head,) = await seen.records.write([MemoryWrite(content="coffee", supersedes=[first.id])])

    with pytest.raises(MemoryConflict) as caught:
        await seen.records.write([MemoryWrite(content="milk", supersedes=[first.id])])
    assert caught.value.current == head


async def test_several_observers_each_see_every_call(backend: Backend) -> None:
    inner, outer = RingSink(), RingSink()
    seen = observe(observe(backend, inner), outer)
    await seen.records.write([Invalidation(id=written.id) for written in await seen.records.write([])])

    assert [event.operation for event in inner.events] == ["write", "write"]  # type: ignore[union-attr]
    assert len(outer.events) == 2


# --- sinks ---


async def test_a_sink_that_fails_is_logged_and_breaks_nothing(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_event: Event) -> None:
        message = "the disk of the log is full"
        raise OSError(message)

    item = MemoryItem(content=SECRET)
    assert await observe(backend, fail).items.store(item) == item.id
    assert "the disk of the log is full" in caplog.text
    assert SECRET not in caplog.text


async def test_a_sink_that_meets_a_cancelled_task_does_not_cancel_the_operation(backend: Backend) -> None:
    sending = asyncio.get_running_loop().create_future()
    sending.cancel()
    item = MemoryItem(content=SECRET)
    assert await observe(backend, lambda _event: sending.result()).items.store(item) == item.id


async def test_a_sink_that_fails_hides_no_error(backend: Backend, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_event: Event) -> None:
        raise LookupError

    with pytest.raises(UnsupportedMemoryQuery):
        await observe(backend, fail).items.search(MemoryQuery(limit=-1))
    assert "LookupError" in caplog.text


class _Waiting:
    async def __call__(self, event: Event) -> None: ...


async def _wait(event: Event) -> None: ...


@pytest.mark.parametrize("sink", [_wait, _Waiting()], ids=["function", "object"])
def test_a_sink_that_nobody_would_wait_for_is_refused(sink: Any) -> None:
    with pytest.raises(MemoryConfigurationError, match="a sink is a plain function"):
        observe(InMemoryBackend(), sink)


async def test_the_log_sink_writes_one_line_of_json_an_event(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    sink = LogSink(logging.getLogger("host"), level=logging.DEBUG)
    await observe(backend, sink).records.write([MemoryWrite(scope={"user": "a\nb"}, content="tea")])

    (record,) = caplog.records
    assert (record.name, record.levelno, "\n" in record.getMessage()) == ("host", logging.DEBUG, False)
    assert TypeAdapter[Any](AnyEvent).validate_json(record.getMessage()).scope == {"user": "a\nb"}


def test_the_ring_keeps_the_newest() -> None:
    ring = RingSink(size=2)
    events = [RecallEvent(duration=number, truncated=False) for number in range(3)]
    for event in events:
        ring(event)

    assert ring.events == events[1:]


# --- models and schema ---


@pytest.mark.parametrize(
    "event",
    [
        WriteEvent(duration=0.5, adapter="memory", contract="items", operation="store", ids=(uuid4(),), count=1),
        SearchEvent(duration=0, adapter="memory", contract="records", limit=3, truncated=True, error="OSError"),
        RecallEvent(duration=1, truncated=True, size=400, count=3, ids=(uuid4(),)),
    ],
    ids=lambda event: event.type,
)
def test_an_event_is_told_apart_by_its_type_and_comes_back_from_json(event: Event) -> None:
    assert TypeAdapter[Any](AnyEvent).validate_json(event.model_dump_json()) == event


@pytest.mark.parametrize(
    "wrong", [{"content": SECRET}, {"version": 2}, {"duration": -1}, {"type": "agent.memory.write"}]
)
def test_an_event_of_another_form_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RecallEvent.model_validate({"duration": 0, "truncated": False} | wrong)


def test_an_event_is_frozen() -> None:
    with pytest.raises(ValidationError):
        RecallEvent(duration=0, truncated=False).size = 5  # type: ignore[misc]


def test_the_schema_on_file_is_that_of_the_models() -> None:
    path = Path(memcore.__file__).with_name("events.schema.json")

    assert json.loads(path.read_text(encoding="utf-8")) == event_schema(), (
        "python -m memcore.events > packages/memcore/src/memcore/events.schema.json"
    )
