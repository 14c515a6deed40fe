"""Searching, as every adapter has to (I-60 to I-64)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import MemoryItem, MemoryQuery, UnsupportedMemoryQuery

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


@case("I-60a")
async def hits_are_fresh_items(trial: Trial) -> None:
    """A hit is a fresh `MemoryItem` with the fields that the manifest promises."""
    items = await trial.items()
    item = trial.item("tea", tags=["warm"], metadata={"k": 1} if "metadata" in trial.claims.names else {})
    await items.keep(item)
    found = await items.find("tea")
    expect.ids(found, [item])
    expect.same_item(found[0], item, fields=trial.claims.hit_fields)


@case("I-60b", claims=("items", "transport"), needs=("faults",))
async def hits_are_not_retrieved_one_by_one(trial: Trial) -> None:
    """A search costs the same calls of the transport for one hit as for ten."""
    items = await trial.items()
    await items.keep(trial.item("coffee"), *[trial.item("tea") for _ in range(10)])
    await items.find("tea")
    start = trial.faults.calls()
    await items.find("coffee")
    one = trial.faults.calls() - start
    expect.equal(len(await items.find("tea")), 10, what="hits")
    expect.equal(trial.faults.calls() - start - one, one, what="calls of the transport for ten hits")


@case("I-61a")
async def the_empty_query_lists_everything(trial: Trial) -> None:
    """A query without any condition lists what there is."""
    items = await trial.items()
    given = [trial.item(content) for content in ("tea", "", {"a": [1]}, None)]
    await items.keep(*given)
    expect.ids(await items.find(), given, ordered=False)


@case("I-61b", claims=("items", "transport"), needs=("raw",))
async def what_is_no_memory_item_is_not_listed(trial: Trial) -> None:
    """What is stored beside the items and is none of them is not listed."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    await trial.harness_does("plant_foreign(…)", trial.raw.plant_foreign(trial.id()))
    await trial.show_index()
    expect.ids(await items.find(), [item])


@case("I-61c")
async def what_is_empty_is_no_condition(trial: Trial) -> None:
    """An empty text, no tags and no filters are no conditions."""
    items = await trial.items()
    given = [trial.item("tea", tags=["warm"]), trial.item("coffee")]
    await items.keep(*given)
    whole = MemoryQuery(text="", tags=[], filters={})
    for query in (MemoryQuery(text=""), MemoryQuery(tags=[]), MemoryQuery(filters={}), whole):
        expect.ids(await items.search(query), given, ordered=False)


@case("I-62a")
async def a_limit_of_zero_finds_nothing(trial: Trial) -> None:
    """A limit of 0 gives an empty list."""
    items = await trial.items()
    await items.keep(trial.item("tea"))
    expect.ids(await items.find("tea", limit=0), [])


@case("I-62b")
async def a_negative_limit_is_refused(trial: Trial) -> None:
    """A negative limit is refused, naming the limit."""
    items = await trial.items()
    await items.keep(trial.item("tea"))
    for limit in (-1, -5, -(2**70)):
        with expect.raises(UnsupportedMemoryQuery) as caught:
            await items.find("tea", limit=limit)
        expect.equal(caught.error.rejected_keys, ("limit",), what="the rejected keys")


@case("I-62c", claims=("items", "transport"), needs=("faults",))
async def limits_are_checked_before_transport(trial: Trial) -> None:
    """A limit of 0 or less never reaches the transport."""
    items = await trial.items()
    before = trial.faults.calls()
    expect.ids(await items.find("tea", limit=0), [])
    with expect.raises(UnsupportedMemoryQuery):
        await items.find("tea", limit=-1)
    expect.equal(trial.faults.calls(), before, what="calls of the transport")


@case("I-62d")
async def a_huge_limit_works(trial: Trial) -> None:
    """A limit larger than anything stored works."""
    items = await trial.items()
    given = [trial.item(f"tea {number}") for number in range(3)]
    await items.keep(*given)
    expect.ids(await items.find("tea", limit=2**63), given, ordered=False)


@case("I-62e")
async def a_limit_cuts_and_nothing_else_does(trial: Trial) -> None:
    """Of many that match, as many as the limit says are found, each once; 20 if nothing is said."""
    items = await trial.items()
    given = [trial.item("tea", tags=["warm", "wet"]) for _ in range(23)]
    await items.keep(*given)
    for limit, count in ((1, 1), (22, 22), (23, 23), (24, 23), (None, 20)):
        for text in (None, "tea"):
            found = await (items.find(text) if limit is None else items.find(text, limit=limit))
            expect.equal(len({hit.id for hit in found}), count, what=f"different hits for a limit of {limit}")
            expect.equal(len(found), count, what=f"hits for a limit of {limit}")
    expect.equal(len(await items.find(tags=["warm", "wet"], limit=50)), 23, what="hits by two tags that both match")


