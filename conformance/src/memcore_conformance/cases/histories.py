"""Concurrent clients: some order has to explain what all of them saw (I-42, I-64, I-70)."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Final

from memcore import MemoryQuery

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.history import History
from memcore_conformance.verdicts import Mismatch

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from uuid import UUID

    from memcore import MemoryItem

    from memcore_conformance.child import Child
    from memcore_conformance.harness import Fault
    from memcore_conformance.items import Items
    from memcore_conformance.trial import Trial

_CLIENTS: Final = 4
_TURNS: Final = 10


@case("I-42h", nature="stochastic")
async def one_order_explains_what_tasks_see(trial: Trial) -> None:
    """Of tasks that store, retrieve and erase the same items at once, each sees what one common order explains."""
    await _work_at_once(trial, [await trial.items()] * _CLIENTS)


@case("I-42i", claims=("items", "shared"), nature="stochastic")
async def one_order_explains_what_stores_see(trial: Trial) -> None:
    """Of two stores on the same data, used at once, each sees what one common order explains."""
    stores = [await trial.items(), await trial.items()]
    await _work_at_once(trial, stores * (_CLIENTS // 2))


@case("I-42r", claims=("items", "shared"), needs=("processes",), nature="stochastic", seconds=120)
async def one_order_explains_what_processes_see(trial: Trial) -> None:
    """Of three processes that work on the same items at once, each sees what one common order explains."""
    items = await trial.items()
    children = await asyncio.gather(trial.process(), trial.process())
    await _work_at_once(trial, [items, *children])


@case("I-64h", claims=("items", "immediate"), nature="stochastic")
async def an_immediate_search_is_in_that_order(trial: Trial) -> None:
    """Where search is immediate, what it shows amid concurrent writes is explained by the same order."""
    await _work_at_once(trial, [await trial.items()] * _CLIENTS, searching=True)


@case("I-64i", claims=("items", "eventual"), nature="stochastic")
async def an_eventual_search_shows_whole_versions(trial: Trial) -> None:
    """Where search is eventual, every hit is one version that was stored, and in the end it is the last."""
    items = await trial.items()
    ids = [trial.id() for _ in range(3)]
    versions: dict[UUID, list[tuple[object, list[str]]]] = {item_id: [] for item_id in ids}
    for number in range(12):
        item = trial.item(f"tea {number}", id=trial.random.choice(ids), tags=[f"t{number}"])
        versions[item.id].append((item.content, item.tags))
        await items.store(item)
        if trial.random.random() < 1 / 3:
            await trial.show_index()
        for hit in await items.find():
            version = hit.content, hit.tags if "hit_tags" in trial.claims.names else []
            known = [(content, tags if version[1] else []) for content, tags in versions[hit.id]]
            expect.that(version in known, expected=f"one of {len(known)} versions that were stored", got=hit)
    await trial.show_index()
    found = {hit.id: hit.content for hit in await items.find()}
    stored = {item_id: written[-1][0] for item_id, written in versions.items() if written}
    expect.that(found == stored, expected=f"the last versions: {sorted(map(str, stored.values()))}", got=found)


@case("I-70x", claims=("items", "transport"), needs=("faults",), nature="stochastic")
async def one_order_explains_what_failures_leave(trial: Trial) -> None:
    """When calls fail amid concurrent work, each write took effect once or never, and no read shows anything else."""
    await _work_at_once(trial, [await trial.items()] * _CLIENTS, failing=True)


async def _work_at_once(
    trial: Trial, stores: Sequence[Items | Child], *, searching: bool = False, failing: bool = False
) -> None:
    """Let a client work on each store at once, then look at everything through each, and judge the history."""
    history = History()
    ids = [trial.id() for _ in range(2)]
    faults = sorted(trial.faults.faults - {"no_identity"}) if failing else []
    clients = [
        _Client(trial, items, history, ids, name=name, searching=searching, faults=faults)
        for name, items in enumerate(stores)
    ]
    await asyncio.gather(*(client.work() for client in clients))
    for last in clients[:2]:
        for item_id in ids:
            await last.store(item_id)
        for client in clients:
            await client.look_at_all()
    for key in history.unexplained():
        seen = ", ".join(f"{one.kind} {one.value} in {one.start}-{one.end}" for one in history.operations[key])
        raise Mismatch(expected="an order that explains what was seen of one item", got=seen)


class _Client:
    """Does what chance says, and records what it sees."""

    def __init__(
        self,
        trial: Trial,
        items: Items | Child,
        history: History,
        ids: Sequence[UUID],
        *,
        name: int,
        searching: bool,
        faults: Sequence[Fault],
    ) -> None:
        self._trial = trial
        self._items = items
        self._history = history
        self._ids = ids
        self._versions = (f"tea {name}.{number}" for number in count())
        self._searching = searching
        self._faults = faults

    async def work(self) -> None:
        chance = self._trial.random
        for _ in range(_TURNS):
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
            if self._faults and chance.random() < 1 / 4:
                self._trial.faults.fail_next(chance.choice(self._faults))
            item_id = chance.choice(self._ids)
            kind = chance.choice(("store", "store", "look", "look", "erase", "search"))
            if kind == "store":
                await self.store(item_id)
            elif kind == "erase" and "managed" in self._trial.claims.names:
                await self._history.erase(item_id, self._items.delete(item_id))
            elif kind == "search" and self._searching:
                await self._search()
            else:
                await self._look(item_id)

    async def store(self, item_id: UUID) -> None:
        version = next(self._versions)
        item = self._trial.item(version, id=item_id, tags=[version])
        await self._history.write(item_id, version, self._items.store(item))

    async def look_at_all(self) -> None:
        """Look at every item in every way, amid a failure as well."""
        for item_id in self._ids:
            for fault in self._faults[:1]:
                self._trial.faults.fail_next(fault)
                await self._look(item_id)
            await self._look(item_id)
        if self._searching:
            await self._search()

    async def _look(self, item_id: UUID) -> None:
        await self._history.read(self._items.retrieve(item_id), lambda found: {item_id: found and _version(found)})

    async def _search(self) -> None:
        await self._history.read(self._items.search(MemoryQuery()), self._shown)

    def _shown(self, found: list[MemoryItem]) -> dict[Hashable, Hashable]:
        hits = {item.id: _version(item) for item in found}
        return {item_id: hits.get(item_id) for item_id in self._ids}


def _version(item: MemoryItem) -> str:
    """Return which version this is: each has its content as its tag, which a search need not show."""
    return str(item.content) if item.tags in ([item.content], []) else f"{item.content} with the tags {item.tags}"
