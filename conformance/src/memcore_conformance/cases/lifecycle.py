"""The life of a backend: opening, use by many at once, closing amid work, and what is told of its health (B-02)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast
from uuid import UUID

from memcore import Capabilities, MemoryAdapterUnavailable, MemoryConfigurationError, MemoryQuery

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from memcore import Backend, ExternalMemoryStore, ManagedMemoryStore

    from memcore_conformance.trial import Trial


@case("B-02j", claims=("backend", "items"))
async def many_first_uses_open_together(trial: Trial) -> None:
    """Calls that come at once to a backend that is not open all succeed."""
    backend = await trial.make_backend()
    given = [trial.item(f"tea {number}") for number in range(10)]
    stored = await trial.does("10 stores at once", asyncio.gather(*map(backend.items.store, given)))
    expect.equal(stored, [item.id for item in given], what="the ids")
    for item in given:
        expect.same_item(await backend.items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("B-02k", claims=("backend", "items"))
async def closing_finishes_what_was_accepted(trial: Trial) -> None:
    """Closing amid writes: each is acknowledged or refused, none hangs or fails otherwise, and none is half done."""
    backend = await trial.backend()
    given = [trial.item(f"tea {number}") for number in range(30)]
    writes = [asyncio.ensure_future(backend.items.store(item)) for item in given]
    for _ in range(3):
        await asyncio.sleep(0)
    await trial.does("close() amid 30 writes", backend.close())
    ended = await asyncio.gather(*writes, return_exceptions=True)
    strange = [end for end in ended if not isinstance(end, (UUID, MemoryConfigurationError, MemoryAdapterUnavailable))]
    expect.equal(strange, [], what="writes that ended otherwise")
    if "durable" in trial.claims.names:
        items = await trial.items()
        for item in (item for item, end in zip(given, ended, strict=True) if isinstance(end, UUID)):
            expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("B-02l", claims=("backend", "items"))
async def closing_at_once_closes_once(trial: Trial) -> None:
    """Several calls of `close` at once all return when it is closed."""
    backend = await trial.backend()
    await trial.does("close() three times at once", asyncio.gather(backend.close(), backend.close(), backend.close()))
    with expect.raises(MemoryConfigurationError):
        await trial.does("store()", backend.items.store(trial.item()))


@case("B-02m", claims=("backend", "items"))
async def every_use_after_close_is_refused(trial: Trial) -> None:
    """Whatever is asked of a closed backend is an error, whether or not it was ever open."""
    opened, unopened = await trial.backend(), await trial.make_backend()
    for backend in (opened, unopened):
        await trial.does("close()", backend.close())
        for name, call in _uses(backend, trial).items():
            with expect.raises(MemoryConfigurationError):
                await trial.does(f"{name} after close()", call())
        for claims in (lambda b: b.capabilities, lambda b: cast("ExternalMemoryStore", b.items).manifest):
            with expect.raises(MemoryConfigurationError):
                claims(backend)


@case("B-02n", claims=("backend", "items"))
async def a_block_opens_and_closes(trial: Trial) -> None:
    """`async with` gives the open backend itself, and closes it after an error too, which it lets through."""
    backend = await trial.make_backend()
    failure = KeyError("in the block")
    with expect.raises(KeyError, where=lambda error: error is failure, what="as it was raised"):
        async with backend as entered:
            expect.that(entered is backend, expected="the backend itself", got=entered)
            expect.that(type(backend.capabilities) is Capabilities, expected="an open backend", got=backend)
            raise failure
    with expect.raises(MemoryConfigurationError):
        await trial.does("store() after the block", backend.items.store(trial.item()))


@case("B-02o", claims=("backend", "items", "transport"))
async def opening_in_vain_may_be_tried_again(trial: Trial) -> None:
    """While the service cannot be reached, opening and first use say so; later the same backend opens."""
    await (await trial.items()).keep(trial.item())
    backend = await trial.make_backend()
    async with trial.outage():
        with expect.raises(
            MemoryAdapterUnavailable, where=lambda error: error.__cause__ is not None, what="with its cause"
        ):
            await trial.does("open()", backend.open())
        with expect.raises(MemoryAdapterUnavailable):
            await trial.does("retrieve()", backend.items.retrieve(trial.id()))
    item = trial.item()
    expect.equal(await trial.does("store()", backend.items.store(item)), item.id)


@case("B-02p", claims=("backend", "transport"))
async def a_ping_tells_of_an_outage(trial: Trial) -> None:
    """`ping` raises while the service cannot be reached, and answers when it can be again."""
    backend = await trial.backend()
    await trial.does("ping()", backend.ping())
    async with trial.outage():
        with expect.raises(MemoryAdapterUnavailable):
            await trial.does("ping()", backend.ping())
    expect.equal((await trial.does("ping()", backend.ping())).status, "ok", what="the status")


@case("B-02q", claims=("backend",))
async def health_says_what_takes_part(trial: Trial) -> None:
    """`ping` tells how long it took and the version of everything that takes part."""
    backend = await trial.backend()
    health = await trial.does("ping()", backend.ping())
    expect.that(0 <= health.latency < 60, expected="a latency in seconds", got=health.latency)  # noqa: PLR2004
    expect.that(health.versions and all(health.versions.values()), expected="versions by name", got=health.versions)


@case("B-02r", claims=("backend",))
async def capabilities_are_coherent(trial: Trial) -> None:
    """Capabilities are a valid `Capabilities`, the same each time, and claim nothing without what it stands on."""
    backend = await trial.backend()
    claimed = backend.capabilities
    expect.that(type(claimed) is Capabilities, expected="a Capabilities", got=claimed)
    expect.that(backend.capabilities == claimed, expected="the same capabilities again", got=backend.capabilities)
    expect.that(Capabilities.model_validate(claimed.model_dump()) == claimed, expected="valid ones", got=claimed)
    expect.that(claimed.durable or not claimed.power_safe, expected="durable, as power_safe is claimed", got=claimed)
    expect.that(claimed.search or not claimed.analysed, expected="a search mode, as analysed is claimed", got=claimed)


@case("B-02s", claims=("backend", "items"))
async def nothing_is_served_in_another_event_loop(trial: Trial) -> None:
    """Whatever is asked of a backend from another event loop is an error, closing too; its own goes on with it."""
    backend = await trial.backend()
    calls = _uses(backend, trial) | {"close()": backend.close}
    for name, call in calls.items():
        trial.step(f"{name} in another event loop")
        with expect.raises(MemoryConfigurationError):
            await asyncio.to_thread(_run, call)
    item = trial.item()
    expect.equal(await trial.does("store() in its own", backend.items.store(item)), item.id)


@case("B-02t", claims=("backend", "items"))
async def a_cancelled_opening_may_be_repeated(trial: Trial) -> None:
    """Opening that is cancelled at any of its first awaits leaves a backend that opens."""
    for steps in range(8):
        backend = await trial.make_backend()
        opening = asyncio.ensure_future(backend.open())
        for _ in range(steps):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        trial.step(f"open() cancelled after {steps} turns of the loop")
        item = trial.item()
        expect.equal(await trial.does("store()", backend.items.store(item)), item.id)


def _uses(backend: Backend, trial: Trial) -> dict[str, Callable[[], Coroutine[object, object, object]]]:
    """Return every call that a backend with items offers, by its name."""
    items = backend.items
    calls: dict[str, Callable[[], Coroutine[object, object, object]]] = {
        "open()": backend.open,
        "ping()": backend.ping,
        "drop_namespace()": backend.drop_namespace,
        "store()": lambda: items.store(trial.item()),
        "retrieve()": lambda: items.retrieve(trial.id()),
        "search()": lambda: items.search(MemoryQuery(text="tea")),
    }
    if "managed" in trial.claims.names:
        managed = cast("ManagedMemoryStore", items)
        calls |= {
            "store_many()": lambda: managed.store_many([trial.item()]),
            "delete()": lambda: managed.delete(trial.id()),
            "delete_many()": lambda: managed.delete_many([trial.id()]),
            "scan()": managed.scan,
            "count()": managed.count,
        }
    return calls


def _run(call: Callable[[], Coroutine[object, object, object]]) -> None:
    asyncio.run(call())
