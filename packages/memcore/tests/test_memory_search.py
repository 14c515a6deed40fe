"""The search of `memory://`: the portable part and the `analysed` profile (I-60 to I-68)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from uuid import UUID

import memcore
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import MemoryItem, MemoryQuery, UnsupportedMemoryQuery
from memcore.kit.ranking import CANDIDATES, ITEM_WEIGHTS, Candidate, rank
from memcore.kit.text import analyse_item, analyse_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcore.items.in_memory import InMemoryItems


def item(number: int = 0, **fields: Any) -> MemoryItem:
    return MemoryItem(**{"id": UUID(int=number), "created_at": 1.0} | fields)


async def found(items: InMemoryItems, **query: Any) -> list[int]:
    return [hit.id.int for hit in await items.search(MemoryQuery(**query))]


async def test_a_limit_of_zero_finds_nothing_and_is_checked_all_the_same(items: InMemoryItems) -> None:
    await items.store(item())

    assert await found(items, limit=0) == []
    with pytest.raises(UnsupportedMemoryQuery):
        await found(items, limit=0, filters={"k": math.nan})


@pytest.mark.parametrize("query", [{}, {"text": "tea"}, {"tags": ["x"]}])
async def test_a_negative_limit_is_refused(items: InMemoryItems, query: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedMemoryQuery) as caught:
        await found(items, limit=-1, **query)

    assert caught.value.rejected_keys == ("limit",)


@pytest.mark.parametrize("query", [{}, {"text": "tea"}, {"tags": ["x"]}, {"filters": {"k": 1}}])
async def test_a_huge_limit_works(items: InMemoryItems, query: dict[str, Any]) -> None:
    await items.store(item(5, content="tea", tags=["x"], metadata={"k": 1}))

    assert await found(items, limit=10**30, **query) == [5]


@pytest.mark.parametrize(
    "query",
    [{}, {"text": "tea"}, {"tags": ["x"]}, {"tags": ["x", "y"]}, {"filters": {"k": 1}}, {"filters": {"m": None}}],
)
async def test_a_search_gives_at_most_the_limit(items: InMemoryItems, query: dict[str, Any]) -> None:
    await items.store_many([item(number, content="tea", tags=["x"], metadata={"k": 1}) for number in range(9)])

    assert len(await found(items, limit=4, **query)) == 4


@pytest.mark.parametrize("query", [{}, {"text": "", "tags": [], "filters": {}}, {"filters": {"missing": None}}])
async def test_without_a_text_the_newest_come_first_then_the_highest_id(
    items: InMemoryItems, query: dict[str, Any]
) -> None:
    await items.store_many(
        [item(1, created_at=5), item(2, created_at=-7.5), item(3, created_at=5), item(4, created_at=6)]
    )

    assert await found(items, **query) == [4, 3, 1, 2]


@pytest.mark.parametrize("query", [{"tags": ["x"]}, {"tags": ["x", "y"]}, {"filters": {"k": 1}}])
async def test_tags_and_filters_keep_that_order(items: InMemoryItems, query: dict[str, Any]) -> None:
    times = {1: 5, 2: 3, 3: 5, 4: 6}
    batch = [item(id_, created_at=time, tags=["x", "y"], metadata={"k": 1}) for id_, time in times.items()]
    await items.store_many(batch)

    assert await found(items, **query) == [4, 3, 1, 2]


@pytest.mark.parametrize(
    ("tags", "numbers"),
    [(["x"], [1]), (["y", "x", "y"], [2, 1]), (["X"], []), ([""], [3]), (["a,b"], []), (["\ud83d"], [4]), (["%"], [])],
    ids=ascii,
)
async def test_any_tag_is_enough_and_is_exact(items: InMemoryItems, tags: list[str], numbers: list[int]) -> None:
    await items.store_many(
        [item(1, tags=["x"]), item(2, tags=["y", "z"]), item(3, tags=[""]), item(4, tags=["\ud83d"])]
    )

    assert await found(items, tags=tags) == numbers


@pytest.mark.parametrize(
    ("metadata", "filters", "matches"),
    [
        ({"priority": 5, "archived": True}, {"priority": 5}, True),
        ({"priority": 5}, {"priority": 5.0}, True),
        ({"priority": 5}, {"priority": "5"}, False),
        ({"archived": True}, {"archived": True}, True),
        ({"archived": True}, {"archived": 1}, False),
        ({"archived": False}, {"archived": 0}, False),
        ({"archived": True}, {"archived": False}, False),
        ({"score": 1.5, "tag": "x"}, {"score": 1.5, "tag": "x"}, True),
        ({"score": 1.5, "tag": "x"}, {"score": 1.5, "tag": "y"}, False),
        ({"a": 1}, {"unknown": 1}, False),
        ({"a": None}, {"a": None}, True),
        ({}, {"a": None}, True),
        ({"a": 0}, {"a": None}, False),
        ({"a": 1, "b": None}, {"a": 1, "b": None, "c": None}, True),
        ({"trace.id": "t1"}, {"trace.id": "t1"}, True),
        ({"trace": {"id": "t1"}}, {"trace.id": "t1"}, False),
        ({"$.temp": 1, "temp": 2}, {"$.temp": 1}, True),
        ({"$.temp": 1, "temp": 2}, {"temp": 1}, False),
        ({"tags": ["x"]}, {"tags[0]": "x"}, False),
        ({"geo": {"city": "Oslo", "zip": 1}}, {"geo": {"zip": 1.0, "city": "Oslo"}}, True),
        ({"geo": {"city": "Oslo", "zip": 1}}, {"geo": {"city": "Oslo"}}, False),
        ({"list": [1, {"a": None}]}, {"list": [1, {"a": None}]}, True),
        ({"list": [1, 2]}, {"list": [2, 1]}, False),
        ({"list": ["x"]}, {"list": "x"}, False),
        ({"a": 1}, {"x') OR 1=1 --": 1}, False),
        ({'a"; DROP TABLE items; --': 1}, {'a"; DROP TABLE items; --': 1}, True),
        ({"\0\ud83d": "\0"}, {"\0\ud83d": "\0"}, True),
        ({"": ""}, {"": ""}, True),
        ({"n": 2**53 + 1}, {"n": 2**53 + 1}, True),
        ({"n": 2**53 + 1}, {"n": 2.0**53}, False),
        ({"e": "caf\xe9"}, {"e": "cafe\u0301"}, False),
    ],
    ids=ascii,
)
async def test_a_filter_is_json_equality_of_one_literal_key(
    items: InMemoryItems, metadata: dict[str, Any], filters: dict[str, Any], *, matches: bool
) -> None:
    await items.store(item(1, content="tea", metadata=metadata))

    assert await found(items, filters=filters) == [1] * matches
    assert await found(items, text="tea", filters=filters) == [1] * matches


async def test_the_axes_are_anded(items: InMemoryItems) -> None:
    await items.store(item(1, content="tea", tags=["x"], metadata={"k": 1}))
    await items.store(item(2, content="tea", tags=["x"], metadata={"k": 2}))
    await items.store(item(3, content="tea", tags=["y"], metadata={"k": 1}))
    await items.store(item(4, content="coffee", tags=["x"], metadata={"k": 1}))

    assert await found(items, text="tea", tags=["x"], filters={"k": 1}) == [1]
    assert await found(items, tags=["x"], filters={"k": 1}) == [4, 1]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("tea", [1]),
        ("TEAS", [1]),
        ("who brews coffee or tea?", [1, 2, 3]),
        ("deep", [4]),
        ("tagged", [2]),
        ("absent", []),
        ("key", []),
    ],
)
async def test_one_shared_word_is_enough_in_content_its_inner_strings_and_tags(
    items: InMemoryItems, text: str, numbers: list[int]
) -> None:
    await items.store(item(1, content="Ada prefers tea"))
    await items.store(item(2, content="something else", tags=["coffee tagged"]))
    await items.store(item(3, content=["coffee", 5, None]))
    await items.store(item(4, content={"key": [{"key": "a deep string"}]}))
    await items.store(item(5, content=7, metadata={"note": "tea coffee deep tagged"}))

    assert sorted(await found(items, text=text)) == numbers


@pytest.mark.parametrize(
    "text", ["   ", "\t\n", "\u3000", "?!", "...", "--", "\u2026", '"', "*", "\0", "\ud83d"], ids=ascii
)
async def test_a_text_without_a_word_finds_nothing(items: InMemoryItems, text: str) -> None:
    await items.store(item(1, content="tea ?! ... \0 \ud83d"))

    assert await found(items, text=text) == []


async def test_an_emoji_is_a_word(items: InMemoryItems) -> None:
    await items.store_many([item(1, content="\U0001f680 launch on Friday"), item(2, content="quarterly numbers")])

    assert await found(items, text="\U0001f680") == [1]


@pytest.mark.parametrize(
    "text",
    [
        "tea AND",
        "NOT tea",
        "NEAR(tea coffee, 2)",
        "tea*",
        "^tea",
        "content:tea",
        "'; DROP TABLE tea; --",
        '"tea',
        "(tea",
        "tea & | !",
        "tea\\",
        "%tea_",
        "{tea}",
        "tea\0",
        "\ud83dtea",
    ],
    ids=ascii,
)
async def test_no_text_is_an_operator_or_an_error(items: InMemoryItems, text: str) -> None:
    await items.store_many([item(1, content="tea"), item(2, content="coffee"), item(3, content="unrelated")])

    assert 1 in await found(items, text=text)
    assert 3 not in await found(items, text=text)


async def test_what_says_more_of_the_query_comes_first(items: InMemoryItems) -> None:
    await items.store(item(1, content="The migration of the billing database is planned for May"))
    await items.store(item(2, content="Billing questions go to Ana", created_at=9))

    assert await found(items, text="when is the billing migration") == [1, 2]


@pytest.mark.parametrize("count", [5, CANDIDATES + 5])
async def test_ties_come_newest_first_then_by_id(items: InMemoryItems, count: int) -> None:
    times = {1: 1.0, 2: 7.0, 3: 7.0, **dict.fromkeys(range(4, count + 1), 5.0)}
    await items.store_many([item(number, content="tea", created_at=time) for number, time in times.items()])

    expected = sorted(times, key=lambda number: (times[number], number), reverse=True)
    assert await found(items, text="tea", limit=count) == expected
    assert await found(items, text="tea", limit=3) == expected[:3]


async def test_more_matches_than_candidates_are_all_found(items: InMemoryItems) -> None:
    count = 2 * CANDIDATES
    await items.store_many([item(number, content="tea " * (number % 7 + 1)) for number in range(count)])

    assert sorted(await found(items, text="tea", limit=count)) == list(range(count))


@pytest.mark.parametrize("limit", [CANDIDATES - 1, CANDIDATES, CANDIDATES + 20])
async def test_a_page_of_a_large_match_is_full(items: InMemoryItems, limit: int) -> None:
    await items.store_many([item(number, content="tea " * (number + 1)) for number in range(CANDIDATES + 50)])

    assert len(set(await found(items, text="tea", limit=limit))) == limit


async def test_among_more_matches_than_candidates_the_telling_one_comes_first(items: InMemoryItems) -> None:
    await items.store_many([item(number, content="green tea", created_at=9) for number in range(1, 2 * CANDIDATES)])
    await items.store(item(0, content="green tea from Uji", created_at=1))

    assert await found(items, text="tea uji", limit=1) == [0]


async def test_conditions_hold_before_the_limit(items: InMemoryItems) -> None:
    await items.store_many([item(number, content="tea", created_at=9) for number in range(1, 2 * CANDIDATES)])
    await items.store(item(0, content="tea", tags=["mine"], metadata={"user": "ada"}, created_at=1))

    assert await found(items, text="tea", tags=["mine"], limit=1) == [0]
    assert await found(items, text="tea", filters={"user": "ada"}, limit=1) == [0]
    assert await found(items, filters={"user": "ada"}, limit=1) == [0]


class Watched(dict[int, Any]):
    """Entries that count how often one is looked at."""

    looks = 0

    def __getitem__(self, key: int) -> Any:
        self.looks += 1
        return super().__getitem__(key)


@pytest.mark.parametrize(
    "query",
    [
        {"tags": ["rare"]},
        {"tags": ["rare", "absent"]},
        {"filters": {"user": "ada"}},
        {"filters": {"kind": "note", "user": "ada"}, "tags": ["common"]},
        {"limit": 2},
        {"text": "unusual"},
    ],
)
async def test_a_search_looks_at_what_stands_under_its_rarest_term_alone(
    items: InMemoryItems, query: dict[str, Any]
) -> None:
    common: dict[str, Any] = {"content": "tea", "tags": ["common"], "metadata": {"kind": "note"}}
    rare: dict[str, Any] = {"content": "unusual tea", "tags": ["common", "rare"]}
    await items.store_many([item(number, **common) for number in range(500)])
    await items.store_many(
        [item(500 + number, **rare, metadata={"kind": "note", "user": "ada"}) for number in range(2)]
    )
    entries = items._index.entries = Watched(items._index.entries)

    assert await found(items, **query) == [501, 500]
    assert entries.looks < 10


WORDS = st.sampled_from(["tea", "teas", "green", "coffee", "the", "秘密", "", "?!"])
CONTENTS = st.lists(WORDS, max_size=4).map(" ".join) | st.none() | st.integers() | st.lists(WORDS, max_size=2)
TAGS = st.sampled_from(["x", "y", "green"])
KEYS, VALUES = st.sampled_from(["k", "m"]), st.sampled_from([None, 0, 1, 1.0, True, "1", [1], {"a": None}])
METADATA = st.dictionaries(KEYS, VALUES, max_size=2)
CONDITION = st.dictionaries(KEYS, VALUES, min_size=1, max_size=2)
ITEMS = st.builds(
    item,
    st.integers(0, 8),
    content=CONTENTS,
    tags=st.lists(TAGS, max_size=2),
    metadata=METADATA,
    created_at=st.sampled_from([-1.0, 0.0, 2.5]),
)
STEPS = st.lists(
    st.tuples(st.just("store"), ITEMS)
    | st.tuples(st.just("store_many"), st.lists(ITEMS, max_size=4))
    | st.tuples(st.just("delete"), st.integers(0, 8))
    | st.tuples(st.just("delete_where"), CONDITION),
    max_size=8,
)
QUERIES = st.builds(
    MemoryQuery,
    text=st.none() | st.lists(WORDS, max_size=3).map(" ".join),
    tags=st.none() | st.lists(TAGS, max_size=2),
    filters=st.none() | METADATA,
    limit=st.integers(0, 10),
)


class Model:
    """A plain list of items, searched by looking at each."""

    def __init__(self) -> None:
        self.items: dict[UUID, MemoryItem] = {}

    def apply(self, action: str, argument: Any) -> None:
        if action == "delete":
            self.items.pop(UUID(int=argument), None)
        elif action == "delete_where":
            self.items = {key: kept for key, kept in self.items.items() if not equal(kept.metadata, argument)}
        else:
            batch = argument if action == "store_many" else [argument]
            self.items.update((stored.id, stored) for stored in batch)

    def search(self, query: MemoryQuery) -> list[UUID]:
        eligible = [
            stored
            for stored in self.items.values()
            if (not query.tags or set(query.tags) & set(stored.tags)) and equal(stored.metadata, query.filters or {})
        ]
        if not query.text:
            newest = sorted(eligible, key=lambda stored: (stored.created_at, stored.id), reverse=True)
            return [stored.id for stored in newest][: query.limit]
        wanted = analyse_query(query.text)
        candidates = [
            Candidate(stored.id, stored.created_at, stored.id, (" ".join(words), " ".join(tag_words)))
            for stored in eligible
            for words, tag_words in [analyse_item(stored.content, stored.tags)]
            if not {*words, *tag_words}.isdisjoint(wanted)
        ]
        return [best.key for best, _ in rank(wanted, candidates, weights=ITEM_WEIGHTS, limit=query.limit)]


def equal(metadata: dict[str, Any], filters: dict[str, Any]) -> bool:
    return all(
        metadata.get(key) == value and isinstance(metadata.get(key), bool) == isinstance(value, bool)
        for key, value in filters.items()
    )


@given(steps=STEPS, queries=st.lists(QUERIES, min_size=1, max_size=4))
async def test_every_search_agrees_with_looking_at_each_item(
    steps: list[tuple[str, Any]], queries: Sequence[MemoryQuery]
) -> None:
    model = Model()
    async with memcore.connect("memory://") as backend:
        items: Any = backend.items
        for action, argument in steps:
            await getattr(items, action)(UUID(int=argument) if action == "delete" else argument)
            model.apply(action, argument)
        assert await items.count() == len(model.items)
        for query in queries:
            assert [hit.id for hit in await items.search(query)] == model.search(query)
