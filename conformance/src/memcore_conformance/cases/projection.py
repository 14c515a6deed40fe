"""What is kept comes back exactly: every value and every time, by every way of reading (I-11, I-41, I-51, I-60)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memcore import MemoryItem
from memcore.items.manifest import ITEM_FIELDS

from memcore_conformance import expect
from memcore_conformance.cases.values import EXACT, MOST_DEPTH, STRINGS, TIMES, nested
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from uuid import UUID

    from memcore_conformance.trial import Trial


@case("I-41a", claims=("items", "full_retrieve"))
async def every_json_value_survives(trial: Trial) -> None:
    """Every exact JSON value comes back equal and of equal type, in content and in metadata."""
    items = await trial.items()
    given = [trial.item(value, metadata={"value": value, "": 0}) for value in EXACT]
    for item in (*given, trial.item(nested(MOST_DEPTH))):
        await items.store(item)
        expect.same_item(await items.retrieve(item.id), item)


@case("I-41e")
async def every_string_survives_as_a_tag(trial: Trial) -> None:
    """Every string survives as a tag; order and repetition stay."""
    items = await trial.items()
    tags = [*STRINGS, "b", "a", "b", "B"]
    item = trial.item("tea", tags=tags)
    await items.store(item)
    expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-51d", claims=("items", "created_at"))
async def every_time_survives_bit_for_bit(trial: Trial) -> None:
    """Every finite `created_at` comes back bit for bit."""
    items = await trial.items()
    for seconds in TIMES:
        item = trial.item("tea", created_at=seconds)
        await items.store(item)
        expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-51e", claims=("items", "durable", "full_retrieve"))
async def another_backend_reads_the_same(trial: Trial) -> None:
    """Another backend on the same data reads every value exactly as it was stored."""
    items = await trial.items()
    given = [trial.item(value, metadata={"value": value}) for value in EXACT]
    for item in given:
        await items.store(item)
    other = await trial.items()
    for item in given:
        expect.same_item(await other.retrieve(item.id), item)


@case("I-60c", claims=("items", "full_search"))
async def hits_hold_every_value(trial: Trial) -> None:
    """Where hits are full, every value and every time is in them exactly as it was stored."""
    items = await trial.items()
    given = [trial.item(value, metadata={"value": value}, tags=list(STRINGS)) for value in EXACT]
    given += [trial.item("tea", created_at=seconds) for seconds in TIMES]
    await items.keep(*given)
    found = {hit.id: hit for hit in await items.find(limit=2 * len(given))}
    for item in given:
        expect.same_item(found.get(item.id), item)


@case("I-60d")
async def a_hit_has_no_attributes_of_its_own(trial: Trial) -> None:
    """Neither a hit nor a retrieved item has attributes beyond its fields, and both are valid when read again."""
    items = await trial.items()
    item = trial.item("tea", tags=["warm"])
    await items.keep(item)
    for got in (await items.retrieve(item.id), *await items.find("tea")):
        expect.that(type(got) is MemoryItem, expected="a MemoryItem", got=got)
        expect.equal(sorted(vars(got)), sorted(ITEM_FIELDS), what="its attributes")
        again = MemoryItem.model_validate(cast("MemoryItem", got).model_dump())
        expect.equal([again], [got], what="the item read again")


@case("I-11b")
async def nobody_shares_a_value_with_the_store(trial: Trial) -> None:
    """Changing what was stored, retrieved or found changes nothing in the store."""
    items = await trial.items()
    fields: dict[str, Any] = {"content": {"tea": ["warm"]}, "tags": ["tea"], "metadata": {}}
    fields |= {"metadata": {"k": ["v"]}} if "metadata" in trial.claims.names else {}
    given, wanted = trial.item(**fields), trial.item(**fields)
    wanted = wanted.model_copy(update={"id": given.id}, deep=True)
    await items.keep(given)
    _spoil(given)
    for _ in range(2):
        got, found = await items.retrieve(given.id), await items.find()
        expect.same_item(got, wanted, fields=trial.claims.exact_fields)
        expect.ids(found, [wanted])
        expect.same_item(found[0], wanted, fields=trial.claims.hit_fields)
        _spoil(cast("MemoryItem", got))
        _spoil(found[0])


@case("I-11c")
async def hosts_may_have_items_of_any_kind(trial: Trial) -> None:
    """Slots, properties, named tuples and subclasses are items too, and nothing of them but the item comes back."""
    items = await trial.items()
    for kind in (_Slots, _Properties, _Tuple, _Subclass):
        wanted = trial.item("tea", tags=["warm"])
        host = kind(id=wanted.id, created_at=wanted.created_at, content="tea", tags=["warm"], metadata={})
        trial.step(f"an item of the class {kind.__name__}")
        expect.equal(await items.store(cast("MemoryItem", host)), wanted.id)
        expect.same_item(await items.retrieve(wanted.id), wanted, fields=trial.claims.exact_fields)
    await trial.show_index()
    expect.that(
        all(type(hit) is MemoryItem for hit in await items.find()), expected="MemoryItems", got="others among the hits"
    )


@dataclass(slots=True, frozen=True)
class _Slots:
    id: UUID
    created_at: float
    content: Any
    tags: list[str]
    metadata: dict[str, Any]


class _Properties:
    def __init__(self, **fields: object) -> None:
        self._fields = fields

    id = property(lambda self: self._fields["id"])
    created_at = property(lambda self: self._fields["created_at"])
    content = property(lambda self: self._fields["content"])
    tags = property(lambda self: self._fields["tags"])
    metadata = property(lambda self: self._fields["metadata"])


class _Tuple(NamedTuple):
    id: UUID
    created_at: float
    content: Any
    tags: list[str]
    metadata: dict[str, Any]


class _Subclass(MemoryItem):
    mood: str = "calm"


def _spoil(item: MemoryItem) -> None:
    """Change everything that can be changed in place."""
    item.tags.append("spoilt")
    item.metadata["spoilt"] = True
    for part in (item.content, item.content["tea"] if isinstance(item.content, dict) else None):
        if isinstance(part, dict):
            part["spoilt"] = True
        elif isinstance(part, list):
            part.append("spoilt")
    for part in item.metadata.values():
        if isinstance(part, list):
            part.append("spoilt")
