"""Writing: what is stored is kept exactly, under its own id, at once (I-10, I-40 to I-43)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore import UnsupportedMemoryItem

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


@case("I-43a")
async def store_returns_the_id_of_the_item(trial: Trial) -> None:
    """`store` returns the id of the item."""
    items = await trial.items()
    item = trial.item()
    expect.equal(await items.store(item), item.id)


@case("I-43b")
async def stored_is_retrievable_at_once(trial: Trial) -> None:
    """Once `store` has returned, `retrieve` finds the item without waiting for any index."""
    items = await trial.items()
    item = trial.item()
    await items.store(item)
    expect.same_item(await items.retrieve(item.id), item, fields=trial.claims.exact_fields)


@case("I-42a")
async def storing_a_known_id_replaces(trial: Trial) -> None:
    """Storing a known id replaces the whole item."""
    items = await trial.items()
    first = trial.item("tea", tags=["old"])
    second = trial.item("coffee", id=first.id, tags=["new"])
    await items.keep(first)
    await items.store(second)
    expect.same_item(await items.retrieve(first.id), second, fields=trial.claims.exact_fields)


@case("I-40a")
async def a_refusal_names_the_place(trial: Trial) -> None:
    """What cannot come back exactly is refused, with the field and the path inside it."""
    items = await trial.items()
    with expect.raises(UnsupportedMemoryItem) as caught:
        await items.store(trial.item({"scores": [1, 2, 3, float("nan")]}))
    expect.equal(caught.error.field, "content", what="the field of the error")
    expect.equal(caught.error.path, "content.scores[3]", what="the path of the error")
