"""Any sequence of calls, against a plain model of a store (I-42, and all that it stands for)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from memcore import MemoryItem

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.exploration import Exploration
from memcore_conformance.model import Model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memcore_conformance.claims import Claim
    from memcore_conformance.trial import Trial

_IDS: Final = st.sampled_from([UUID(int=number) for number in (1, 2**127, 2**128 - 1)])
_TEXTS: Final = st.sampled_from(["", "tea", "milk tea", "rain fog"])
_TAGS: Final[st.SearchStrategy[list[str]]] = st.sampled_from([[], ["a"], ["A", "b fog"]])
_CONDITIONS: Final[tuple[dict[str, Any], ...]] = (
    *({"k": None}, {"k": 1}, {"k": True}, {"k": "1", "m": [1]}),
    *({"m": [1.0]}, {"k": 1.0, "m": {"a": 1}}, {"k.a": 0}, {"k": {"a": 0}, "m": None}),
)
_FILTERS: Final = st.sampled_from(_CONDITIONS)
_ENTRIES: Final = st.sampled_from(({}, *_CONDITIONS))
_ITEMS: Final = st.builds(
    MemoryItem,
    id=_IDS,
    created_at=st.sampled_from([0.0, -1.5, 2e9]),
    content=st.sampled_from(["tea", "milk tea", ["fog", "tea"], {"tea": 1.5}, None]),
    tags=_TAGS,
    metadata=_ENTRIES,
)
_LIMITS: Final = st.sampled_from([100, 1, 2])


@case("I-42s", nature="stateful", seconds=60)
async def any_sequence_answers_as_a_plain_model(trial: Trial) -> None:
    """Whatever sequence of calls comes, every answer is that of a plain model; reopening changes nothing."""
    exploration = Exploration(trial)
    await exploration.explore(lambda: _Machine(exploration))


def _claimed(*names: Claim) -> Callable[[Any], Any]:
    """Leave a rule out where one of these is not claimed."""
    return precondition(lambda machine: machine.claimed.issuperset(names))


class _Machine(RuleBasedStateMachine):
    """The adapter and the model, side by side."""

    def __init__(self, exploration: Exploration) -> None:
        super().__init__()
        self._trial = exploration.trial
        self._do = exploration.do
        self._model = Model()
        self.claimed = self._trial.claims.names
        exploration.begin(self._start())

    @rule(item=_ITEMS)
    def store(self, item: MemoryItem) -> None:
        self._model.store([item])
        self._do(_answers(self._items.store(item), item.id))

    @rule(item_id=_IDS)
    def retrieve(self, item_id: UUID) -> None:
        self._do(self._retrieve(item_id))

    @rule()
    def list_all(self) -> None:
        self._do(self._search("", [], {}, 100))

    @_claimed("analysed", "open_filters", "created_at")
    @rule(text=_TEXTS, tags=_TAGS, filters=_ENTRIES, limit=_LIMITS)
    def search(self, text: str, tags: list[str], filters: dict[str, Any], limit: int) -> None:
        self._do(self._search(text, tags, filters, limit))

    @_claimed("managed")
    @rule(items=st.lists(_ITEMS, max_size=4))
    def store_many(self, items: list[MemoryItem]) -> None:
        self._model.store(items)
        self._do(_answers(self._items.store_many(items), [item.id for item in items]))

    @_claimed("managed")
    @rule(item_id=_IDS)
    def delete(self, item_id: UUID) -> None:
        self._do(_answers(self._items.delete(item_id), self._model.erase([item_id]) == 1))

    @_claimed("managed")
    @rule(ids=st.lists(_IDS, max_size=3))
    def delete_many(self, ids: list[UUID]) -> None:
        self._do(_answers(self._items.delete_many(ids), self._model.erase(ids)))

    @_claimed("managed", "open_filters")
    @rule(filters=_FILTERS)
    def delete_where(self, filters: dict[str, Any]) -> None:
        matching = [item.id for item in self._model.matching("", [], filters)]
        self._do(_answers(self._items.delete_where(filters), self._model.erase(matching)))

    @_claimed("managed")
    @rule(limit=_LIMITS)
    def scan(self, limit: int) -> None:
        self._do(self._scan(limit))

    @_claimed("durable")
    @rule()
    def reopen(self) -> None:
        self._do(self._reopen())

    async def _start(self) -> None:
        await self._trial.reset()
        self._items = await self._trial.items()

    async def _reopen(self) -> None:
        await self._trial.close()
        self._items = await self._trial.items()

    async def _retrieve(self, item_id: UUID) -> None:
        found, wanted = await self._items.retrieve(item_id), self._model.items.get(item_id)
        if wanted is None:
            expect.none(found)
        else:
            expect.same_item(found, wanted, fields=self._trial.claims.exact_fields)

    async def _search(self, text: str, tags: list[str], filters: dict[str, Any], limit: int) -> None:
        await self._trial.show_index()
        found = await self._items.find(text, tags=tags, filters=filters, limit=limit)
        wanted = self._model.matching(text, tags, filters)
        if text and len(wanted) > limit:  # relevance is for other cases
            expect.equal(len(found), limit, what="hits")
        else:
            newest_first = not text and "analysed" in self.claimed
            expect.ids(found, wanted[:limit], ordered=newest_first)
        for hit in found:
            expect.that(hit.id in {item.id for item in wanted}, expected="a hit that matches", got=hit)
            expect.same_item(hit, self._model.items[hit.id], fields=self._trial.claims.hit_fields)

    async def _scan(self, limit: int) -> None:
        found, wanted = await self._items.scan_all(limit=limit), self._model.in_order()
        expect.ids(found, wanted)
        for got, item in zip(found, wanted, strict=True):
            expect.same_item(got, item, fields=self._trial.claims.exact_fields)
        expect.equal(await self._items.count(), len(wanted), what="how many items there are")


async def _answers(call: Awaitable[object], wanted: object) -> None:
    expect.equal(await call, wanted)
