"""Searching records: every condition, exactly, before the limit; pages; what text finds (R-03, R-05, R-16)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from memcore import Invalidation, MemoryWrite, RecordQuery, UnsupportedMemoryQuery
from memcore.kit.ranking import CANDIDATES
from memcore.records.model import TIERS, Mode

from memcore_conformance import expect
from memcore_conformance.cases.isolation import ALIKE
from memcore_conformance.cases.records_end import KINDS
from memcore_conformance.cases.values import STRINGS
from memcore_conformance.catalogue import case
from memcore_conformance.reference import ranked_records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memcore import MemoryRecord
    from memcore.records.model import Kind

    from memcore_conformance.records import Records
    from memcore_conformance.trial import Trial

WORDS: Final = (
    "tea",
    "milk",
    "rain",
    "storm",
    "lamp",
    "green",
    "walks",
    "harbour",
    "May",
    "14",
    "naïve",
    "京都",
    "the",
)
_MEMORY_KINDS: Final = KINDS[:4]


@case("R-03a", claims=("records",))
async def internal_kinds_are_found_by_name_alone(trial: Trial) -> None:
    """A search finds the four memory kinds, or just the kinds that it names; none named is nothing found."""
    records = await trial.records()
    given = {kind: trial.write("tea", kind=kind) for kind in KINDS}
    await records.keep(*given.values())
    asked: tuple[Sequence[Kind] | None, ...] = (None, [], ["fact"], ["state"], ["observation", "profile"], KINDS)
    for kinds in asked:
        wanted = [given[kind] for kind in (_MEMORY_KINDS if kinds is None else kinds)]
        for text in (None, "tea"):
            expect.ids(await records.find(text, kinds=kinds), wanted, ordered=False)


@case("R-05a", claims=("records",))
async def tags_match_any_or_all(trial: Trial) -> None:
    """Tags match exactly: any of them, or all of them; no tags are no condition."""
    records = await trial.records()
    tags: tuple[list[str], ...] = ([], ["a"], ["b", "a"], ["A"], ["a b"], ["a%"])
    given = [trial.write("tea", tags=some) for some in tags]
    await records.keep(*given)
    for asked, any_of, all_of in (
        ([], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]),
        (["a"], [1, 2], [1, 2]),
        (["a", "b"], [1, 2], [2]),
        (["b", "A"], [2, 3], []),
        (["a", "a"], [1, 2], [1, 2]),
        (["a b"], [4], [4]),
        (["c"], [], []),
    ):
        for match, wanted in (("any", any_of), ("all", all_of)):
            for text in (None, "tea"):
                found = await records.find(text, tags=asked, match_tags=match)
                expect.ids(found, [given[place] for place in wanted], ordered=False)


@case("R-05b", claims=("records",))
async def tiers_are_a_condition(trial: Trial) -> None:
    """Tiers narrow a search to those named; what has no tier is among none of them; none named is nothing found."""
    records = await trial.records()
    given = {tier: trial.write("tea", tier=tier) for tier in (*TIERS, None)}
    await records.keep(*given.values())
    for tiers in (None, [], ["short"], ["permanent", "long"], TIERS):
        wanted = [write for tier, write in given.items() if tiers is None or tier in tiers]
        for text in (None, "tea"):
            expect.ids(await records.find(text, tiers=tiers), wanted, ordered=False)


@case("R-05c", claims=("records",), needs=("clock",))
async def pages_hold_each_record_once(trial: Trial) -> None:
    """Page after page by the cursor of the last hit gives each record exactly once, those of one moment too."""
    records = await trial.records()
    kept: list[MemoryRecord] = []
    for number in range(14):
        kept += await records.keep(trial.write(f"tea {number}", kind="profile" if number % 7 == 0 else "fact"))
        trial.advance(1.0 if number % 3 == 0 else 0.0)
    newest_first = sorted(kept, key=lambda record: (record.created_at, record.id), reverse=True)
    for axes in ({}, {"kinds": ["fact"]}, {"include_invalidated": True}, {"as_of": newest_first[1].created_at}):
        query = RecordQuery(**cast("dict[str, Any]", axes))
        as_of = query.as_of or newest_first[0].created_at
        wanted = [
            record for record in newest_first if record.created_at <= as_of and record.kind in (query.kinds or KINDS)
        ]
        for limit in (1, 2, 3, 5, 14, 15):
            expect.ids(await _page_through(records, query.model_copy(update={"limit": limit})), wanted)


@case("R-05d", claims=("records",))
async def a_page_is_not_moved_by_writes(trial: Trial) -> None:
    """What is written, ended or deleted meanwhile neither repeats nor hides another record on the pages that follow."""
    records = await trial.records()
    kept = (await records.keep(*(trial.write(f"tea {number}") for number in range(8))))[::-1]
    hits = await records.search(RecordQuery(limit=3))
    await records.keep(trial.write("new"), trial.write("new"))
    await records.delete(kept[2].id)
    await records.invalidate(kept[4].id)
    found = await records.find(after=hits[-1].cursor, limit=10)
    expect.ids(found, [kept[3], *kept[5:]])


@case("R-05e", claims=("records",))
async def other_cursors_are_refused(trial: Trial) -> None:
    """A cursor that was changed or made up is refused by the name `after`, and so is any beside a text."""
    records = await trial.records()
    await records.keep(trial.write(), trial.write())
    cursor = (await records.search(RecordQuery(limit=1)))[0].cursor
    changed = ("A" if cursor[0] != "A" else "B") + cursor[1:]
    for after in ("", " ", changed, cursor[:-4], cursor + cursor, str(trial.id()), "é", "' OR 1=1 --"):
        with _refused("after"):
            await records.find(after=after)
    with _refused("after"):
        await records.find("tea", after=cursor)
    expect.equal(len(await records.find(after=cursor)), 1, what="hits behind the cursor")


@case("R-16g", claims=("records",))
async def a_scope_is_exact(trial: Trial) -> None:
    """A scope is met by equal keys and values alone: no prefix, wildcard, case fold, nor any other likeness."""
    records = await trial.records()
    pairs = [{"user": name} for name in ALIKE]
    pairs += [{key: "user_1"} for key in ("User", "use", "user ", "us%", "user_", "*", "user=user_1", "'")]
    pairs += [{"user": ""}, {"userus": "er_1"}, {"user\x00": "user_1"}, {"useru": "ser_1"}]
    given = [trial.write("tea", scope=scope) for scope in pairs]
    await records.keep(*given)
    for write in given:
        for text in (None, "tea"):
            expect.ids(await records.find(text, scope=write.scope), [write])


@case("R-16h", claims=("records",))
async def a_scope_is_met_by_what_has_more(trial: Trial) -> None:
    """Every pair of the query must be in the record's scope, in any order; an empty scope is met by every record."""
    records = await trial.records()
    scopes: tuple[dict[str, str], ...] = (
        {},
        {"user": "ada"},
        {"thread": "1", "user": "ada"},
        {"user": "ada", "thread": "2"},
        {"thread": "1"},
    )
    given = [trial.write("tea", scope=scope) for scope in scopes]
    await records.keep(*given)
    for asked, wanted in (
        ({}, [0, 1, 2, 3, 4]),
        ({"user": "ada"}, [1, 2, 3]),
        ({"thread": "1"}, [2, 4]),
        ({"user": "ada", "thread": "1"}, [2]),
        ({"thread": "1", "user": "bob"}, []),
        ({"user": "1"}, []),
    ):
        for text in (None, "tea"):
            expect.ids(await records.find(text, scope=asked), [given[place] for place in wanted], ordered=False)


