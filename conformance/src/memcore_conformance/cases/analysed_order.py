"""The order of what a text finds by the `analysed` profile: equal on every backend up to 300 candidates (I-66)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from memcore.kit.ranking import CANDIDATES

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.reference import ranked

if TYPE_CHECKING:
    from memcore import MemoryItem

    from memcore_conformance.trial import Trial

WORDS: Final = (
    *("tea", "milk", "rain", "storm", "lamp", "green", "walks", "harbour"),
    *("May", "2021", "14", "naïve", "京都", "🎉", "the"),
)
_DAY: Final = 86_400.0
_MARCH_2021: Final = 1_615_000_000.0
_MAY_2023: Final = 1_683_500_000.0


@case("I-66l", claims=("items", "analysed", "created_at"))
async def the_order_is_that_of_the_kit(trial: Trial) -> None:
    """Over random texts, tags and times, every query gives exactly the order of the kit's ranking."""
    items = await trial.items()
    given = [_random_item(trial) for _ in range(40)]
    await items.keep(*given)
    for _ in range(15):
        text = _random_text(trial, most=4)
        expect.ids(await items.find(text, limit=CANDIDATES), ranked(given, text))


@case("I-66m", claims=("items", "analysed"))
async def text_weighs_more_than_tags(trial: Trial) -> None:
    """A word counts more in the text of an item than in its tags."""
    items = await trial.items()
    text = trial.item("tea milk", created_at=1.0)
    tag = trial.item("milk", tags=["tea"], created_at=2.0)
    await items.keep(text, tag)
    expect.ids(await items.find("tea"), [text, tag])


@case("I-66n", claims=("items", "analysed", "created_at"))
async def what_is_not_eligible_changes_no_order(trial: Trial) -> None:
    """How rare a word is, is counted among what meets the conditions: other items neither change the order nor leak."""
    items = await trial.items()
    plum = trial.item("plum", tags=["mine"], created_at=1.0)
    apple = trial.item("apple", tags=["mine"], created_at=2.0)
    await items.keep(apple, plum)
    expect.ids(await items.find("plum apple", tags=["mine"]), [apple, plum])
    await items.keep(*[trial.item("apple", tags=["theirs"]) for _ in range(12)])
    expect.ids(await items.find("plum apple", tags=["mine"]), [apple, plum])


@case("I-66o", claims=("items", "analysed", "created_at"))
async def ties_are_newest_first_then_by_id(trial: Trial) -> None:
    """What is equally relevant comes newest first, and of the same time the greater id first."""
    items = await trial.items()
    given = [trial.item("green tea", created_at=created_at) for created_at in (-5.0, 3.5, 3.5, 3.5, 3.5, 1e9, 0.0, 0.0)]
    await items.keep(*given)
    wanted = sorted(given, key=lambda item: (item.created_at, item.id), reverse=True)
    expect.ids(await items.find("tea"), wanted)
    expect.ids(await items.find("tea", limit=3), wanted[:3])


@case("I-66p", claims=("items", "analysed", "created_at"))
async def dates_rank_and_do_not_match(trial: Trial) -> None:
    """A date in a query prefers items of that time, and finds none by itself."""
    items = await trial.items()
    march, may = trial.item("tea", created_at=_MARCH_2021), trial.item("tea", created_at=_MAY_2023)
    await items.keep(march, may)
    expect.ids(await items.find("tea"), [may, march])
    expect.ids(await items.find("tea in March 2021"), [march, may])
    expect.ids(await items.find("March 2021"), [])


@case("I-66q", claims=("items", "analysed", "created_at"))
async def more_candidates_than_are_ranked_at_once(trial: Trial) -> None:
    """Beyond 300 candidates the whole set is still found, and the one that matches best comes first, however old."""
    items = await trial.items()
    best = trial.item("special tea", created_at=0.0)
    rest = [trial.item("tea", created_at=float(number), tags=["t"]) for number in range(1, CANDIDATES + 20)]
    await items.keep(best, rest[0])
    trial.step(f"store {len(rest)} items")
    await asyncio.gather(*(items.raw.store(item) for item in rest))
    await trial.show_index()
    expect.ids(await items.find("tea", limit=1_000), [best, *rest], ordered=False)
    expect.ids(await items.find("tea", tags=["t"], limit=1_000), rest, ordered=False)
    expect.equal(len(await items.find("tea", limit=CANDIDATES + 5)), CANDIDATES + 5, what="hits")
    expect.ids(await items.find("special tea", limit=1), [best])


@case("I-66r", claims=("items", "analysed"))
async def a_limit_cuts_the_order(trial: Trial) -> None:
    """A limit gives the first of what would be found without it, in the same order."""
    items = await trial.items()
    given = [_random_item(trial) for _ in range(30)]
    await items.keep(*given)
    for axes in ({"text": "green tea"}, {"text": "rain milk", "tags": ["t", "tea"]}, {"tags": ["t"]}, {}):
        whole = await items.find(**axes, limit=100)
        for limit in (1, 2, 5, 29):
            expect.ids(await items.find(**axes, limit=limit), whole[:limit])


def _random_item(trial: Trial) -> MemoryItem:
    tags = trial.random.sample(["t", *WORDS], trial.random.randrange(3))
    created_at = 1_600_000_000.0 + trial.random.randrange(1_500) * _DAY
    return trial.item(_random_text(trial, most=12), tags=tags, created_at=created_at)


def _random_text(trial: Trial, *, most: int) -> str:
    return " ".join(trial.random.choices(WORDS, k=trial.random.randint(1, most)))
