"""Searching by the `analysed` profile, equal on every backend that claims it (I-66 to I-68)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore_conformance import expect
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial


@case("I-66a", claims=("items", "analysed"))
async def one_shared_word_is_enough(trial: Trial) -> None:
    """An item is found by any analysed word that it shares with the query, and by no other."""
    items = await trial.items()
    tea, coffee = trial.item("Ada prefers tea"), trial.item("Ben prefers coffee")
    await items.keep(tea, coffee)
    expect.ids(await items.find("what TEAS are there"), [tea])


@case("I-66b", claims=("items", "analysed"))
async def text_without_a_word_finds_nothing(trial: Trial) -> None:
    """A text that holds no word finds nothing and is no error."""
    items = await trial.items()
    await items.keep(trial.item("tea"))
    for text in (" ", "\t\n", "?!", "\x00", "\ud800", "()\"'*:^-"):
        expect.ids(await items.find(text), [])


@case("I-66c", claims=("items", "analysed"))
async def the_more_relevant_comes_first(trial: Trial) -> None:
    """Hits are ranked by relevance, equal ones newest first."""
    items = await trial.items()
    both = trial.item("green tea", created_at=1.0)
    old, new = trial.item("black tea", created_at=2.0), trial.item("white tea", created_at=3.0)
    await items.keep(new, both, old)
    expect.ids(await items.find("green tea"), [both, new, old])


@case("I-67a", claims=("items", "analysed"))
async def any_tag_matches_exactly(trial: Trial) -> None:
    """One of the tags is enough, and tags are compared exactly."""
    items = await trial.items()
    ada, ben = trial.item("tea", tags=["Ada"]), trial.item("tea", tags=["ben", "x"])
    await items.keep(ada, ben)
    expect.ids(await items.find(tags=["Ada", "be", "BEN"]), [ada])
    expect.ids(await items.find(tags=["Ada", "ben"]), [ada, ben], ordered=False)


@case("I-67b", claims=("items", "analysed", "open_filters"))
async def filters_are_equality_of_json(trial: Trial) -> None:
    """Filters compare as JSON: `1` equals `1.0` and not `True`, and `None` matches missing or null."""
    items = await trial.items()
    one, true, null, missing = (trial.item("tea", metadata=metadata) for metadata in _METADATA)
    await items.keep(one, true, null, missing)
    expect.ids(await items.find(filters={"k": 1.0}), [one])
    expect.ids(await items.find(filters={"k": True}), [true])
    expect.ids(await items.find(filters={"k": None}), [null, missing], ordered=False)


@case("I-68a", claims=("items", "analysed", "created_at"))
async def without_text_the_newest_come_first(trial: Trial) -> None:
    """Without text, hits are ordered by time and then by id, descending."""
    items = await trial.items()
    old, *same = (trial.item("tea", created_at=created_at) for created_at in (1.0, 2.0, 2.0, 2.0))
    await items.keep(*same, old)
    expect.ids(await items.find(), [*sorted(same, key=lambda item: item.id, reverse=True), old])
    expect.ids(await items.find(limit=2), sorted(same, key=lambda item: item.id, reverse=True)[:2])


_METADATA: tuple[dict[str, object], ...] = ({"k": 1}, {"k": True}, {"k": None}, {})
