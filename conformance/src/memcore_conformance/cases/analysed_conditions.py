"""Tags, filters and listings by the `analysed` profile: exact, of any characters, and together (I-67, I-68)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial

EQUAL: Final[tuple[tuple[Any, ...], ...]] = (
    *((1, 1.0), (0, 0.0, -0.0), (2**53, 2.0**53), (2**53 + 1,), (10**16, 1e16), (10**400,), (0.1,), (-1,)),
    *((True,), (False,), ("1",), ("1.0",), ("true",), ("null",), ("",), (" ",), ("[]",), ("{}",)),
    *(("caf\u00e9",), ("cafe\u0301",), ("Caf\u00e9",), ("\x00",), ("\ud83d",), ("a\u2028b",)),
    *(([],), ({},), ([None],), ({"a": None},), ([1], [1.0]), ([True],), ([[1]],), (["1"],), ([1, 2],), ([2, 1],)),
    *(({"a": 1, "b": [0]}, {"b": [0.0], "a": 1.0}), ({"a": 1},), ({"a": True},), ({"": []},)),
)
"""JSON values, those together that are equal."""

NAMES: Final = (
    *("kind", "Kind", "kind ", "k\u00efnd", "ki\u0308nd", "", " ", "\x00", "\ud800", "k" * 5_000),
    *("a.b", "$.a", "a[0]", "a[*]", "$where", "$ne", "%", "k%", "k_nd", "*", "a,b", "{}", "null", "0"),
    *("x') OR 1=1 --", 'k" = 1 OR "1', "'; DROP TABLE items; --", "a' UNION SELECT 1 --", "\\", "\\'", "?1", ":k"),
    *("id", "content", "tags", "metadata", "namespace", "created_at", "payload", "rowid", "京都", "🎉"),
)
"""Names that are all different, for keys, values and tags."""
_LONGEST = 100
"""Longer names are for keys and values: a tag may have a limit."""


@case("I-67c", claims=("items", "analysed", "open_filters"))
async def filters_tell_all_json_values_apart(trial: Trial) -> None:
    """A filter finds every entry that is the same JSON value, deeply, and none that only looks like it."""
    items = await trial.items()
    groups = [[trial.item("tea", metadata={"k": value}) for value in values] for values in EQUAL]
    await items.keep(*(item for group in groups for item in group))
    for values, group in zip(EQUAL, groups, strict=True):
        for value in values:
            expect.ids(await items.find(filters={"k": value}, limit=100), group, ordered=False)
    expect.ids(await items.find("tea", filters={"k": 1.0}), groups[0], ordered=False)


@case("I-67d", claims=("items", "analysed", "open_filters"))
async def a_null_filter_finds_what_lacks_the_key(trial: Trial) -> None:
    """`None` finds items without the key or with null there, beside other conditions too, and nothing else."""
    items = await trial.items()
    metadata: tuple[dict[str, Any], ...] = ({}, {"k": None}, {"m": 1}, {"k": None, "m": 1})
    lacking = [trial.item("tea", metadata=part, tags=["t"]) for part in metadata]
    values: tuple[Any, ...] = (0, "", False, [], {}, [None])
    having = [trial.item("tea", metadata={"k": value, "m": 1}, tags=["t"]) for value in values]
    await items.keep(*lacking, *having)
    expect.ids(await items.find(filters={"k": None}), lacking, ordered=False)
    expect.ids(await items.find("tea", filters={"k": None}), lacking, ordered=False)
    expect.ids(await items.find(filters={"k": None, "m": 1}, tags=["t"]), lacking[2:], ordered=False)
    expect.ids(await items.find(filters={"k": None, "m": None}), lacking[:2], ordered=False)
    expect.equal(len(await items.find(filters={"x'": None})), len(lacking) + len(having), what="items without the key")


@case("I-67e", claims=("items", "analysed", "open_filters"))
async def keys_and_values_are_literal(trial: Trial) -> None:
    """A filter's key is one whole top-level key and its value one whole value, whatever their characters."""
    items = await trial.items()
    keyed = [trial.item("tea", metadata={name: "x"}) for name in NAMES]
    valued = [trial.item("tea", metadata={"value": name}) for name in NAMES]
    nested = trial.item("tea", metadata={"a": {"b": "x", "": "x"}, "list": ["x"]})
    await items.keep(*keyed, *valued, nested)
    for name, by_key, by_value in zip(NAMES, keyed, valued, strict=True):
        expect.ids(await items.find(filters={name: "x"}), [by_key])
        expect.ids(await items.find(filters={"value": name}), [by_value])
        expect.ids(await items.find("tea", filters={name: "y"}), [])


