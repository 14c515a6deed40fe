"""What a store does not keep: it is refused by name, before anything happens (I-40, I-41, I-45)."""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, cast

from memcore import UnsupportedMemoryItem
from memcore.kit.text import MAX_WORDS

from memcore_conformance import expect
from memcore_conformance.cases.values import HostItem, Text, inexact
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcore import MemoryItem

    from memcore_conformance.trial import Trial

LIMITS: Final = {"content": 20, "metadata": 20, "tags": 2, "tag": 5, "batch": 3}
_PRIVATE: Final = "my diary"


@case("I-41b")
async def what_is_not_exact_json_is_refused(trial: Trial) -> None:
    """Whatever is not exact JSON is refused in every field that is kept, and the error names the field."""
    items = await trial.items()
    kept = trial.claims.exact_fields
    for name, value in inexact():
        if "content" in kept:
            with expect.raises(UnsupportedMemoryItem, where=_names("content"), what=f"naming content, for {name}"):
                await items.store(trial.item([value]))
    for name, value in inexact():
        if "metadata" in kept:
            with expect.raises(UnsupportedMemoryItem, where=_names("metadata"), what=f"naming metadata, for {name}"):
                await items.store(trial.item("tea", metadata={"k": value}))


@case("I-41c")
async def a_host_is_held_to_the_types_of_an_item(trial: Trial) -> None:
    """An item of a host's own class is refused where a field has a type that would not come back."""
    items = await trial.items()
    for field, values in _WRONG.items():
        for value in values if field in trial.claims.exact_fields else ():
            host = HostItem(trial.id(), 1.5, {}, "tea", [])
            setattr(host, field, value)
            with expect.raises(
                UnsupportedMemoryItem, where=_names(field), what=f"naming {field}, for {expect.describe(value)}"
            ):
                await items.store(cast("MemoryItem", host))


@case("I-41d", level="should", claims=("items", "full_retrieve"))
async def a_refusal_says_what_it_was(trial: Trial) -> None:
    """The reason of a refusal names the type that is no JSON, so that one knows what to convert."""
    items = await trial.items()
    values: tuple[object, ...] = (("tea",), {"tea"}, b"tea", Text("tea"), OrderedDict())
    for value in values:
        name = type(value).__name__
        with expect.raises(UnsupportedMemoryItem, where=_says(name), what=f"that says {name}"):
            await items.store(trial.item(value))


@case("I-40c", claims=("items", "full_retrieve"))
async def a_refusal_leaves_everything_as_it_was(trial: Trial) -> None:
    """A refused item leaves nothing behind, and the item that it would have replaced as it was."""
    items = await trial.items()
    old = trial.item("tea", tags=["old"])
    await items.keep(old)
    new = trial.item("coffee")
    for item_id, bad in ((old.id, {1, 2}), (old.id, [float("nan")]), (new.id, b"tea")):
        with expect.raises(UnsupportedMemoryItem):
            await items.store(trial.item(bad, id=item_id, tags=["new"]))
    await trial.show_index()
    expect.same_item(await items.retrieve(old.id), old)
    expect.none(await items.retrieve(new.id))
    expect.ids(await items.find(), [old])


@case("I-40d", claims=("items", "full_retrieve"))
async def a_refusal_shows_no_content(trial: Trial) -> None:
    """No message of a refusal, nor of what caused it, shows what the item holds."""
    items = await trial.items()
    for bad in (float("nan"), Text(_PRIVATE), {_PRIVATE}, _PRIVATE.encode(), ("tea", _PRIVATE), 10**4300):
        with expect.raises(UnsupportedMemoryItem, where=_shows_nothing, what="without what the item holds"):
            await items.store(trial.item([_PRIVATE, bad], tags=[_PRIVATE], metadata={"k": _PRIVATE}))


@case("I-40e")
async def what_is_given_is_not_changed(trial: Trial) -> None:
    """`store` changes nothing of the object that it is given, whether it keeps or refuses it."""
    items = await trial.items()
    item = trial.item({"b": [3, 1], "a": None}, tags=["z", "a", "z"], metadata={"k": {"y": 1, "x": [2]}})
    before = deepcopy(item)
    await items.store(item)
    expect.equal([item], [before], what="the item that was stored")
    if "content" in trial.claims.exact_fields:
        item.content["bad"] = float("inf")
        with expect.raises(UnsupportedMemoryItem):
            await items.store(item)
        expect.equal(list(item.content), ["b", "a", "bad"], what="the keys of the item that was refused")


