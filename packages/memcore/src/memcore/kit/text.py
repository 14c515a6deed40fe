"""Analysis: text becomes words once, here, the same way for every backend; the engines index these words as they are.

A word is one run of letters and digits, folded so that texts which a reader would call equal become equal: compatibility
forms, case and accents are gone, and English endings are stemmed. Scripts that write no spaces become 1- and 2-grams. Each
emoji or other non-ASCII symbol is a word too. No word holds ASCII punctuation, blanks, capitals, controls or surrogates,
so every engine's simplest tokenizer keeps it whole.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from memcore.kit.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ANALYSIS_VERSION: Final = 1
"""Stored with every index; raised by any change that gives another word for some text."""
MAX_WORD_LENGTH: Final = 64
"""A longer word is cut to its first part, in texts and in queries, so that it is still found."""
MAX_WORDS: Final = 16_000
"""How many words of one object are indexed (I-45)."""
MAX_WORDS_BYTES: Final = 512 * 1024
"""How many bytes of UTF-8 the indexed words of one object have in sum (I-45)."""
MAX_QUERY_WORDS: Final = 512
"""How many different words of a query take part."""

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_CACHED_WORDS: Final = 1 << 16
_SAFE_COUNT: Final = MAX_WORDS_BYTES // (4 * MAX_WORD_LENGTH)  # so many words cannot be over the bound of bytes
_SHORT: Final = 3  # shorter words have no ending: the stemmer would leave nothing of "s"


def analyse(text: str) -> list[str]:
    """Return the words of a text in order, repeats included, within the indexing bounds."""
    return _bounded(_words(text), MAX_WORDS, MAX_WORDS_BYTES)


def analyse_query(text: str) -> list[str]:
    """Return the different words of a query in order, without stop words unless nothing else remains.

    At most `MAX_QUERY_WORDS`; none if the text has no word, which finds nothing (I-66).
    """
    words = _words(text)
    telling = [word for word in words if word not in STOP_WORDS] or words
    return list(islice(dict.fromkeys(map(_STEMS.__getitem__, telling)), MAX_QUERY_WORDS))


def analyse_item(content: object, tags: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of an item's searchable text and those of its tags (I-66).

    The indexing bounds hold for both together, and the tags come first: a long text never hides them.
    """
    tag_words = analyse("\n".join(tags)) if tags else []
    text = content if isinstance(content, str) else "\n".join(searchable_strings(content))
    left = MAX_WORDS_BYTES - _size(tag_words) if tag_words else MAX_WORDS_BYTES
    return _bounded(_words(text), MAX_WORDS - len(tag_words), left), tag_words


def searchable_strings(content: object) -> Iterator[str]:
    """Yield the content if it is a string, else every string inside it, in order (I-66).

    Keys are structure that many items share, not something that one of them says: only values are yielded.
    """
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from searchable_strings(part)


def date_words(created_at: float) -> tuple[str, ...]:
    """Return year, English month and day (UTC) as words, or none for a time that no calendar holds."""
    try:
        date = datetime.fromtimestamp(created_at, UTC)
    except (OverflowError, ValueError, OSError):
        return ()
    return (str(date.year), _STEMS[_MONTHS[date.month - 1]], str(date.day))


def _words(text: str) -> Iterable[str]:
    """Return the folded words, neither cut nor stemmed yet."""
    if text.isascii():
        return text.translate(_FOLDED).split()
    folded = unicodedata.normalize("NFKC", text).translate(_FOLDED)
    return _split(folded) if _DENSE.search(folded) else folded.split()