@case("I-67f", claims=("items", "analysed", "open_filters"))
async def all_conditions_hold_together(trial: Trial) -> None:
    """Text, tags and each filter all have to hold, in every combination."""
    items = await trial.items()
    given = {
        (word, tag, k, m): trial.item(word, tags=[tag, "x"], metadata={"k": k, "m": m})
        for word, tag, k, m in product(("tea", "coffee"), "ab", (1, 2), (None, "m"))
    }
    await items.keep(*given.values())
    for word, tag, k, m in product((None, "tea"), (None, "b"), (None, 2), (None, "m")):
        filters = {key: value for key, value in (("k", k), ("m", m)) if value is not None}
        found = await items.find(word, tags=[tag, "z"] if tag else None, filters=filters)
        asked = (word, tag, k, m)
        wanted = [
            item
            for names, item in given.items()
            if all(condition in {None, name} for condition, name in zip(asked, names, strict=True))
        ]
        expect.ids(found, wanted, ordered=False)


@case("I-67g", claims=("items", "analysed"))
async def tags_are_literal(trial: Trial) -> None:
    """A tag finds the items that have exactly it, whatever its characters: no case, no form, no wildcard, no part."""
    items = await trial.items()
    names = [name for name in NAMES if len(name) <= _LONGEST]
    given = [trial.item("tea", tags=["x", name]) for name in names]
    await items.keep(*given)
    for name, item in zip(names, given, strict=True):
        expect.ids(await items.find(tags=[name]), [item])
    expect.ids(await items.find("tea", tags=[names[0], "none", names[1], names[0]]), given[:2], ordered=False)
    expect.ids(await items.find(tags=["k", "kin", "KIND", "x "]), [])


@case("I-67h", claims=("items", "analysed"))
async def any_number_of_conditions_works(trial: Trial) -> None:
    """A query may name very many tags, words and filters."""
    items = await trial.items()
    open_filters = "open_filters" in trial.claims.names
    metadata = {f"key {number}": number for number in range(60)} if open_filters else {}
    item = trial.item("tea", tags=["wanted"], metadata=metadata)
    await items.keep(item, trial.item("coffee", tags=["other"], metadata=metadata | {"key 59": 0} if metadata else {}))
    many = [f"number{number}" for number in range(1_200)]
    expect.ids(await items.find(tags=[*many, "wanted"]), [item])
    expect.ids(await items.find("tea", tags=[*many, "wanted"]), [item])
    expect.ids(await items.find(f"tea {' '.join(many)}"), [item])
    expect.ids(await items.find(filters=metadata, tags=["wanted", "other"] if open_filters else ["wanted"]), [item])


@case("I-67i", claims=("items", "analysed"))
async def conditions_hold_before_the_limit(trial: Trial) -> None:
    """What does not meet the conditions takes no place of what does, however new or relevant it is."""
    items = await trial.items()
    wanted = [trial.item("green tea", tags=["mine"], created_at=float(number)) for number in range(3)]
    others = [trial.item("tea tea", tags=["theirs"], created_at=100.0 + number) for number in range(30)]
    await items.keep(*wanted, *others)
    expect.ids(await items.find("tea", tags=["mine"], limit=3), wanted, ordered=False)
    expect.ids(await items.find(tags=["mine"], limit=3), wanted, ordered=False)


@case("I-68b", claims=("items", "analysed", "created_at"))
async def listings_of_every_kind_are_newest_first(trial: Trial) -> None:
    """By tags or by filters, too, what is found without a text comes newest first, then by the greater id."""
    items = await trial.items()
    open_filters = "open_filters" in trial.claims.names
    metadata = {"k": 1} if open_filters else {}
    times = (0.0, -1e10, 5.0, 5.0, 5.0, 4.999_999_9, 4e9, 1.5, -0.25)
    given = [trial.item("tea", created_at=at, tags=["t", f"u{at}"], metadata=metadata) for at in times]
    await items.keep(*given)
    newest = sorted(given, key=lambda item: (item.created_at, item.id), reverse=True)
    queries: list[dict[str, Any]] = [{}, {"tags": ["t"]}, {"tags": ["t", *(f"u{at}" for at in times)]}]
    queries += [{"filters": {"k": 1}}, {"filters": {"m": None}}, {"filters": {"k": 1}, "tags": ["t"]}]
    for query in queries if open_filters else queries[:3]:
        expect.ids(await items.find(**query), newest)
        expect.ids(await items.find(**query, limit=4), newest[:4])


@case("I-68c", claims=("items", "analysed"))
async def an_empty_axis_is_no_condition(trial: Trial) -> None:
    """An empty text, empty tags and empty filters are as if they were not given."""
    items = await trial.items()
    given = [trial.item("tea", created_at=2.0), trial.item(None, tags=["t"], created_at=1.0)]
    await items.keep(*given)
    nothing: tuple[tuple[Any, Any], ...] = ((None, ""), (None, []), (None, {}))
    for text, tags, filters in product(*nothing):
        expect.ids(await items.find(text, tags=tags, filters=filters), given, ordered=False)
    expect.ids(await items.find("tea", tags=[], filters={}), given[:1])