@case("R-16i", claims=("records",))
async def every_condition_holds_before_the_limit(trial: Trial) -> None:
    """However many newer and better records fail just one condition, a search finds those that meet all of them."""
    records = await trial.records()
    meets: dict[str, Any] = {
        "scope": {"user": "ada", "thread": "1"},
        "kind": "episode",
        "tags": ["a", "b"],
        "tier": "long",
        "content": "tea with milk and a little rain",
    }
    kept = await records.keep(*(trial.write(**meets) for _ in range(4)))
    decoys: tuple[dict[str, Any], ...] = (
        *({"scope": {"user": "bob", "thread": "1"}}, {"scope": {"user": "ada", "thread": "10"}}),
        *({"kind": "fact"}, {"tags": ["a"]}, {"tier": "short"}, {"tier": None}),
        {"expires_at": kept[0].created_at - timedelta(days=1)},
    )
    failing = [trial.write(**{**meets, "content": "tea", **decoy}) for decoy in decoys for _ in range(40)]
    ended = [trial.write(**{**meets, "content": "tea"}) for _ in range(40)]
    ends = [Invalidation(id=write.id) for write in ended]
    await _write_unrecorded(trial, records, [*failing, *ended, *ends])
    axes: dict[str, Any] = {
        "scope": {"user": "ada", "thread": "1"},
        "kinds": ["episode"],
        "tags": ["b", "a"],
        "match_tags": "all",
        "tiers": ["long"],
    }
    newest_first = kept[::-1]
    for text in (None, "tea"):
        for limit in (1, 3, 4, 5, 100):
            expect.ids(await records.find(text, limit=limit, **axes), newest_first[:limit])


