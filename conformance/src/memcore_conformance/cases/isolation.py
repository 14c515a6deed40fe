"""Namespaces that look alike, and work in one beside another (B-04)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memcore import MemoryConfigurationError

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.items import Items

if TYPE_CHECKING:
    from memcore import MemoryItem

    from memcore_conformance.trial import Trial

ALIKE: Final = (
    *("user_1", "User_1", "user_10", "user-1", "user%", "user_1 ", "user", "\uff55ser_1"),
    *("caf\u00e9", "cafe\u0301", "ı", "i", "a/b", "a%2Fb", "../a", "*", "'", "' OR 1=1 --", "0", "00"),
    *("n" * 199, "n" * 200, "n" * 63, "n" * 64),
)


@case("B-04b", claims=("backend", "items"), seconds=60)
async def names_that_look_alike_are_different(trial: Trial) -> None:
    """Namespaces are told apart by every character: case, form, length, blanks, wildcards and quotes included.

    An adapter may refuse a name as a setting; what it accepts stands for itself.
    """
    shared = trial.id()
    stores: dict[str, tuple[Items, MemoryItem]] = {}
    for name in ALIKE:
        try:
            items = await trial.items(namespace=name)
        except MemoryConfigurationError:
            continue
        stores[name] = items, trial.item(f"tea of {name}", id=shared)
        await items.keep(stores[name][1])
    for items, item in stores.values():
        expect.same_item(await items.retrieve(shared), item, fields=trial.claims.exact_fields)
        for text in ("tea", None):
            found = await items.find(text)
            expect.ids(found, [item])
            expect.same_item(found[0], item, fields=trial.claims.hit_fields)


@case("B-04c", claims=("backend", "items", "managed"))
async def work_in_one_leaves_the_other(trial: Trial) -> None:
    """Replacing and erasing in one namespace changes nothing in another that holds the same ids."""
    mine, theirs = await trial.items(namespace="user_1"), await trial.items(namespace="user_10")
    key = min(trial.claims.manifest.supported_filters, default="k") if trial.claims.manifest else "k"
    metadata = {"metadata": {key: "x"}} if {"metadata", "filters"} <= trial.claims.names else {}
    given = sorted((trial.item("tea", tags=["t"], **metadata) for _ in range(4)), key=lambda item: item.id)
    for items in (mine, theirs):
        await items.keep(*given)
    await mine.store(trial.item("coffee", id=given[0].id))
    await mine.store_many([trial.item("coffee", id=given[1].id), trial.item("coffee")])
    await mine.delete(given[2].id)
    await mine.delete_many([item.id for item in given])
    if metadata:
        await mine.keep(given[3])
        await mine.delete_where({key: "x"})
    await trial.show_index()
    expect.equal([item.content for item in await mine.scan_all()], ["coffee"], what="what is left in the one")
    found = await theirs.scan_all()
    expect.ids(found, given)
    for got, item in zip(found, given, strict=True):
        expect.same_item(got, item, fields=trial.claims.exact_fields)
    for hits in (await theirs.find("tea"), await theirs.find(tags=["t"]), await theirs.find()):
        expect.ids(hits, given, ordered=False)
    expect.equal(await theirs.count(), len(given), what="how many items the other has")


@case("B-04d", claims=("backend", "items"))
async def dropping_one_spares_the_others(trial: Trial) -> None:
    """`drop_namespace` erases its own namespace, found and retrieved no more, and none that looks like it."""
    names = ("user_1", "user_10", "User_1", "user%", "user", "user_")
    item = trial.item("tea")
    backends = {name: await trial.backend(namespace=name) for name in names}
    stores = {name: Items(backend.items, trial) for name, backend in backends.items()}
    for items in stores.values():
        await items.keep(item)
    for dropped in ("user_1", "user%"):
        await trial.does(f"drop_namespace() of {dropped!r}", backends[dropped].drop_namespace())
        emptied = stores.pop(dropped)
        expect.none(await emptied.retrieve(item.id))
        expect.ids(await emptied.find(), [])
        for items in stores.values():
            expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)
            expect.ids(await items.find("tea"), [item])


@case("B-04e", claims=("backend", "items", "analysed", "created_at"))
async def others_change_no_order(trial: Trial) -> None:
    """What other namespaces hold neither changes the order of a search nor tells of itself by it."""
    items, others = await trial.items(namespace="mine"), await trial.items(namespace="theirs")
    plum, apple = trial.item("plum", created_at=1.0), trial.item("apple", created_at=2.0)
    await items.keep(plum, apple)
    expect.ids(await items.find("plum apple"), [apple, plum])
    await others.keep(*[trial.item("apple", created_at=3.0) for _ in range(12)])
    expect.ids(await items.find("plum apple"), [apple, plum])
    expect.ids(await items.find("plum apple", limit=1), [apple])
