"""Searching: what matches, in which order, and what SQLite has to read for it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

import memcore
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memcore import MemoryItem, MemoryQuery
from memcore.kit.query import MOST_FILTERS
from memcore_sqlite.backend import SqliteBackend

if TYPE_CHECKING:
    from pathlib import Path

Connect = Callable[..., SqliteBackend]

PUNCTUATION = [
    "don't",
    "O'Brien",
    "tea AND",
    "NOT tea",
    "NEAR(tea milk, 2)",
    "(tea",
    "tea)",
    '"tea',
    "tea*",
    "^tea",
    "{words}: tea",
    "namespace : 1",
    "-tea",
    "words:tea",
    "'; DROP TABLE items; --",
    "%s {0} $1 ? ?1 :a",
    "\x00tea\x00",
    "\ud800",
]


async def ids(backend: memcore.Backend, **query: object) -> list[UUID]:
    return [item.id for item in await backend.items.search(MemoryQuery(**query))]


async def numbers(backend: memcore.Backend, **query: object) -> list[Any]:
    return [item.metadata.get("n") for item in await backend.items.search(MemoryQuery(**query))]


def numbered(count: int, **fields: object) -> list[MemoryItem]:
    return [MemoryItem(created_at=n, metadata={"n": n, "even": n % 2 == 0}, **fields) for n in range(count)]


async def test_a_question_finds_what_shares_a_word(backend: SqliteBackend) -> None:
    item = MemoryItem(content="Ada prefers green tea")
    await backend.items.store_many([item, MemoryItem(content="Bob drinks coffee")])
    assert await ids(backend, text="who was it that preferred teas?") == [item.id]


@pytest.mark.parametrize("text", PUNCTUATION, ids=range(len(PUNCTUATION)))
async def test_no_text_is_an_operator_or_an_error(backend: SqliteBackend, text: str) -> None:
    item = MemoryItem(content="a cup of tea; Mr O'Brien doesn't drop it")
    await backend.items.store_many([item, MemoryItem(content="1")])
    found = await ids(backend, text=text)
    assert (item.id in found) == ("tea" in text or "O'" in text or "DROP" in text)


@pytest.mark.parametrize("text", ["?!", "   ", "\t", "--", "…"])
async def test_text_without_a_word_finds_nothing(backend: SqliteBackend, text: str) -> None:
    await backend.items.store(MemoryItem(content=f"tea {text}"))
    assert await ids(backend, text=text) == []


async def test_empty_axes_are_no_predicate(backend: SqliteBackend) -> None:
    await backend.items.store_many(numbered(3))
    assert await numbers(backend, text="", tags=[], filters={}) == [2, 1, 0]


async def test_without_text_the_newest_come_first_and_ties_by_id(backend: SqliteBackend) -> None:
    items = [MemoryItem(id=UUID(int=n), created_at=n // 3, tags=["t"]) for n in range(9)]
    await backend.items.store_many(items[::2] + items[1::2])
    for query in ({}, {"tags": ["t"]}, {"tags": ["t", "u"]}):
        assert await ids(backend, **query) == [UUID(int=n) for n in range(8, -1, -1)]


async def test_a_limit_cuts_amid_ties_by_id(backend: SqliteBackend) -> None:
    await backend.items.store_many([MemoryItem(id=UUID(int=n), created_at=1, tags=["t"]) for n in range(50)])
    for query in ({}, {"tags": ["t"]}, {"tags": ["t", "u"]}):
        assert await ids(backend, limit=2, **query) == [UUID(int=49), UUID(int=48)]


@pytest.mark.parametrize("text", [None, "tea"])
async def test_no_limit_finds_nothing(backend: SqliteBackend, text: str | None) -> None:
    await backend.items.store(MemoryItem(content="tea"))
    assert await ids(backend, text=text, limit=0) == []


@pytest.mark.parametrize("text", [None, "tea"])
async def test_a_huge_limit_finds_everything(backend: SqliteBackend, text: str | None) -> None:
    await backend.items.store_many(numbered(700, content="tea"))
    assert len(await ids(backend, text=text, limit=10**30)) == 700


async def test_tags_are_any_of_and_exact(backend: SqliteBackend) -> None:
    await backend.items.store_many(
        [
            MemoryItem(created_at=n, metadata={"n": n}, tags=tags)
            for n, tags in enumerate([["a"], ["A"], ["b", "a"], []])
        ]
    )
    assert await numbers(backend, tags=["a", "b"]) == [2, 0]


async def test_filters_are_all_of_and_equal_as_json(backend: SqliteBackend) -> None:
    values = [1, 1.0, True, "1", [1], {"a": 1}, None]
    await backend.items.store_many([MemoryItem(created_at=n, metadata={"n": n, "k": k}) for n, k in enumerate(values)])
    found = [await numbers(backend, filters={"k": value}) for value in values]
    assert found == [[1, 0], [1, 0], [2], [3], [4], [5], [6]]
    assert await numbers(backend, filters={"k": 1, "n": 0}) == [0]


async def test_null_matches_a_missing_key_whatever_else_is_asked(backend: SqliteBackend) -> None:
    await backend.items.store_many(
        [
            MemoryItem(content="tea", created_at=n, metadata={"n": n, **metadata}, tags=["t"])
            for n, metadata in enumerate([{}, {"k": None}, {"k": 0}, {"\ud800'\"": 1}])
        ]
    )
    for query in ({}, {"text": "tea"}, {"tags": ["t"]}, {"text": "tea", "tags": ["t"]}):
        assert await numbers(backend, filters={"k": None, "\ud800'\"": None}, **query) == [1, 0]


@pytest.mark.parametrize("key", ["x') OR 1=1 --", 'a") OR ("1"="1', "$.n", "n.x", "tags[0]", "", "\x00", "\ud800"])
async def test_a_filter_key_is_one_literal_key(backend: SqliteBackend, key: str) -> None:
    item = MemoryItem(metadata={key: "v"})
    await backend.items.store_many([item, MemoryItem(metadata={"n": "v", "x": 1})])
    assert await ids(backend, filters={key: "v"}) == [item.id]


async def test_all_axes_are_joined_by_and(backend: SqliteBackend) -> None:
    wanted = MemoryItem(content="tea", tags=["t"], metadata={"k": 1})
    await backend.items.store_many(
        [
            wanted,
            MemoryItem(content="milk", tags=["t"], metadata={"k": 1}),
            MemoryItem(content="tea", metadata={"k": 1}),
            MemoryItem(content="tea", tags=["t"]),
        ]
    )
    assert await ids(backend, text="tea", tags=["t"], filters={"k": 1}) == [wanted.id]


async def test_conditions_hold_before_the_limit_among_many_matches(backend: SqliteBackend) -> None:
    await backend.items.store_many(numbered(3_000, content="tea with milk", tags=["t"]))
    assert await numbers(backend, text="tea", filters={"n": 7}) == [7]
    evens = await numbers(backend, text="tea milk", filters={"even": True}, tags=["t"], limit=1_600)
    assert sorted(evens) == list(range(0, 3_000, 2))
    assert await numbers(backend, text="tea", filters={"even": True, "gone": None}, limit=2) == [2998, 2996]


async def test_of_many_that_tie_the_newest_come_first(backend: SqliteBackend) -> None:
    items = numbered(1_000, content="tea")
    await backend.items.store_many(items[500:] + items[:500])
    assert await numbers(backend, text="tea", limit=3) == [999, 998, 997]


async def test_of_many_the_best_comes_first(backend: SqliteBackend) -> None:
    items = numbered(1_000, content="a cup of tea in the afternoon")
    items[3] = MemoryItem(content="tea, tea and green tea", created_at=3, metadata={"n": 3})
    await backend.items.store_many(items)
    assert (await numbers(backend, text="green tea", limit=3))[0] == 3


async def test_a_small_namespace_is_searched_beside_a_large_one(connect: Connect) -> None:
    large, small = connect(namespace="large"), connect(namespace="small")
    await large.items.store_many(numbered(2_000, content="tea"))
    await small.items.store_many(numbered(400, content="tea"))
    assert await numbers(small, text="tea", limit=2) == [399, 398]
    assert len(await ids(small, text="tea", limit=5_000)) == 400


async def test_as_many_words_and_tags_as_anybody_asks_for(backend: SqliteBackend) -> None:
    await backend.items.store_many(numbered(600, content="tea", tags=["t7"]))
    text = " ".join(f"word{n}" for n in range(2_000))
    tags = [f"t{n}" for n in range(40_000)]
    assert await ids(backend, text=text) == []
    assert await numbers(backend, tags=tags, limit=2) == [599, 598]
    assert await numbers(backend, text=f"tea {text}", tags=tags, filters={"n": 5}) == [5]


async def test_every_item_is_found_after_each_write_by_every_connection(connect: Connect) -> None:
    ours, theirs = connect(), connect()
    for n in range(20):
        await ours.items.store(MemoryItem(content=f"tea{n}"))
        assert len(await ids(theirs, text=f"tea{n}")) == 1


WORDS = st.sampled_from(["tea", "teas", "milk", "Cup", "日本", "🚀", "may", "2023", "the"])
ITEMS = st.lists(
    st.builds(
        lambda words, at, tags, k: MemoryItem(content=" ".join(words), created_at=at, tags=tags, metadata={"k": k}),
        st.lists(WORDS, max_size=6),
        st.sampled_from([0.0, 1.0, 1.683e9]),
        st.lists(st.sampled_from(["a", "b", "tea"]), max_size=2),
        st.sampled_from([0, 1, True, None]),
    ),
    max_size=12,
)
QUERIES = st.lists(
    st.builds(
        MemoryQuery,
        text=st.none() | st.lists(WORDS, min_size=1, max_size=3).map(" ".join),
        tags=st.none() | st.lists(st.sampled_from(["a", "b", "c"]), max_size=2),
        filters=st.none() | st.fixed_dictionaries({"k": st.sampled_from([0, 1, True, None])}),
        limit=st.sampled_from([1, 3, 20]),
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=60)
@given(items=ITEMS, queries=QUERIES)
def test_answers_and_their_order_are_those_of_the_store_in_memory(
    items: list[MemoryItem], queries: list[MemoryQuery]
) -> None:
    async def answers(url: str) -> list[list[UUID]]:
        async with memcore.connect(url) as backend:
            await backend.items.store_many(items)
            return [[item.id for item in await backend.items.search(query)] for query in queries]

    assert asyncio.run(answers("sqlite://")) == asyncio.run(answers("memory://"))


@pytest.fixture
async def statements(backend: SqliteBackend) -> list[str]:
    """The statements that the connections for reading are given from now on, values filled in."""
    told: list[str] = []
    for long in (False, True):
        for _ in range(2):
            await backend._database.read(lambda session: session.set_trace_callback(told.append), long=long)
    told.clear()
    return told


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"tags": ["t"]},
        {"tags": ["t", "u"]},
        {"filters": {"k": 1}},
        {"filters": {"k": 1, "even": True}, "tags": ["t", "u"]},
        {"text": "tea"},
        {"text": "tea", "filters": {"k": 1}},
    ],
    ids=str,
)
async def test_no_search_reads_through_a_whole_table(
    backend: SqliteBackend, statements: list[str], path: Path, query: dict[str, Any]
) -> None:
    await ids(backend, **query)
    with sqlite3.connect(path) as raw:
        selects = [statement for statement in statements if statement.startswith("SELECT")]
        plans = [row[3] for select in selects for row in raw.execute(f"EXPLAIN QUERY PLAN {select}")]
    raw.close()
    assert plans
    whole = [step for step in plans if step.startswith("SCAN") and "VIRTUAL TABLE" not in step]
    assert not [step for step in whole if step.split()[1] in {"items", "i", "item_terms", "t", "o"}]
    assert "USE TEMP B-TREE FOR ORDER BY" not in plans or "text" in query


@pytest.mark.parametrize("query", [{}, {"tags": ["t"]}, {"filters": {"even": True}}], ids=str)
async def test_a_listing_reads_no_more_from_a_large_store(backend: SqliteBackend, query: dict[str, Any]) -> None:
    async def steps() -> int:
        counted: list[int] = []
        await backend._database.read(lambda session: session.set_progress_handler(lambda: counted.append(1), 10))
        await ids(backend, **query)
        await backend._database.read(lambda session: session.set_progress_handler(None, 0))
        return len(counted)

    await backend.items.store_many(numbered(100, tags=["t"]))
    small = await steps()
    await backend.items.store_many(numbered(4_000, tags=["t"]))
    assert await steps() <= 1.5 * small


@pytest.mark.parametrize("value", [1, None])
async def test_as_many_filters_as_a_query_takes_are_answered(backend: SqliteBackend, value: object) -> None:
    filters = {str(number): value for number in range(MOST_FILTERS)}
    item = MemoryItem(content="tea", tags=["t"], metadata=filters)
    await backend.items.store_many([item, MemoryItem(content="tea", tags=["t"], metadata={**filters, "0": 2})])
    for query in ({}, {"text": "tea"}, {"tags": ["t", "u"]}):
        assert await ids(backend, filters=filters, **query) == [item.id]