@case("I-63a")
async def unsupported_filters_are_refused(trial: Trial) -> None:
    """Filters that the manifest does not name are refused, all of them, sorted; those that it names are not."""
    items = await trial.items()
    item = trial.item("tea")
    await items.keep(item)
    manifest = trial.claims.manifest
    keys = ("zeta", "alpha", *sorted(manifest.supported_filters if manifest else ()))
    refused = tuple(sorted(key for key in keys if manifest and not manifest.supports_filter(key)))
    if refused:
        with expect.raises(UnsupportedMemoryQuery) as caught:
            await items.find("tea", filters=dict.fromkeys(keys, "x"))
        expect.equal(caught.error.rejected_keys, refused, what="the rejected keys")
    else:
        expect.ids(await items.find("tea", filters=dict.fromkeys(keys, "x")), [])


@case("I-31a", claims=("items", "open_filters", "metadata"))
async def open_filters_take_any_key(trial: Trial) -> None:
    """Where filters are open, any top-level key of the metadata may be filtered, whatever its characters."""
    items = await trial.items()
    for key in ("kind", "Kind", "a.b", "$where", "it's", 'say "so"', "id", "content", "", "\x00"):
        wanted, other = trial.item("tea", metadata={key: "x"}), trial.item("tea", metadata={key: "y"})
        await items.keep(wanted, other)
        expect.ids(await items.find("tea", filters={key: "x"}), [wanted])


@case("I-63b", claims=("items", "filters", "metadata"))
async def a_supported_filter_excludes(trial: Trial) -> None:
    """A filter that the manifest names keeps out what does not match."""
    manifest = trial.claims.manifest
    key = min(manifest.supported_filters, default="kind") if manifest else "kind"
    items = await trial.items()
    wanted, other = trial.item("tea", metadata={key: "x"}), trial.item("tea", metadata={key: "y"})
    await items.keep(wanted, other)
    expect.ids(await items.find("tea", filters={key: "x"}), [wanted])


@case("I-63c", claims=("items", "transport"), needs=("faults",))
async def filters_are_checked_before_transport(trial: Trial) -> None:
    """A filter that the manifest does not name never reaches the transport."""
    items = await trial.items()
    manifest = trial.claims.manifest
    before = trial.faults.calls()
    if manifest and not manifest.supports_filter("zeta"):
        with expect.raises(UnsupportedMemoryQuery):
            await items.find("tea", filters={"zeta": 1})
        with expect.raises(UnsupportedMemoryQuery):
            await items.find(filters={"zeta": 1}, limit=1)
    expect.equal(trial.faults.calls(), before, what="calls of the transport")


@case("I-64a", claims=("items", "immediate"))
async def an_immediate_search_finds_at_once(trial: Trial) -> None:
    """Where search is immediate, a stored item is found as soon as `store` has returned."""
    items = await trial.items()
    for number in range(5):
        item = trial.item(f"tea number{number}")
        await items.store(item)
        expect.contains(await items.find(f"number{number}"), item)


@case("I-64b", claims=("items", "eventual"), needs=("index",))
async def a_delayed_index_delays_only_the_search(trial: Trial) -> None:
    """While the index lags, a stored item is retrieved as it is, and it is found once the index has caught up."""
    items = await trial.items()
    first = trial.item("tea")
    second = trial.item("coffee", id=first.id)
    await items.keep(first)
    trial.index.delay_index()
    trial.step("harness: delay_index()")
    await items.store(second)
    expect.same_item(await items.retrieve(first.id), second, fields=trial.claims.exact_fields)
    found = await items.find()
    expect.that(all(type(hit) is MemoryItem for hit in found), expected="a list of items", got=found)
    await trial.show_index()
    expect.ids(await items.find("coffee"), [second])


@case("I-64c", claims=("items", "eventual", "managed"), needs=("index",))
async def a_delayed_index_delays_no_erasure(trial: Trial) -> None:
    """While the index lags, what is deleted is not retrieved, and it is not found once the index has caught up."""
    items = await trial.items()
    gone, kept = trial.item("tea"), trial.item("tea")
    await items.keep(gone, kept)
    trial.index.delay_index()
    trial.step("harness: delay_index()")
    expect.equal(await items.delete(gone.id), True)
    expect.none(await items.retrieve(gone.id))
    await trial.show_index()
    expect.ids(await items.find("tea"), [kept])
