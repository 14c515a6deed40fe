"""Every question of a data set, put to the items or the records of an adapter."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Final, Literal

import memcore

from memcore_conformance.bench.place import Place
from memcore_conformance.quality.metrics import DEPTH, Score, interval, mean, score

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    from memcore_conformance.quality.data import Collection, DataSet

Measured = Literal["items", "records"]
_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class Result:
    """What an adapter found of one data set."""

    score: Score
    interval: tuple[float, float]
    """Where recall@10 lies with 95 % certainty: a difference within it means little."""
    questions: int
    seconds: float
    """Of one search, on average."""


async def evaluate(url: str, data: DataSet, *, folder: Path, contract: Measured = "items") -> Result:
    """Store each collection in a fresh namespace, an item or record for each document, and score every question."""
    scores: list[Score] = []
    durations: list[float] = []
    for number, collection in enumerate(data.collections):
        place = Place.fresh(folder / str(number))
        async with place.connect(url) as backend:
            await (_write(backend.records, collection) if contract == "records" else _store(backend.items, collection))
            for question in collection.questions:
                started = perf_counter()
                found = await _found(backend, contract, question.text)
                durations.append(perf_counter() - started)
                scores.append(score([collection.names[name] for name in found], question.evidence))
        await place.forget(url)
    recalls = [each.recall_10 for each in scores]
    return Result(mean(scores), interval(recalls), len(scores), fmean(durations))


async def _store(items: memcore.MemoryStore, collection: Collection) -> None:
    if not isinstance(items, memcore.ManagedMemoryStore):
        for item in collection.items:
            await items.store(item)
        return
    for start in range(0, len(collection.items), _BATCH):
        await items.store_many(collection.items[start : start + _BATCH])


async def _write(records: memcore.RecordStore, collection: Collection) -> None:
    for start in range(0, len(collection.records), _BATCH):
        await records.write(collection.records[start : start + _BATCH])


async def _found(backend: memcore.Backend, contract: Measured, text: str) -> list[UUID]:
    if contract == "records":
        return [hit.record.id for hit in await backend.records.search(memcore.RecordQuery(text=text, limit=DEPTH))]
    return [item.id for item in await backend.items.search(memcore.MemoryQuery(text=text, limit=DEPTH))]