@case("R-16j", claims=("records",))
async def newest_come_first(trial: Trial) -> None:
    """Without text the newest come first, without a score; a limit gives the first of them."""
    records = await trial.records()
    kept = (await records.keep(*(trial.write(f"tea {number}") for number in range(9))))[::-1]
    for limit in (1, 4, 9, 10, 2**62):
        for query in (RecordQuery(limit=limit), RecordQuery(text="", limit=limit)):
            hits = await records.search(query)
            expect.ids([hit.record for hit in hits], kept[:limit])
            expect.equal([hit.score for hit in hits], [None] * len(hits), what="the scores")


@case("R-16k", claims=("records",))
async def limits_zero_and_below(trial: Trial) -> None:
    """A limit of zero finds nothing; one below is refused by its name."""
    records = await trial.records()
    await records.keep(trial.write())
    for text in (None, "tea"):
        expect.ids(await records.find(text, limit=0), [])
        for limit in (-1, -(2**63)):
            with _refused("limit"):
                await records.find(text, limit=limit)


@case("R-16l", claims=("records",))
async def a_mode_that_is_not_offered_is_refused(trial: Trial) -> None:
    """The modes of the capabilities are answered, every other one is refused by its name."""
    records = await trial.records()
    (kept,) = await records.keep(trial.write("tea"))
    offered = {"auto", records.raw.capabilities().search}
    for mode in get_args(Mode):
        if mode in offered or "hybrid" in offered:
            expect.contains(await records.find("tea", mode=mode), kept)
        else:
            for text in (None, "tea"):
                with _refused("mode"):
                    await records.find(text, mode=mode)


@case("R-16m", claims=("records",))
async def all_that_is_offending_is_told_at_once(trial: Trial) -> None:
    """A query with several faults is refused with all of their names, sorted; what is no query is refused too."""
    records = await trial.records()
    with expect.raises(
        UnsupportedMemoryQuery, where=lambda error: error.rejected_keys == ("after", "limit"), what="of both"
    ):
        await records.find("tea", limit=-1, after="x")
    with expect.raises(UnsupportedMemoryQuery):
        await trial.does("search('tea')", records.raw.search(cast("Any", "tea")))


@case("R-16n", claims=("records",))
async def context_helps_to_find(trial: Trial) -> None:
    """A record is found by the words of its content, its context and its tags; content counts more than context."""
    records = await trial.records()
    content = trial.write("milk tea")
    context = trial.write("rain lamp", context="milk tea")
    tags = trial.write("storm green", tags=["milk"])
    other = trial.write("harbour")
    await records.keep(content, context, tags, other)
    expect.ids(await records.find("milk"), [content, tags, context], ordered=False)
    expect.ids(await records.find("tea"), [content, context])
    expect.ids(await records.find("rain"), [context])


@case("R-16o", claims=("records", "analysed"))
async def the_order_is_that_of_the_kit(trial: Trial) -> None:
    """Over random contents, contexts and tags, every query gives exactly the order of the kit's ranking."""
    records = await trial.records()
    kept = await records.keep(*(_random_write(trial) for _ in range(40)))
    for _ in range(15):
        text = _random_text(trial, most=4)
        wanted = ranked_records(kept, text)
        expect.ids(await records.find(text, limit=CANDIDATES), wanted)
        expect.ids(await records.find(text, limit=3), wanted[:3])


@case("R-16p", claims=("records", "analysed"))
async def others_change_no_order(trial: Trial) -> None:
    """How rare a word is, is counted in the scope that is searched: what others keep neither shows nor counts."""
    records = await trial.records()
    plum, apple = await records.keep(trial.write("plum"), trial.write("apple"))
    await records.keep(*(trial.write("apple", scope={"user": "bob"}) for _ in range(12)))
    await records.keep(*(trial.write("plum", kind="state") for _ in range(6)))
    expect.ids(await records.find("plum apple", scope={"user": "ada"}), [apple, plum])


