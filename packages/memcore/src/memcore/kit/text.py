"""Analysis: text becomes words once, here, the same way for every backend; the engines index these words as they are.

A word is a run of letters and digits in any script, folded and without its ending. Scripts that write no spaces become
1- and 2-grams. Each emoji or other non-ASCII symbol is a word too. No word holds ASCII punctuation, blanks, capitals,
controls or surrogates: the simplest tokenizer of an engine keeps it whole, and nothing in it can be an operator.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Final

from memcore.kit.folding import FLAG_LETTERS, fold
from memcore.kit.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ANALYSIS_VERSION: Final = 1
"""Stored with every index; any change that gives another word for some text raises it."""
MAX_WORD_LENGTH: Final = 64
"""Longer words are cut to their first part, in texts and in queries, so that they are still found."""
MAX_WORDS: Final = 16_000
"""How many words of one object are indexed (I-45)."""
MAX_WORDS_BYTES: Final = 512 * 1024
"""How many bytes of UTF-8 the indexed words of one object have together (I-45)."""
MAX_QUERY_WORDS: Final = 512
"""How many different words of one query are searched for: engines limit the size of an expression."""

_EPOCH: Final = date(1970, 1, 1)
_MONTHS: Final = "January February March April May June July August September October November December"
_CACHED_STEMS: Final = 1 << 16
_MAX_WORD_BYTES: Final = 4 * MAX_WORD_LENGTH

# Han, kana, Hangul, Bopomofo, Thai, Lao, Khmer, Myanmar; folding leaves only letters inside these ranges.
_DENSE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_HAS_UNSPACED: Final = re.compile(f"[{_DENSE}{FLAG_LETTERS}]")
_PARTS: Final = re.compile(f"([{_DENSE}]+)|[{FLAG_LETTERS}]{{1,2}}|[^ {_DENSE}{FLAG_LETTERS}]+")


def analyse(text: str) -> list[str]:
    """Return the words of a text in order, repeats included, within the indexing bounds."""
    return _stem_all(_words(text), MAX_WORDS_BYTES)


def analyse_query(text: str) -> list[str]:
    """Return the different words of a query in order, without stop words unless nothing else remains.

    A text without a word gives none, and finds nothing (I-66).
    """
    words = _words(text)
    telling = [word for word in words if word not in STOP_WORDS] or words
    return list(islice(dict.fromkeys(map(_STEMS.__getitem__, telling)), MAX_QUERY_WORDS))


def analyse_item(content: object, tags: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of an item's searchable text and the words of its tags (I-66).

    The bounds hold for both together. Tags go first: no text is so long that it hides them.
    """
    text = content if isinstance(content, str) else "\n".join(searchable_strings(content))
    if not tags:
        return analyse(text), []
    tag_words = analyse("\n".join(tags))
    left = MAX_WORDS - len(tag_words)
    return _stem_all(_words(text)[:left], MAX_WORDS_BYTES - sum(map(_size, tag_words))), tag_words


def analyse_record(content: str, tags: Sequence[str], context: str | None) -> tuple[list[str], list[str], list[str]]:
    """Return the words of a record's content, of its tags, and of its context, within the bounds of one object.

    The context goes last: however long it is, it hides nothing.
    """
    words, tag_words = analyse_item(content, tags)
    if not context:
        return words, tag_words, []
    left = MAX_WORDS - len(words) - len(tag_words)
    size = sum(map(_size, words)) + sum(map(_size, tag_words))
    return words, tag_words, _stem_all(_words(context)[:left], MAX_WORDS_BYTES - size)


def searchable_strings(content: object) -> Iterator[str]:
    """Yield the content if it is a string, else every string inside it, in order (I-66).

    Keys are not among them: they are the form that many items share, not what one of them says.
    """
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from searchable_strings(part)


def date_words(created_at: float) -> tuple[str, ...]:
    """Return year, English month and day of a time in UTC as words; none for a time that no calendar has."""
    try:
        return _words_of_day(int(created_at // 86_400))
    except (OverflowError, ValueError):
        return ()


def may_be_date(word: str) -> bool:
    """Tell whether `date_words` gives this word for some time."""
    return (word.isascii() and word.isdigit()) or word in _month_words()


@lru_cache(maxsize=4096)
def _words_of_day(day: int) -> tuple[str, ...]:
    then = _EPOCH + timedelta(days=day)
    return str(then.year), _month_words()[then.month - 1], str(then.day)


@cache
def _month_words() -> tuple[str, ...]:
    return tuple(analyse(_MONTHS))


def _words(text: str) -> list[str]:
    """Return the words within the bound of their number, folded, but neither cut nor stemmed."""
    folded = fold(text)
    if not folded.isascii() and _HAS_UNSPACED.search(folded):
        return list(islice(_parts(folded), MAX_WORDS))
    return folded.split()[:MAX_WORDS]


def _parts(folded: str) -> Iterator[str]:
    """Yield the words of a text that spaces do not separate everywhere, in order, so that a bound keeps the first."""
    for part in _PARTS.finditer(folded):
        run = part[1]
        if run is None:
            yield part[0]
            continue
        yield run[0]
        for first, second in pairwise(run):
            yield first + second
            yield second


def _stem_all(words: list[str], max_bytes: int) -> list[str]:
    stems = list(map(_STEMS.__getitem__, words))
    if len(stems) * _MAX_WORD_BYTES <= max_bytes:
        return stems
    ends = accumulate(map(_size, stems))
    return [stem for stem, end in zip(stems, ends, strict=True) if end <= max_bytes]


def _size(word: str) -> int:
    return len(word.encode())


class _Stems(dict[str, str]):
    """The stems of the words seen of late; a look-up in a dictionary is the fastest way there is."""

    def __missing__(self, word: str) -> str:
        if len(word) > MAX_WORD_LENGTH:
            return self[word[:MAX_WORD_LENGTH]]
        if len(self) >= _CACHED_STEMS:
            self.clear()
        stem = self[word] = _stem(word)
        return stem


def _stem(word: str) -> str:
    """Return the stem by the rules for the script that the word begins in."""
    for first, last, shortest, stem in _stemmers():
        if first <= word[0] <= last:
            return (stem(word) or word) if len(word) >= shortest else word
    return word


@cache
def _stemmers() -> tuple[tuple[str, str, int, Callable[[str], str]], ...]:
    """Load the stemmers: each with its range of first letters, and the length from which a word can have an ending.

    These three have given the same stems in every release for years; "english", no better here, changes with most.
    Each call makes a stemmer of its own, since it holds the word that it works on: threads may analyse at once.
    """
    from snowballstemmer.arabic_stemmer import ArabicStemmer  # noqa: PLC0415 - costs 30 ms: at the first analysis
    from snowballstemmer.porter_stemmer import PorterStemmer  # noqa: PLC0415
    from snowballstemmer.russian_stemmer import RussianStemmer  # noqa: PLC0415

    return (
        ("0", "z", 3, lambda word: PorterStemmer().stemWord(word) if word.endswith(_ENGLISH_ENDINGS) else word),
        ("\u0400", "\u052f", 1, lambda word: RussianStemmer().stemWord(word)),
        ("\u0600", "\u06ff", 1, lambda word: ArabicStemmer().stemWord(word)),
    )


# All that the algorithm ever takes off or changes ends so; asking first saves most words its twenty microseconds.
_ENGLISH_ENDINGS: Final = (
    *("s", "e", "y", "ed", "ing", "ll", "al", "er", "ic", "ant", "ent", "ion", "ism", "iti", "ou", "li", "ci"),
    *("ator", "ful"),
)
_STEMS: Final = _Stems()
