"""What a record is made of, and that all of it comes back (R-02, R-04, R-17)."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from memcore import (
    MemoryConfigurationError,
    MemoryWrite,
    Provenance,
    RecordCapabilities,
    RecordHistory,
    RecordLifecycle,
    RecordStore,
    Transfer,
)

from memcore_conformance import expect
from memcore_conformance.cases.values import CONTAINERS, EXACT, NUMBERS, STRINGS
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial

FULL: Final[dict[str, Any]] = {
    "scope": {"user": "ada", "agent": "x/1"},
    "kind": "preference",
    "content": "Ada prefers green tea",
    "tags": ["drinks", "Drinks"],
    "provenance": Provenance(conversation_id="c1", run_id="r1", author="ada"),
    "expires_at": datetime(2999, 5, 1, 12, 30, 15, 123457, tzinfo=UTC),
    "target": {"type": "turn", "sequence": 3},
    "payload": {"drink": ["tea", {"green": True}]},
    "supports": [Provenance(run_id="r0"), Provenance()],
    "context": "What do you drink?",
    "tier": "long",
}
"""A write with every field."""


@case("R-02a", claims=("records",))
async def every_field_comes_back(trial: Trial) -> None:
    """A record has every field that its caller gave, exactly, whichever call shows it, fresh each time."""
    records = await trial.records()
    given, plain = trial.write(**FULL), MemoryWrite(id=trial.id(), content="tea")
    kept = await records.keep(given, plain)
    for write, record in zip((given, plain), kept, strict=True):
        expect.written(record, write)
    for found in (await records.find("green"), await records.find(tags=["Drinks"])):
        expect.ids(found, [given])
        expect.same_record(found[0], kept[0])


@case("R-02b", claims=("records",))
async def payload_and_target_are_exact(trial: Trial) -> None:
    """Payload and target come back exactly by exact type: every number, string and container, in its order of keys."""
    records = await trial.records()
    given = [trial.write(payload=value) for value in (*EXACT, list(NUMBERS))]
    given += [trial.write(target=value) for value in CONTAINERS if isinstance(value, dict)]
    await records.keep(*given)


@case("R-02c", claims=("records",))
async def every_string_comes_back(trial: Trial) -> None:
    """Tags, context, scope, provenance, reason and actor hold any string, and give it back unchanged."""
    records = await trial.records()
    texts = [text for text in STRINGS if text]
    given = [
        trial.write(
            tags=[text, "t"],
            context=text,
            scope={"user": text},
            provenance=Provenance(author=text),
            supports=[Provenance(run_id=text)],
        )
        for text in texts
    ]
    await records.keep(*given)
    for text, write in zip(texts, given, strict=True):
        ended = await records.invalidate(write.id, text, text)
        expect.equal((ended.invalid_reason, ended.invalidated_by), (text, text), what="reason and actor")
        expect.same_record(await records.get(write.id), ended)


@case("R-02d", claims=("records",))
async def content_is_untouched(trial: Trial) -> None:
    """Whatever a content may hold comes back as it was: blanks, signs, forms of Unicode, words like operators."""
    records = await trial.records()
    texts = [text for text in STRINGS if text and "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)]
    await records.keep(*map(trial.write, texts), trial.write("tea " * 5_000))


@case("R-02e", claims=("records",))
async def a_new_record_is_plain(trial: Trial) -> None:
    """A new record is valid, unused and linked to nothing; its times are aware, in UTC."""
    records = await trial.records()
    (record,) = await records.keep(trial.write())
    for name in ("invalid_at", "invalid_reason", "invalidated_by", "superseded_by", "last_hit_at", "refreshed_at"):
        expect.none(getattr(record, name), what=name)
    expect.equal(record.hits, 0, what="hits")
    expect.equal(record.created_at.utcoffset(), timedelta(0), what="the distance of created_at to UTC")
    expect.equal(record.status_at(record.created_at), "valid", what="the status at birth")


@case("R-02f", claims=("records",))
async def a_time_of_another_zone_is_the_same_moment(trial: Trial) -> None:
    """A time of expiry that is given in another zone comes back in UTC, the same to the microsecond."""
    records = await trial.records()
    zone = timezone(timedelta(hours=5, minutes=45))
    moments = [datetime(year, 3, 28, 2, 30, 0, 1, tzinfo=zone) for year in (2100, 2999, 9999)]
    kept = await records.keep(*(trial.write(expires_at=moment) for moment in moments))
    expect.equal([record.expires_at for record in kept], [moment.astimezone(UTC) for moment in moments])


@case("R-04a", claims=("records",))
async def the_id_is_the_clients(trial: Trial) -> None:
    """A record has the id that its caller gave, whatever it looks like."""
    records = await trial.records()
    ids = [UUID(int=number) for number in (0, 1, 2**63, 2**127, 2**128 - 1)]
    await records.keep(*(trial.write(id=record_id) for record_id in ids))
    for record_id in ids:
        expect.equal((await records.known(record_id)).id, record_id)


@case("R-17a", claims=("backend", "records"))
async def record_capabilities_say_what_is_there(trial: Trial) -> None:
    """A record store satisfies its protocol, and each extension exactly if its capabilities say so."""
    backend = await trial.backend()
    store = backend.records
    expect.that(isinstance(store, RecordStore), expected="a RecordStore", got=type(store).__name__)
    claimed = store.capabilities()
    expect.that(type(claimed) is RecordCapabilities, expected="RecordCapabilities", got=claimed)
    protocols = {"history": RecordHistory, "lifecycle": RecordLifecycle, "transfer": Transfer}
    there = {name: isinstance(store, protocol) for name, protocol in protocols.items()}
    expect.equal({name: getattr(claimed, name) for name in protocols}, there, what="the extensions that are claimed")
    told = {name: name in backend.capabilities.extensions for name in protocols}
    expect.equal(told, there, what="what the backend says of them")
    expect.equal(claimed.search, backend.capabilities.search, what="the mode of search")
    methods = (store.write, store.search, store.get, store.invalidate, store.delete, store.delete_where)
    sync = [method.__name__ for method in methods if not inspect.iscoroutinefunction(method)]
    expect.equal(sync, [], what="methods that are not asynchronous")


@case("R-17b", claims=("backend", "records"))
async def record_capabilities_are_fixed_when_it_opens(trial: Trial) -> None:
    """What a record store can do is told when its backend is open; before that, asking is an error."""
    backend = await trial.make_backend()
    with expect.raises(MemoryConfigurationError):
        backend.records.capabilities()
    await trial.does("open()", backend.open())
    first = backend.records.capabilities()
    await trial.does("write()", backend.records.write([trial.write()]))
    expect.that(backend.records.capabilities() == first, expected=f"{first}", got=backend.records.capabilities())
