"""Any sequence of calls on records, against a plain model of a record store (R-10, and all that it stands for)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from memcore import Invalidation, MemcoreError, MemoryConflict, MemoryWrite, RecordQuery, SweepPolicy

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.exploration import Exploration
from memcore_conformance.record_model import RecordModel, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memcore import MemoryRecord

    from memcore_conformance.claims import Claim
    from memcore_conformance.record_model import Change
    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial

_IDS: Final = [UUID(int=number << 64 | 1 << 127) for number in (*range(1, 40, 2), *range(0, 40, 2))]
"""New ids one after the other, which are not in their order."""
_UNKNOWN: Final = UUID(int=0)
_SCOPES: Final = st.sampled_from([{}, {"user": "ada"}, {"user": "ada", "thread": "1"}, {"user": "Ada"}])
_TAGS: Final = st.sampled_from([[], ["a"], ["a", "b fog"], ["A"]])
_TIERS: Final = st.sampled_from([None, "short", "short", "long", "permanent"])
_SECONDS: Final = (0.000001, 10.0, 3_600.0, 86_400.0 * 7)
_WRITES: Final = st.fixed_dictionaries(
    {
        "content": st.sampled_from(["tea", "milk tea", "rain fog"]),
        "context": st.sampled_from([None, "tea rain"]),
        "scope": _SCOPES,
        "kind": st.sampled_from(["fact", "fact", "profile", "state"]),
        "tags": _TAGS,
        "tier": _TIERS,
    }
)
_EXPIRIES: Final = st.sampled_from([None, None, None, *_SECONDS])
_QUERIES: Final = st.fixed_dictionaries(
    {
        "text": st.sampled_from([None, "tea", "rain milk"]),
        "scope": _SCOPES,
        "kinds": st.sampled_from([None, None, ["fact"], ["state", "profile"], []]),
        "tags": _TAGS,
        "match_tags": st.sampled_from(["any", "all"]),
        "tiers": st.sampled_from([None, None, ["short", "long"]]),
        "include_invalidated": st.booleans(),
        "limit": st.sampled_from([100, 100, 1, 2]),
    }
)
_POLICY: Final = SweepPolicy(short_idle=timedelta(hours=1), long_idle=timedelta(days=7), batch=2)


@case("R-10s", claims=("records",), needs=("clock",), nature="stateful", seconds=120)
async def any_sequence_on_records_answers_as_a_plain_model(trial: Trial) -> None:
    """Whatever sequence of calls on records comes, every answer is that of a plain model; reopening changes nothing."""
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
        self.writes: list[MemoryWrite] = []
        self.claimed = self._trial.claims.names
        self._model = exploration.begin(self._start())

    # --- changing ---

    @rule(fields=_WRITES, expiry=_EXPIRIES)
    def write(self, fields: dict[str, Any], expiry: float | None) -> None:
        self._do(self._write([self._made(fields, [], expiry)]))

    @rule(fields=_WRITES, expiry=_EXPIRIES, data=st.data())
    def supersede(self, fields: dict[str, Any], expiry: float | None, data: st.DataObject) -> None:
        self._do(self._write([self._made(fields, self._some_ids(data, most=2), expiry)]))

    @rule(batch=st.lists(_WRITES, min_size=2, max_size=3), data=st.data())
    def write_many(self, batch: list[dict[str, Any]], data: st.DataObject) -> None:
        ids = self._some_ids(data, most=3)
        ends = [Invalidation(id=record_id, reason="wrong") for record_id in ids[1:]]
        self._do(self._write([*(self._made(fields, ids[:1] * (not n)) for n, fields in enumerate(batch)), *ends]))

    @precondition(lambda machine: machine.writes)
    @rule(data=st.data())
    def write_again(self, data: st.DataObject) -> None:
        write = data.draw(st.sampled_from(self.writes))
        self._do(
            self._write([write.model_copy(update={"content": data.draw(st.sampled_from([write.content, "fog"]))})])
        )

    @rule(data=st.data(), actor=st.sampled_from([None, "ada"]))
    def invalidate(self, data: st.DataObject, actor: str | None) -> None:
        self._do(self._write([Invalidation(id=self._some_id(data), reason="late", actor=actor)]))

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        record_id = self._some_id(data)
        self._do(_answers(self._records.delete(record_id), self._model.erase([record_id]) == 1))

    @rule(scope=_SCOPES.filter(bool), kinds=st.sampled_from([None, ["fact"]]))
    def delete_where(self, scope: dict[str, str], kinds: list[Any] | None) -> None:
        matching = [
            record.id
            for record in self._model.records.values()
            if record.scope.contains(scope) and (kinds is None or record.kind in kinds)
        ]
        self._do(_answers(self._records.delete_where(scope, kinds=kinds), self._model.erase(matching)))

    @rule(seconds=st.sampled_from(_SECONDS))
    def advance(self, seconds: float) -> None:
        self._trial.advance(seconds)
        self._model.now += timedelta(seconds=seconds)

    @_claimed("lifecycle")
    @rule(data=st.data())
    def touch(self, data: st.DataObject) -> None:
        ids = [*self._some_ids(data, most=3), self._some_id(data)]
        self._do(_answers(self._records.touch(*ids), self._model.touch(ids)))

    @_claimed("lifecycle")
    @rule(data=st.data(), tier=_TIERS)
    def refresh(self, data: st.DataObject, tier: Any) -> None:  # noqa: ANN401 - a tier or none
        self._do(self._refresh(self._some_id(data), tier))

    @_claimed("lifecycle")
    @rule()
    def sweep(self) -> None:
        self._do(self._sweep())

    @_claimed("transfer")
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        record_id = self._some_id(data)
        record = self._model.get(record_id)
        if record is not None and record.superseded_by is None:
            self._model.restore(record.model_copy(update={"content": f"{record.content} lamp"}))
            self._do(_answers(self._records.restore(self._model.records[record_id]), [record_id]))

    @_claimed("durable")
    @rule()
    def reopen(self) -> None:
        self._do(self._reopen())

    # --- reading ---

    @rule()
    def get_all(self) -> None:
        self._do(self._get_all())

    @rule(axes=_QUERIES, data=st.data())
    def search(self, axes: dict[str, Any], data: st.DataObject) -> None:
        times = [time for record in self._model.all() for time in (record.created_at, record.invalid_at) if time]
        moments = [None, self._model.now + timedelta(seconds=10), *times]
        self._do(self._search(RecordQuery(**axes, as_of=data.draw(st.sampled_from(moments)))))

    @_claimed("history")
    @rule(data=st.data())
    def history(self, data: st.DataObject) -> None:
        self._do(self._history(self._some_id(data)))

    @_claimed("history")
    @rule(limit=st.sampled_from([100, 1, 2]))
    def scan(self, limit: int) -> None:
        self._do(self._scan(limit))

    def _some_id(self, data: st.DataObject) -> UUID:
        return data.draw(st.sampled_from([*self._known(), _UNKNOWN]))

    def _some_ids(self, data: st.DataObject, *, most: int) -> list[UUID]:
        known = self._known()
        return data.draw(st.lists(st.sampled_from(known), max_size=most, unique=True)) if known else []

    def _known(self) -> list[UUID]:
        return list(dict.fromkeys(write.id for write in self.writes))

    def _made(self, fields: dict[str, Any], supersedes: list[UUID], expiry: float | None = None) -> MemoryWrite:
        expires_at = None if expiry is None else self._model.now + timedelta(seconds=expiry)
        record_id = _IDS[len(self.writes) % len(_IDS)]
        write = MemoryWrite(id=record_id, supersedes=supersedes, expires_at=expires_at, **fields)
        self.writes.append(write)
        return write

    async def _start(self) -> RecordModel:
        await self._trial.reset()
        self._records: Records = await self._trial.records()
        (probe,) = await self._records.write(self._trial.write("what time is it"))
        await self._records.delete(probe.id)
        return RecordModel(probe.created_at)

    async def _reopen(self) -> None:
        await self._trial.close()
        self._records = await self._trial.records()

    async def _write(self, changes: list[Change]) -> None:
        ended = [change.id for change in changes if isinstance(change, Invalidation)]
        ended += [old for change in changes if isinstance(change, MemoryWrite) for old in change.supersedes]
        known = self._model.records
        stale = [change.id for change in changes if change.id in known and self._model.is_expired(known[change.id])]
        if len(set(ended)) < len(ended) or stale:
            return  # refused, or a retry of what has expired: for other cases
        refusal = self._model.refusal(changes)
        if refusal is not None:
            await _refuses(self._records.write(*changes), refusal)
        else:
            self._model.write(changes, await self._records.write(*changes))

    async def _refresh(self, record_id: UUID, tier: Any) -> None:  # noqa: ANN401 - a tier or none
        refusal = self._model.refusal_to_end(record_id)
        if refusal is not None:
            await _refuses(self._records.refresh(record_id, tier), refusal)
        else:
            self._model.refresh(record_id, tier)
            _expect_same(await self._records.refresh(record_id, tier), self._model.get(record_id))

    async def _sweep(self) -> None:
        expired = [record.id for record in self._model.records.values() if self._model.is_expired(record)]
        self._model.erase(expired)
        idle = self._model.idle({"short": _POLICY.short_idle, "long": _POLICY.long_idle})
        report = await self._records.sweep(_POLICY)
        expect.equal((report.erased, report.archived), (len(expired), len(idle)), what="erased, archived")
        for record in idle:
            self._model.archive(record, await self._records.known(record.id))
            await self._get(record.id)

    async def _get_all(self) -> None:
        for record_id in [*self._known(), _UNKNOWN]:
            await self._get(record_id)

    async def _get(self, record_id: UUID) -> None:
        _expect_same(await self._records.get(record_id), self._model.get(record_id))

    async def _search(self, query: RecordQuery) -> None:
        await self._trial.show_index()
        found = [hit.record for hit in await self._records.search(query)]
        wanted = self._model.matching(query)
        if query.text and len(wanted) > query.limit:  # relevance is for other cases
            expect.equal(len(found), query.limit, what="hits")
        else:
            expect.ids(found, wanted[: query.limit], ordered=not query.text)
        for record in found:
            expect.contains(wanted, record)
            _expect_same(record, self._model.get(record.id))

    async def _history(self, record_id: UUID) -> None:
        expect.equal(await self._records.history(record_id), self._model.history(record_id), what="the history")

    async def _scan(self, limit: int) -> None:
        wanted = self._model.all()
        expect.equal(await self._records.scan_all(limit=limit), wanted, what="all records")
        expect.equal(await self._records.count(), len(wanted), what="how many records there are")


async def _answers(call: Awaitable[object], wanted: object) -> None:
    expect.equal(await call, wanted)


async def _refuses(call: Awaitable[object], refusal: Refusal) -> None:
    with expect.raises(MemcoreError, where=lambda error: _told(error) == refusal, what=f"as {refusal}"):
        await call


def _told(error: MemcoreError) -> Refusal:
    current: Any = error.current if isinstance(error, MemoryConflict) else None
    return Refusal(type(error).__name__, current and current.id)


def _expect_same(got: MemoryRecord | None, wanted: MemoryRecord | None) -> None:
    if wanted is None:
        expect.none(got, what="the record")
    else:
        expect.same_record(got, wanted)