@case("I-45b", claims=("items", "backend", "full_retrieve"))
async def limits_can_be_set(trial: Trial) -> None:
    """Every limit can be set by `limits`; what is at it is kept, and what is over it is refused by its field."""
    backend = await trial.backend(limits=LIMITS)
    stated = backend.capabilities.limits
    expect.equal(stated and stated.model_dump(), LIMITS, what="the stated limits")
    items = await trial.items(limits=LIMITS)
    await items.keep(trial.item("x" * 18, tags=["five5", "four"], metadata={"k": "x" * 8}))
    over: tuple[tuple[str, dict[str, Any]], ...] = (
        ("content", {"content": "x" * 19}),
        ("content", {"content": ["x" * 8, "x" * 8]}),
        ("metadata", {"metadata": {"k": "x" * 20}}),
        ("tags", {"tags": ["a", "b", "c"]}),
        ("tags", {"tags": ["a", "sixsix"]}),
    )
    for field, fields in over:
        item = trial.item(**{"content": "tea"} | fields)
        with expect.raises(UnsupportedMemoryItem, where=_names(field), what=f"naming {field}"):
            await items.store(item)
        expect.none(await items.retrieve(item.id))


@case("I-45c", claims=("items", "backend", "full_retrieve"))
async def a_small_value_that_is_large_when_written_is_refused(trial: Trial) -> None:
    """A value whose parts are shared so often that its text is over the limit is refused as any other that is."""
    items = await trial.items(limits={"content": 1_000})
    value: Any = "tea"
    for _ in range(14):  # finite: an adapter that does write it must not take the memory of the machine with it
        value = [value, value]
    with expect.raises(UnsupportedMemoryItem, where=_names("content"), what="naming content"):
        await trial.does("store(a value of shared parts)", items.raw.store(trial.item(value)))


@case("I-45d", claims=("items", "analysed", "full_retrieve"))
async def what_is_beyond_the_index_is_kept(trial: Trial) -> None:
    """What is beyond the bound of the index is kept whole, found by its first part, and by nothing else."""
    items = await trial.items()
    words = [f"w{number}" for number in range(MAX_WORDS + 100)]
    await items.keep(large := trial.item(" ".join(words)), small := trial.item("w1"))
    expect.ids(await items.find("w1"), [small, large])
    expect.ids(await items.find(words[MAX_WORDS - 100]), [large])
    expect.ids(await items.find(words[-1]), [])


@case("I-45e", claims=("items", "backend", "managed"))
async def a_batch_over_its_limit_is_refused(trial: Trial) -> None:
    """A batch over its limit is refused, and nothing of it is stored; one at the limit is."""
    items = await trial.items(limits=LIMITS)
    given = [trial.item("tea") for _ in range(4)]
    with expect.raises(UnsupportedMemoryItem):
        await items.store_many(given)
    expect.equal(await items.count(), 0, what="how many items there are")
    expect.equal(await items.store_many(given[:3]), [item.id for item in given[:3]])


_WRONG: Final[dict[str, tuple[object, ...]]] = {
    "id": (None, 5, "tea"),
    "created_at": (None, "today", float("nan"), float("-inf"), 10**400),
    "metadata": ("tea", 1, [("k", 1)], OrderedDict(k=1)),
    "tags": ("tea", 1, ("tea",), {"tea"}, ["tea", 1], [None], [["tea"]], [Text("tea")], ["\ud83d\ude80"]),
}


def _names(field: str) -> Callable[[UnsupportedMemoryItem], bool]:
    """Return whether an error is about that field, and its path inside it."""
    return lambda error: error.field == field and error.path.startswith(field) and bool(error.reason)


def _says(word: str) -> Callable[[UnsupportedMemoryItem], bool]:
    return lambda error: word in error.reason


def _shows_nothing(error: BaseException | None) -> bool:
    while error is not None:
        if _PRIVATE in f"{error} {error!r}":
            return False
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return True
