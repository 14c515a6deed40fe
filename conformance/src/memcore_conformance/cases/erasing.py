"""Erasing: exactly what was asked for, out of everything that is derived from it (I-81)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from memcore import MemoryAdapterError, UnsupportedMemoryItem, UnsupportedMemoryQuery

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.verdicts import Mismatch

if TYPE_CHECKING:
    from memcore import ManagedMemoryStore, MemoryItem

    from memcore_conformance.items import Items
    from memcore_conformance.trial import Trial

_WAYS_TO_FIND: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"text": "green"},
    {"text": "drinks"},
    {"tags": ["warm drink"]},
    {"filters": {"k": 1}},
    {"text": "tea", "tags": ["warm drink"], "filters": {"k": 1, "m": None}},
)


@case("I-81c", claims=("items", "managed"))
async def many_ids_are_erased_and_counted_once(trial: Trial) -> None:
    """`delete_many` erases each id that is there, counts it once, and passes over those that are not."""
    items = await trial.items()
    first, second, kept = (trial.item("tea") for _ in range(3))
    await items.keep(first, second, kept)
    expect.equal(await items.delete_many([]), 0, what="erased of no ids")
    expect.equal(await items.delete_many([trial.id()]), 0, what="erased of an unknown id")
    expect.equal(await items.delete_many([first.id, trial.id(), second.id, first.id]), 2, what="erased")
    expect.ids(await items.scan_all(), [kept])


@case("I-81d", claims=("items", "managed", "analysed", "open_filters"))
async def every_way_of_erasing_empties_every_index(trial: Trial) -> None:
    """After `delete`, `delete_many` or `delete_where` an item is found in no way, and what is like it still is."""
    items = await trial.items()
    kept = trial.item("green tea", tags=["warm drink"], metadata={"k": 1})
    await items.keep(kept)
    for way in ("delete", "delete_many", "delete_where"):
        gone = [trial.item("green tea", tags=["warm drink"], metadata={"k": 1, "way": way}) for _ in range(3)]
        await items.keep(*gone)
        await _erase(items, way, gone)
        await trial.show_index()
        for query in _WAYS_TO_FIND:
            expect.ids(await items.find(**query), [kept])
        expect.ids(await items.find(filters={"way": way}), [])
        expect.ids(await items.scan_all(), [kept])
        expect.equal(await items.count(), 1, what="how many items there are")


@case("I-81e", claims=("items", "managed", "analysed"))
async def what_was_erased_can_be_stored_anew(trial: Trial) -> None:
    """An id that was erased may be stored again, and nothing of the old item comes back with it."""
    items = await trial.items()
    old = trial.item("tea", tags=["old"])
    new = trial.item("coffee", id=old.id)
    await items.keep(old)
    expect.equal(await items.delete(old.id), True)
    await items.keep(new)
    expect.ids(await items.find("tea old"), [])
    expect.ids(await items.find(tags=["old"]), [])
    expect.ids(await items.find("coffee"), [new])


@case("I-81f", claims=("items", "managed", "open_filters"))
async def filters_erase_what_a_search_would_find(trial: Trial) -> None:
    """`delete_where` compares as a search does: all filters, by JSON equality, literal keys, null for missing."""
    items = await trial.items()
    metadata: dict[str, dict[str, Any]] = {
        "number": {"k": 1, "m": "x"},
        "float": {"k": 1.0, "m": "x"},
        "true": {"k": True, "m": "x"},
        "text": {"k": "1", "m": "x"},
        "other": {"k": 1, "m": "y"},
        "null": {"k": None, "m": "x"},
        "missing": {"m": "x"},
        "dotted": {"k.m": "x", "k": {"m": "y"}},
    }
    given = {name: trial.item(name, metadata=part) for name, part in metadata.items()}
    for filters, gone in (
        ({"k": 1, "m": "x"}, ["number", "float"]),
        ({"k": None}, ["null", "missing"]),
        ({"k.m": "x"}, ["dotted"]),
        ({"k.m": "y"}, []),
        ({"k": 2, "m": "x"}, []),
        ({"x') OR 1=1 --": 1}, []),
        ({"m": "' OR ''='"}, []),
    ):
        await items.store_many(list(given.values()))
        expect.equal(await items.delete_where(filters), len(gone), what="how many were erased")
        left = [item for name, item in given.items() if name not in gone]
        expect.ids(await items.scan_all(), left, ordered=False)


@case("I-81g", claims=("items", "managed"))
async def an_id_that_is_none_erases_nothing(trial: Trial) -> None:
    """`delete_many` with something that is no id is an error, and none of the others is erased."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    with expect.raises(UnsupportedMemoryQuery):
        await items.delete_many([item.id, "%"])  # type: ignore[list-item]
    with expect.raises(UnsupportedMemoryQuery):
        await items.delete(None)  # type: ignore[arg-type]
    expect.ids(await items.scan_all(), [item])


@case("I-81h", claims=("items", "managed"))
async def filters_that_are_not_supported_erase_nothing(trial: Trial) -> None:
    """`delete_where` refuses filters that no entry can equal or that the manifest does not name, and erases nothing."""
    manifest = trial.claims.manifest
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    refused: list[dict[str, Any]] = [{"k": float("nan")}, {"k": {1}}, {}]
    if manifest and not manifest.supports_filter("zeta"):
        refused.append(dict.fromkeys(["zeta", *manifest.supported_filters], "x"))
    for filters in refused:
        with expect.raises(UnsupportedMemoryQuery):
            await items.delete_where(filters)
    expect.ids(await items.scan_all(), [item])


@case("I-81i", claims=("items", "managed", "backend"))
async def too_many_ids_are_refused(trial: Trial) -> None:
    """More ids than the stated limit of a batch are refused, and none of them is erased."""
    backend = await trial.backend()
    if backend.capabilities.limits is None:
        raise Mismatch(expected="stated size limits", got="capabilities without limits")
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    too_many = [item.id] * (backend.capabilities.limits.batch + 1)
    store = cast("ManagedMemoryStore", items.raw)
    with expect.raises(UnsupportedMemoryItem):
        await trial.does(f"delete_many({len(too_many)} ids)", store.delete_many(too_many))
    expect.ids(await items.scan_all(), [item])


@case("I-81j", claims=("items", "managed", "transport"), needs=("faults",))
async def an_erasure_that_fails_is_done_or_not(trial: Trial) -> None:
    """An erasure that the transport fails is done wholly, or it is an error and maybe not; asked again, it is done."""
    items = await trial.items()
    for fault in sorted(trial.faults.faults - {"no_identity"}):
        given = [trial.item("tea") for _ in range(4)]
        await items.keep(*given)
        trial.faults.fail_next(fault)
        trial.step(f"harness: fail_next({fault!r})")
        outcomes = [0]
        try:
            await items.delete_many([item.id for item in given])  # an adapter may try again what was lost
        except MemoryAdapterError:
            outcomes.append(4)
        left = await items.count()
        expect.that(left in outcomes, expected="all of them erased, or none after an error", got=f"{left} left of 4")
        await items.delete_many([item.id for item in given])
        expect.equal(await items.count(), 0, what="how many items there are")


async def _erase(items: Items, way: str, gone: list[MemoryItem]) -> None:
    match way:
        case "delete":
            expect.equal([await items.delete(item.id) for item in gone], [True] * len(gone))
        case "delete_many":
            expect.equal(await items.delete_many([item.id for item in gone]), len(gone), what="how many were erased")
        case _:
            expect.equal(await items.delete_where({"way": way}), len(gone), what="how many were erased")
