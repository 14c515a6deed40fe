"""The backend: settings, life, namespaces, and that what is not claimed is absent (B-01, B-02, B-04, B-05)."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Final, cast, get_args

from memcore import (
    Health,
    Maintenance,
    ManagedMemoryStore,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    RecordHistory,
    RecordLifecycle,
    Transfer,
)
from memcore.backend import Contract

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.watch import reaching_out

if TYPE_CHECKING:
    from memcore import Backend

    from memcore_conformance.trial import Trial

CONTRACTS: Final[tuple[Contract, ...]] = get_args(Contract)


@case("B-01a", claims=("backend",))
async def an_unknown_setting_is_an_error(trial: Trial) -> None:
    """An unknown setting is refused, by its name."""
    with expect.raises(MemoryConfigurationError, where=lambda error: "no_such_setting" in str(error), what="naming it"):
        await trial.make_backend(no_such_setting=1)


@case("B-02a", claims=("backend",))
async def a_backend_satisfies_its_protocol(trial: Trial) -> None:
    """A backend has a name and the asynchronous methods of the protocol, and its ping reaches the service."""
    backend = await trial.backend()
    expect.that(isinstance(backend.name, str) and backend.name, expected="a name", got=backend.name)
    methods = (backend.open, backend.close, backend.ping, backend.drop_namespace)
    sync = [method.__name__ for method in methods if not inspect.iscoroutinefunction(method)]
    expect.equal(sync, [], what="methods that are not asynchronous")
    health = await trial.does("ping()", backend.ping())
    expect.that(type(health) is Health and health.status == "ok", expected="a Health that is ok", got=health)


@case("B-02b", claims=("backend",))
async def contracts_are_offered_exactly_as_claimed(trial: Trial) -> None:
    """A contract that is claimed is there, the same object each time; one that is not is an error."""
    backend = await trial.backend()
    for contract in CONTRACTS:
        trial.step(f"backend.{contract}")
        if contract in backend.capabilities.contracts:
            expect.that(getattr(backend, contract) is getattr(backend, contract), expected="one object", got="two")
        else:
            with expect.raises(MemoryConfigurationError):
                getattr(backend, contract)


@case("B-02c", claims=("backend",))
async def extensions_are_there_exactly_as_claimed(trial: Trial) -> None:
    """A protocol beyond the contract is satisfied exactly if it is claimed, and nothing else is claimed."""
    backend = await trial.backend()
    contracts = backend.capabilities.contracts
    items = backend.items if "items" in contracts else None
    records = backend.records if "records" in contracts else None
    present = {
        "managed": isinstance(items, ManagedMemoryStore),
        "maintenance": isinstance(backend, Maintenance),
        "history": isinstance(records, RecordHistory),
        "lifecycle": isinstance(records, RecordLifecycle),
        "transfer": isinstance(records, Transfer),
    }
    there = sorted(name for name, is_there in present.items() if is_there)
    expect.equal(sorted(backend.capabilities.extensions), there, what="the extensions that are claimed")


@case("B-02d", claims=("backend",))
async def only_what_outlives_the_process_is_durable_or_shared(trial: Trial) -> None:
    """An adapter without a transport claims neither to be durable nor to be shared."""
    backend = await trial.backend()
    claimed = {name for name in ("durable", "power_safe", "shared") if getattr(backend.capabilities, name)}
    if not trial.claims.transport:
        expect.equal(claimed, set(), what="claims of an adapter that lives in this process alone")


@case("B-02i", claims=("backend", "items"))
async def an_adapter_without_a_transport_reaches_for_nothing(trial: Trial) -> None:
    """An adapter that says that it has no transport opens no file for writing, no database, socket or process."""
    if trial.claims.transport:
        return
    with reaching_out() as events:
        items = await trial.items()
        await items.keep(trial.item("tea"))
        await items.find("tea")
        await trial.close()
    expect.equal(events, [], what="what it reached for")


@case("B-02e", claims=("backend", "items"))
async def a_backend_opens_on_first_use(trial: Trial) -> None:
    """A backend that nobody opened opens when it is used."""
    store = (await trial.make_backend()).items
    item = trial.item()
    expect.equal(await trial.does("store() on a backend that is not open", store.store(item)), item.id)
    expect.same_item(await store.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("B-02f", claims=("backend", "items"))
async def a_closed_backend_refuses(trial: Trial) -> None:
    """Closing again does nothing; using what was closed is an error."""
    backend = await trial.backend()
    items = await trial.items()
    await items.keep(trial.item())
    await trial.does("close()", backend.close())
    await trial.does("close()", backend.close())
    with expect.raises(MemoryConfigurationError):
        await trial.does("retrieve() after close()", backend.items.retrieve(trial.id()))
    with expect.raises(MemoryConfigurationError):
        await trial.does("open() after close()", backend.open())


@case("B-02g", claims=("backend", "items"))
async def another_event_loop_is_refused(trial: Trial) -> None:
    """A backend that is used from another event loop says so."""
    backend = await trial.backend()
    trial.step("retrieve() in another event loop")
    with expect.raises(MemoryConfigurationError):
        await asyncio.to_thread(lambda: asyncio.run(_retrieve(backend, trial)))


@case("B-02h", claims=("backend", "items", "managed"))
async def a_dropped_namespace_is_empty(trial: Trial) -> None:
    """`drop_namespace` erases everything in the namespace, and the backend goes on."""
    backend = await trial.backend()
    items = await trial.items()
    item = trial.item("tea")
    store = cast("ManagedMemoryStore", backend.items)
    expect.equal(await trial.does("store()", store.store(item)), item.id)
    await trial.does("drop_namespace()", backend.drop_namespace())
    expect.none(await store.retrieve(item.id))
    expect.equal(await store.count(), 0, what="how many items there are")
    await items.keep(item)


@case("B-04a", claims=("backend", "items"))
async def namespaces_never_see_each_other(trial: Trial) -> None:
    """What is stored in one namespace is not seen in another, whatever its name."""
    names = ("one", "ONE", "one ", "one%", "on", "one/two")
    stores = [await trial.items(namespace=name) for name in names]
    shared = trial.id()
    given = [trial.item(f"tea of {name}", id=shared) for name in names]
    for item, items in zip(given, stores, strict=True):
        await items.keep(item)
    for item, items in zip(given, stores, strict=True):
        expect.same_item(await items.retrieve(shared), item, fields=trial.claims.exact_fields)
        expect.ids(await items.find("tea"), [shared])


@case("B-05a", claims=("backend", "items", "transport"), needs=("raw",))
async def newer_data_are_refused_and_untouched(trial: Trial) -> None:
    """Data written by a newer version are refused at open and left as they are."""
    items = await trial.items()
    await items.keep(trial.item("tea"))
    await trial.close()
    await trial.harness_does("make_newer()", trial.raw.make_newer())
    before = await trial.harness_does("fingerprint()", trial.raw.fingerprint())
    backend = await trial.make_backend()
    with expect.raises(MemoryAdapterUnavailable):
        await trial.does("open()", backend.open())
    expect.equal(await trial.harness_does("fingerprint()", trial.raw.fingerprint()), before, what="what is stored")


async def _retrieve(backend: Backend, trial: Trial) -> None:
    await backend.items.retrieve(trial.id())
