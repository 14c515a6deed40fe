"""What a text finds by the `analysed` profile: any script, any punctuation, and never a command (I-66).

The sets are written out, and compared with the kit's analysis besides: they must not agree by a common mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memcore.kit.text import MAX_WORD_LENGTH, MAX_WORDS

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.reference import sharing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memcore import MemoryItem

    from memcore_conformance.trial import Trial

PUNCTUATED: Final = (
    "Ben's pre-paid card moves 40 MB/s to D:\\backup for host:17",
    "Deno.js and F# tools, end-to-end, written in C++",
    'she wrote "not before" (maybe) in red AND blue',
    "nothing of the kind",
    "start near the content, rowid, words, tag_words, namespace",
)
QUERIES: Final[Mapping[str, tuple[int, ...]]] = {
    "Ben's": (0,),
    "pre-paid": (0,),
    "prepaid": (),
    "MB/s": (0,),
    "host:17": (0,),
    "D:\\backup": (0,),
    "deno.js": (1,),
    "F#": (1,),
    "C++": (1,),
    "end-to-end": (1,),
    '"not before"': (2,),
    '"before not': (2,),
    "(maybe": (2,),
    "maybe)": (2,),
    "AND": (1, 2),
    "OR": (),
    "NOT red": (2,),
    "red AND NOT blue": (2,),
    "red OR": (2,),
    "kind -nothing": (3,),
    "kind !nothing": (3,),
    "+kind +missing": (3,),
    "NEAR(start content, 2)": (4,),
    "NEAR": (4,),
    "^start": (4,),
    "star*": (),
    "st%": (),
    "k_nd k%nd k?nd [a-k]ind": (),
    "rowid:1": (4,),
    "content:nothing": (3, 4),
    "{words tag_words}: kind": (3, 4),
    "- {words} : kind": (3, 4),
    "a & b | !c": (1,),
    "foo <-> kind:*": (3,),
    "'; DROP TABLE items; --": (),
    "' OR 1=1 --": (),
    "%s": (0,),
    "{0} $1 ?1 :1 @1": (),
    "kind\x00nothing": (3,),
    "kind\ud800": (3,),
    "\u2019 \u201ckind\u201d \u2026": (3,),
    "\\": (),
    '"': (),
    "*": (),
    "\u00a0\u3000\u200b\ufeff": (),
}
"""What each text finds among `PUNCTUATED`."""

SCRIPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "他在北京朝阳区工作": ("北京", "朝阳区", "工作吗"),
    "大阪タワーの隣に住む": ("大阪", "タワー", "隣"),
    "제 고향은 부산입니다": ("부산", "고향"),
    "แมวชอบนอนบนโซฟา": ("โซฟา", "แมว"),
    "ຂ້ອຍມັກກາເຟ": ("ກາເຟ",),
    "ខ្ញុំចូលចិត្តតែ": ("ចូលចិត្ត",),
    "Её зовут Мария": ("мария", "ЗОВУТ", "ее"),
    "أحب الشاي مع النعناع": ("الشاي", "النعناع"),
    "मुझे कॉफ़ी पसंद है": ("कॉफ़ी", "पसंद"),
    "Καλημέρα κόσμε": ("κόσμε", "ΚΑΛΗΜΕΡΑ"),
    "תה עם נענע": ("נענע",),
    "Բարև աշխարհ": ("ԱՇԽԱՐՀ",),
    "🎉 for the crew": ("🎉", "🎉🚀"),
    "🇳🇴 and 👍🏽": ("🇳🇴", "👍"),
    "room ٤٢": ("42",),
}
"""Texts, and what finds each of them and no other."""

SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "Crème brûlée in Żabłocie": ("creme", "BRÛLÉE", "bru\u0302le\u0301e", "zablocie"),
    "A\u030angstro\u0308m": ("ångström", "angstrom", "ÅNGSTRÖM"),
    "große Freude": ("GROSSE", "grosse", "GROẞE"),
    "ΛΌΓΟΣ": ("λόγος", "λογοσ"),
    "ＷＩＤＥ letters": ("wide", "Ｗide"),
    "ﬂour oﬃce": ("flour", "OFFICE"),
    "İzmir": ("izmir", "IZMIR", "ızmır"),
    "færøsk smørrebrød": ("faerosk", "SMORREBROD"),
    "Quartz\u2122 x\u00b2": ("quartz", "X2"),
    "co\u00adoperate wi\u200bth": ("cooperate",),
}
"""Texts, and spellings by which a reader would look for each of them."""

_NESTED: Final[tuple[Any, ...]] = (
    {"walrus": "in a value", "n": [1, {"deep": ["a heron", None, True]}]},
    ["heron", ["walrus"]],
    "badger",
    42,
)


@case("I-66d", claims=("items", "analysed"))
async def user_text_is_never_syntax(trial: Trial) -> None:
    """Quotes, operators, wildcards, column names and controls in a text part its words and do nothing else."""
    items = await trial.items()
    given = [trial.item(text) for text in PUNCTUATED]
    await items.keep(*given)
    for text, places in QUERIES.items():
        expect.ids(await items.find(text), [given[place] for place in places], ordered=False)


@case("I-66e", claims=("items", "analysed"))
async def words_are_found_in_every_script(trial: Trial) -> None:
    """A part of a text is found in any script, with spaces between its words or without, and so is a symbol."""
    await _finds_each(trial, SCRIPTS)


@case("I-66f", claims=("items", "analysed"))
async def spellings_that_read_alike_are_one(trial: Trial) -> None:
    """Case, accents, composition, width, ligatures and joiners make no difference to what is found."""
    await _finds_each(trial, SPELLINGS)


@case("I-66g", claims=("items", "analysed"))
async def the_set_is_that_of_the_analysis(trial: Trial) -> None:
    """Any of many texts and queries: what matches is what the analysis of the kit says, no more and no less."""
    items = await trial.items()
    words = [spelling for spellings in (SCRIPTS, SPELLINGS) for part in spellings.items() for spelling in part[1]]
    texts: list[Any] = [*PUNCTUATED, *SCRIPTS, *SPELLINGS, *_NESTED]
    given = [trial.item(text, tags=trial.random.sample([*words, *QUERIES], 2)) for text in texts]
    await items.keep(*given)
    for text in trial.random.sample([*QUERIES, *SCRIPTS, *SPELLINGS, *words], 50):
        wanted = sharing(given, text)
        expect.ids(await items.find(text, limit=len(given)), wanted, ordered=False)


@case("I-66h", claims=("items", "analysed"))
async def every_string_inside_is_searchable(trial: Trial) -> None:
    """Words are found in every string inside the content and in tags, and not in keys or metadata."""
    items = await trial.items()
    metadata = {"metadata": {"badger": "heron"}} if "metadata" in trial.claims.names else {}
    mapping, listing, text, number = (trial.item(content, **metadata) for content in _NESTED)
    tagged = trial.item(None, tags=["a red Fox", "heron"])
    await items.keep(mapping, listing, text, number, tagged)
    wanted = {"walrus": [listing], "heron": [mapping, listing, tagged], "badger": [text], "foxes": [tagged]}
    for word, found in wanted.items():
        expect.ids(await items.find(word), found, ordered=False)
    for nowhere in ("42", "deep", "true", "none"):
        expect.ids(await items.find(nowhere), [])


@case("I-66i", claims=("items", "analysed"))
async def stop_words_count_where_nothing_else_remains(trial: Trial) -> None:
    """Words that say how a question is asked find nothing beside others, and are looked for when alone."""
    items = await trial.items()
    band, tea = trial.item("the who"), trial.item("tea is what we drink")
    await items.keep(band, tea)
    expect.ids(await items.find("the tea"), [tea])
    expect.ids(await items.find("who is it"), [band, tea], ordered=False)
    expect.ids(await items.find("Who?"), [band])


@case("I-66j", claims=("items", "analysed"))
async def long_words_are_found(trial: Trial) -> None:
    """A word that is longer than an index takes is kept, and found by its first part."""
    items = await trial.items()
    long = trial.item("x" * (MAX_WORD_LENGTH + 5_000))
    short = trial.item("x" * (MAX_WORD_LENGTH - 1))
    await items.keep(long, short)
    for length in (MAX_WORD_LENGTH, MAX_WORD_LENGTH + 1, 100_000):
        expect.ids(await items.find("x" * length), [long])
    expect.ids(await items.find("x" * (MAX_WORD_LENGTH - 1)), [short])


@case("I-66k", claims=("items", "analysed"))
async def what_was_replaced_is_not_found(trial: Trial) -> None:
    """After a replacement an item is found by what it holds now, and by nothing that it held."""
    items = await trial.items()
    first = trial.item("tea", tags=["warm drink"], created_at=5.0)
    second = trial.item(["coffee"], id=first.id, tags=["cold"], created_at=1.0)
    other = trial.item("water", created_at=3.0)
    await items.keep(first, other)
    await items.store(second)
    await trial.show_index()
    for text, found in {"tea": [], "drink": [], "coffee": [second], "cold": [second]}.items():
        expect.ids(await items.find(text), found)
    for tag, found in {"warm drink": [], "cold": [second]}.items():
        expect.ids(await items.find(tags=[tag]), found)
    expect.ids(await items.find("coffee water"), [other, second])


@case("I-45m", claims=("items", "analysed"))
async def the_first_part_of_a_long_text_is_searchable(trial: Trial) -> None:
    """A text with more words than are indexed is kept whole, found by those that are, and by its tags."""
    items = await trial.items()
    item = trial.item(f"first {'x ' * (MAX_WORDS - 3)} edge beyond", tags=["tagged"])
    await items.keep(item)
    for text, found in {"first": [item], "tagged": [item], "beyond": []}.items():
        expect.ids(await items.find(text), found)
    expect.ids(await items.find("edge"), sharing([item], "edge"))


async def _finds_each(trial: Trial, queries: Mapping[str, Sequence[str]]) -> None:
    """Store every text, and find each by its queries, and no other."""
    items = await trial.items()
    given: dict[str, MemoryItem] = {text: trial.item(text) for text in queries}
    await items.keep(*given.values())
    for text, spellings in queries.items():
        for spelling in spellings:
            expect.ids(await items.find(spelling), [given[text]])
