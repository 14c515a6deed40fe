"""Search finds what the contract says, in its order, by an index, and as `memory://` does."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import memcore
import pytest
from memcore import MemoryAdapterUnavailable, MemoryItem, MemoryQuery, UnsupportedMemoryQuery
from memcore.kit.ranking import CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Explain, Store
    from memcore_postgres.backend import PostgresBackend


async def contents(backend: PostgresBackend, text: str | None = None, **query: Any) -> list[Any]:
    return [item.content for item in await backend.items.search(MemoryQuery(text=text, **query))]


async def remember(backend: PostgresBackend, *texts: str) -> None:
    items = [MemoryItem(content=text, created_at=float(number)) for number, text in enumerate(texts)]
    await backend.items.store_many(items)


async def test_text_finds_what_shares_a_word_best_first(backend: PostgresBackend) -> None:
    await remember(backend, "green tea in the morning", "tea", "coffee at noon")
    assert await contents(backend, "is there tea in the mornings?") == ["green tea in the morning", "tea"]


async def test_equals_stand_newest_first(backend: PostgresBackend) -> None:
    await remember(backend, "tea 1", "tea 2", "tea 3")
    assert await contents(backend, "tea") == ["tea 3", "tea 2", "tea 1"]


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("the bot's pre-edit hook copies 3 GB/s to C:\\temp for user:42", "user:42"),
        ("the bot's pre-edit hook copies 3 GB/s to C:\\temp for user:42", "C:\\temp"),
        ("the red car is a blue van", '"red car" OR "blue van"'),
        ("ask team octopus", "team:octopus & foo:*"),
        ("a form 401 (k)", "401 (k) <-> !'abs"),
        ("她住在上海浦东新区", "上海"),
        ("ผมชอบดื่มกาแฟดำ", "กาแฟ"),
        ("Straße in Łódź", "STRASSE LODZ"),
        ("🚀 launch", "🚀"),
        ("before\x00after", "after\x00"),
        ("hi \ud83d there", "\ud83d there"),
        ({"deep": ["in", {"a": "structure"}]}, "structure"),
        ("x" * 5000, "x" * 5000),
    ],
)
async def test_no_text_is_an_operator_or_an_error(backend: PostgresBackend, stored: Any, text: str) -> None:
    await backend.items.store(MemoryItem(content=stored))
    assert await contents(backend, text) == [stored]


@pytest.mark.parametrize("text", ["   ", "?!", "...", "'", "\\", "&|!()<->:*", "\x00"])
async def test_a_text_without_a_word_finds_nothing(backend: PostgresBackend, text: str) -> None:
    await remember(backend, "tea")
    assert await contents(backend, text) == []


async def test_no_text_lists_newest_first(backend: PostgresBackend) -> None:
    await remember(backend, "old", "newer", "newest")
    assert await contents(backend, "") == await contents(backend) == ["newest", "newer", "old"]


async def test_items_of_one_time_are_listed_by_id(backend: PostgresBackend) -> None:
    items = [MemoryItem(created_at=7.0) for _ in range(50)]
    await backend.items.store_many(items)
    found = await backend.items.search(MemoryQuery(limit=50))
    assert [item.id for item in found] == sorted((item.id for item in items), reverse=True)


async def test_limits_are_kept_and_negative_ones_refused(backend: PostgresBackend) -> None:
    await remember(backend, "tea", "more tea")
    assert await contents(backend, "tea", limit=0) == []
    assert len(await contents(backend, "tea", limit=10**30)) == len(await contents(backend, limit=10**30)) == 2
    with pytest.raises(UnsupportedMemoryQuery):
        await contents(backend, limit=-1)


@pytest.mark.parametrize(
    ("metadata", "filters", "matches"),
    [
        ({"n": 1}, {"n": 1.0}, True),
        ({"n": True}, {"n": 1}, False),
        ({"a.b": "x"}, {"a.b": "x"}, True),
        ({"a": {"b": "x"}}, {"a.b": "x"}, False),
        ({"a": {"b": [1, 2], "c": "é"}}, {"a": {"c": "é", "b": [1.0, 2]}}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"k": None}, {"k": None}, True),
        ({}, {"k": None}, True),
        ({"k": 0}, {"k": None}, False),
        ({"nul\x00": "\x00"}, {"nul\x00": "\x00"}, True),
        ({"x') OR 1=1 --": "v"}, {"x') OR 1=1 --": "w"}, False),
        ({"k": "v", "j": "w"}, {"k": "v", "j": None}, False),
        ({"\ud800": 1}, {"\ud801": None}, True),
    ],
)
async def test_filters_are_equality_as_json(
    backend: PostgresBackend, metadata: dict[str, Any], filters: dict[str, Any], *, matches: bool
) -> None:
    await backend.items.store(MemoryItem(content="tea", metadata=metadata))
    for text in (None, "tea"):
        assert await contents(backend, text, filters=filters) == (["tea"] if matches else [])


async def test_missing_keys_are_looked_for_through_many_pages(backend: PostgresBackend) -> None:
    kinds: list[dict[str, Any]] = [{"k": 1}] * 450 + [{}] * 5
    random.Random(1).shuffle(kinds)
    items = [MemoryItem(content=f"tea {n}", metadata=kind, created_at=n // 7) for n, kind in enumerate(kinds)]
    await backend.items.store_many(items)
    expected = [item.content for item in sorted(items, key=lambda i: (i.created_at, i.id)) if not item.metadata][::-1]
    assert await contents(backend, filters={"k": None}) == expected
    assert await contents(backend, filters={"k": None}, limit=2) == expected[:2]
    assert sorted(await contents(backend, "tea", filters={"k": None})) == sorted(expected)


async def test_of_more_matches_than_candidates_the_best_are_found(backend: PostgresBackend) -> None:
    texts = [f"tea number {number}" for number in range(CANDIDATES * 2)]
    await remember(backend, "green tea from Japan", *texts, "tea from China")
    assert (await contents(backend, "green tea from Japan", limit=2)) == ["green tea from Japan", "tea from China"]


async def test_a_query_of_many_words_is_answered(backend: PostgresBackend) -> None:
    await remember(backend, *[f"tea word{number}" for number in range(CANDIDATES + 1)])
    text = "tea " + " ".join(f"word{number}" for number in range(700))
    assert len(await contents(backend, text)) == 20


async def test_a_long_item_is_found_whole_among_short_ones(backend: PostgresBackend) -> None:
    long = "tea " * 30_000
    await remember(backend, "tea", long, "coffee")
    assert sorted(map(len, await contents(backend, "tea"))) == [3, len(long)]


async def test_a_match_in_another_namespace_changes_no_order(backend: PostgresBackend, store: Store) -> None:
    await remember(backend, "green tea", "black tea tea", "green cup")
    before = await contents(backend, "green tea")
    await remember(store.connect(namespace="other"), *[f"green {number}" for number in range(50)])
    assert await contents(backend, "green tea") == before


async def test_words_of_another_analysis_stop_text_search_alone(backend: PostgresBackend, store: Store) -> None:
    await remember(backend, "tea")
    await store.fetch("UPDATE meta SET analysis = analysis - 1")
    with pytest.raises(MemoryAdapterUnavailable, match="memcore reindex URL"):
        await contents(backend, "tea")
    assert await contents(backend) == ["tea"]
    assert (await backend.ping()).status == "degraded"


async def test_writing_words_of_a_new_analysis_says_that_the_old_are_incomplete(
    backend: PostgresBackend, store: Store
) -> None:
    await store.fetch("UPDATE meta SET analysis = analysis - 1")
    await remember(backend, "tea")
    with pytest.raises(MemoryAdapterUnavailable, match="memcore reindex URL"):
        await contents(backend, "tea")
    await backend.reindex()
    assert await contents(backend, "tea") == ["tea"]


WORDS = "tea coffee Ada Grace morning evening likes drinks green 上海 住在 été 3 May 2023 running run"


def random_operations(seed: int, count: int) -> list[tuple[str, Any]]:
    """Return operations that any backend must answer alike."""
    dice = random.Random(seed)
    ids = [MemoryItem().id for _ in range(30)]

    def text() -> str:
        return " ".join(dice.choices(WORDS.split(), k=dice.randint(1, 6)))

    def metadata() -> dict[str, Any]:
        return {key: dice.choice([1, 1.0, True, None, "x", [1], {"a": 1}]) for key in dice.sample("abc", 2)}

    def item() -> MemoryItem:
        tags = dice.sample(["t", "u", "v w"], dice.randint(0, 2))
        when = float(dice.randint(0, 3) * 40_000_000)
        return MemoryItem(id=dice.choice(ids), content=text(), tags=tags, metadata=metadata(), created_at=when)

    def query() -> MemoryQuery:
        filters = dict([dice.choice(list(metadata().items()))]) if dice.random() < 0.4 else None
        tags = dice.sample(["t", "u", "v w", "w"], 2) if dice.random() < 0.3 else None
        return MemoryQuery(
            text=text() if dice.random() < 0.7 else None, tags=tags, filters=filters, limit=dice.choice([3, 40])
        )

    kinds = {
        "store": item,
        "store_many": lambda: [item() for _ in range(4)],
        "retrieve": lambda: dice.choice(ids),
        "search": query,
        "delete": lambda: dice.choice(ids),
        "delete_where": lambda: dict([dice.choice(list(metadata().items()))]),
        "count": lambda: None,
    }
    weights = [6, 3, 3, 8, 1, 0.3, 1]
    return [(name, kinds[name]()) for name in dice.choices(list(kinds), weights, k=count)]


async def answers(items: Any, operations: Sequence[tuple[str, Any]]) -> list[str]:
    found = []
    for name, argument in operations:
        answer = await (getattr(items, name)() if argument is None else getattr(items, name)(argument))
        found.append(f"{name}({argument!r}) -> {answer!r}")
    return found


@pytest.mark.parametrize("seed", range(3))
async def test_every_answer_is_that_of_memory(backend: PostgresBackend, seed: int) -> None:
    operations = random_operations(seed, 300)
    async with memcore.connect("memory://") as memory:
        assert await answers(backend.items, operations) == await answers(memory.items, operations)


@pytest.fixture
async def filled(counted: PostgresBackend) -> PostgresBackend:
    items = [
        MemoryItem(content=f"word{n} word{n % 50}", tags=[f"tag{n % 40}"], metadata={"n": n, "k": n % 90}, created_at=n)
        for n in range(4000)
    ]
    await counted.items.store_many(items)
    return counted


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (MemoryQuery(text="word7"), "items_found"),
        (MemoryQuery(text="word7 word8", filters={"k": 7}), "items_found"),
        (MemoryQuery(filters={"n": 7}), "items_found"),
        (MemoryQuery(filters={"n": 7, "k": 7}, tags=["tag7"]), "items_found"),
        (MemoryQuery(), "items_by_time"),
        (MemoryQuery(filters={"missing": None}, limit=5), "items_by_time"),
    ],
)
async def test_an_index_answers(filled: PostgresBackend, explain: Explain, query: MemoryQuery, index: str) -> None:
    found = await explain(filled.items.search(query))
    assert index in {read for _, read in found}
    assert ("Seq Scan", "items") not in found
