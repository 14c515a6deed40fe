"""The workload: short facts as agents keep them, the questions put to them, and the right answers.

Everything follows from seeds, so that two runs on two machines do the same work. Words follow a Zipf law over a
vocabulary of 20,000. No word is a part of another and none changes by stemming, so that a substring scan, a raw word
index and an analysed search agree about what matches.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

VOCABULARY: Final = 20_000
KINDS: Final = ("fact", "preference", "event", "goal", "skill", "contact")
USERS: Final = 1_000
SESSIONS: Final = 50
TAGS: Final = 60
FIRST_TIME: Final = 1_700_000_000.0
QUESTIONS: Final = 200

_FIRST, _INNER, _LAST = "fhjvwz", "cdglnrst", "bkmp"  # apart from each other: no word begins inside another
_VOWELS: Final = "aeiou"


class Item(NamedTuple):
    """One fact of the workload, free of any store's model."""

    id: UUID
    text: str
    tags: list[str]
    metadata: dict[str, str | int]
    created_at: float


class Question(NamedTuple):
    """What is looked for: any of the words, ranked; or what has the tag or the metadata entry, newest first."""

    words: tuple[str, ...] = ()
    tag: str | None = None
    entry: tuple[str, str | int] | None = None
    limit: int = 10


def make_items(count: int, *, seed: int = 1) -> list[Item]:
    """Return so many items: 10 to 40 words, 0 to 4 tags, 3 metadata entries, each half a second after the last."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    words, weights = vocabulary(), _zipf(VOCABULARY)
    tags, tag_weights = [f"tag{number}" for number in range(TAGS)], _zipf(TAGS)
    return [
        Item(
            id=UUID(int=chance.getrandbits(128), version=4),
            text=" ".join(chance.choices(words, cum_weights=weights, k=chance.randint(10, 40))),
            tags=sorted(set(chance.choices(tags, cum_weights=tag_weights, k=chance.randint(0, 4)))),
            metadata={
                "user": _user(chance.randrange(USERS)),
                "kind": chance.choice(KINDS),
                "session": chance.randrange(SESSIONS),
            },
            created_at=FIRST_TIME + number / 2,
        )
        for number in range(count)
    ]


def make_questions(*, seed: int = 2) -> Mapping[str, Sequence[Question]]:
    """Return the questions by the name of what they measure.

    A rare word stands in about 0.03 % of the items, a common one in 4 to 8 %; a mixed question has two common words
    and a rare one.
    """
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    words = vocabulary()

    def rare() -> str:
        return words[chance.randint(5_000, 9_000)]

    def common() -> str:
        return words[chance.randint(30, 60)]

    mixed = [(common(), common(), rare()) for _ in range(QUESTIONS)]
    sessions = [("session", chance.randrange(SESSIONS)) for _ in range(QUESTIONS)]
    return {
        "search rare": [Question(words=(rare(),)) for _ in range(QUESTIONS)],
        "search common": [Question(words=(common(),)) for _ in range(QUESTIONS)],
        "search mixed": [Question(words=three) for three in mixed],
        "search mixed in one session": [
            Question(words=three, entry=session) for three, session in zip(mixed, sessions, strict=True)
        ],
        "tag common": [Question(tag=f"tag{chance.randint(0, 3)}") for _ in range(QUESTIONS)],
        "tag rare": [Question(tag=f"tag{chance.randint(40, TAGS - 1)}") for _ in range(QUESTIONS)],
        "metadata common": [Question(entry=("kind", chance.choice(KINDS))) for _ in range(QUESTIONS)],
        "metadata rare": [Question(entry=("user", _user(chance.randrange(USERS)))) for _ in range(QUESTIONS)],
        "newest 20": [Question(limit=20)] * QUESTIONS,
    }


def matching(items: Iterable[Item], question: Question) -> list[UUID]:
    """Return the ids of all items that match, newest first, by the plainest reading."""
    found = [item for item in items if _matches(item, question)]
    return [item.id for item in sorted(found, key=lambda item: item.created_at, reverse=True)]


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the words, the most common first; common words are the short ones, as in real languages."""
    chance = random.Random(7)  # noqa: S311 - reproducible, not secret
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        syllables = 1 if len(words) < VOCABULARY // 10 else 2
        inner = "".join(chance.choice(_INNER) + chance.choice(_VOWELS) for _ in range(syllables))
        words[chance.choice(_FIRST) + chance.choice(_VOWELS) + inner + chance.choice(_LAST)] = None
    return tuple(words)


@cache
def _zipf(count: int) -> tuple[float, ...]:
    """Return cumulative weights: the n-th of them comes with a share of 1/n."""
    return tuple(accumulate(1 / rank for rank in range(1, count + 1)))


def _user(number: int) -> str:
    return f"u{number:03}"


def _matches(item: Item, question: Question) -> bool:
    key, value = question.entry or ("", None)
    return (
        (not question.words or not set(question.words).isdisjoint(item.text.split()))
        and (question.tag is None or question.tag in item.tags)
        and (question.entry is None or item.metadata[key] == value)
    )