@case("R-16q", claims=("records", "analysed"))
async def up_to_300_are_ranked_exactly(trial: Trial) -> None:
    """Of exactly 300 candidates the order is that of the kit; of more, all are found, and the best comes first."""
    records = await trial.records()
    writes = [_random_write(trial, word="tea") for _ in range(CANDIDATES)]
    kept = await _write_unrecorded(trial, records, writes)
    await _write_unrecorded(trial, records, [_random_write(trial, word="tea", user="bob") for _ in range(50)])
    wanted = ranked_records(kept, "green tea")
    expect.ids(await records.find("green tea", scope={"user": "ada"}, limit=CANDIDATES), wanted)
    (best,) = await records.keep(trial.write("special tea"))
    await _write_unrecorded(trial, records, [_random_write(trial, word="tea") for _ in range(20)])
    expect.equal(len(await records.find("tea", scope={"user": "ada"}, limit=1_000)), CANDIDATES + 21, what="hits")
    expect.ids(await records.find("special tea", scope={"user": "ada"}, limit=1), [best])


@case("R-16r", claims=("records",))
async def no_text_is_an_operator(trial: Trial) -> None:
    """Whatever a user writes is looked for as words: nothing in it is an operator, a pattern or an error."""
    records = await trial.records()
    tea, _ = await records.keep(trial.write("tea"), trial.write("teapot harbour"))
    for text in (
        "tea AND NOT tea",
        'tea"',
        "tea OR",
        "(tea",
        "-tea",
        "tea*",
        "^tea",
        "NEAR(tea lamp)",
        "tea:",
        "tea & !tea",
    ):
        expect.ids(await records.find(text), [tea])
    for text in ("*", "te%", "t_a", "content:harbou", "", " ", *STRINGS):
        found = await records.find(text)
        expect.that(len(found) in {0, 1, 2}, expected="an answer", got=found)
    for text in ("*", "...", "\t\n", "-"):
        expect.ids(await records.find(text), [])


@case("R-16s", claims=("records",))
async def a_hit_is_the_whole_record(trial: Trial) -> None:
    """A hit holds the record as `get` gives it, ended or not, and a score where there is a text."""
    records = await trial.records()
    chain = await records.chain("old tea", "new tea", tags=["t"], payload={"a": [1, 1.0]}, context="milk")
    for text in (None, "tea"):
        hits = await records.search(RecordQuery(text=text, include_invalidated=True))
        expect.ids([hit.record for hit in hits], chain, ordered=False)
        for hit in hits:
            expect.same_record(hit.record, next(record for record in chain if record.id == hit.record.id))
            expect.equal(type(hit.score), float if text else type(None), what="the type of the score")


async def _page_through(records: Records, query: RecordQuery) -> list[MemoryRecord]:
    found: list[MemoryRecord] = []
    after: str | None = None
    for _ in range(20):
        hits = await records.search(query.model_copy(update={"after": after}))
        found += [hit.record for hit in hits]
        if len(hits) < query.limit:
            return found
        after = hits[-1].cursor
    expect.that(False, expected="a last page, shorter than its limit", got=found)  # noqa: FBT003
    return found


async def _write_unrecorded(
    trial: Trial, records: Records, changes: Sequence[MemoryWrite | Invalidation]
) -> list[MemoryRecord]:
    """Write many records of which nobody wants to read one by one."""
    trial.step(f"write {len(changes)} changes")
    answer = await records.raw.write(changes)
    await trial.show_index()
    return answer


def _random_write(trial: Trial, *, word: str = "", user: str = "ada") -> MemoryWrite:
    tags = trial.random.sample(WORDS, trial.random.randrange(3))
    context = _random_text(trial, most=12) if trial.random.random() < 1 / 2 else None
    content = f"{_random_text(trial, most=10)} {word}"
    return trial.write(content, scope={"user": user}, tags=tags, context=context)


def _random_text(trial: Trial, *, most: int) -> str:
    return " ".join(trial.random.choices(WORDS, k=trial.random.randint(1, most)))


def _refused(key: str) -> expect.Raised[UnsupportedMemoryQuery]:
    return expect.raises(UnsupportedMemoryQuery, where=_rejects(key), what=f"of {key}")


def _rejects(key: str) -> Callable[[UnsupportedMemoryQuery], bool]:
    return lambda error: error.rejected_keys == (key,)
