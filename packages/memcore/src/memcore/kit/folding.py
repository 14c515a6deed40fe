"""Folding: what one character becomes, so that texts which a reader would call equal become equal.

Case, accents, joiners and variants go; digits of every script become ASCII digits; all that separates words is a blank.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

FLAG_LETTERS: Final = "\U0001f1e6-\U0001f1ff"
"""The range of the letters of which two make a flag, for use inside a pattern."""

_SECOND_PLANE_END: Final = 0x20000
_GLUED: Final = re.compile("[™℠¼-¾⅐-⅞]")  # NFKC alone would make one word of "Tea™" and one number of "5½"
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160"  # grapheme joiner, Hangul fillers
    "\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef\U0001f3fb-\U0001f3ff]"  # variation selectors, skin tones
)
_APOSTROPHE: Final = re.compile("[\u02b9-\u02bf]")  # a letter by category alone
_FLAG_LETTER: Final = re.compile(f"[{FLAG_LETTERS}]")
_RESPELT: Final = str.maketrans("ıłøđðħŧ", "iloddht") | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})
_ACCENTS: Final = frozenset((1, *range(10, 37), *range(200, 241)))
"""The combining classes of accents, Hebrew points and harakat.

The others spell a word: vowel signs, viramas, nuktas, tones of Thai and Lao, kana voicing.
"""


def fold(text: str) -> str:
    """Return a text as words parted by blanks, whatever it holds: U+0000 and lone surrogates part words too."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _GLUED.sub(r" \g<0> ", text))
    return text.translate(_TABLE)


def _fold(char: str) -> str:
    """Return what a character of NFKC text becomes: nothing, a blank, a part of a word, or a word of its own."""
    category = unicodedata.category(char)
    if category in {"Cf", "Me"} or _INVISIBLE.match(char):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category[0] in "LMN" and not _APOSTROPHE.match(char):
        return _fold_letter(char)
    if _FLAG_LETTER.match(char):
        return char
    if char.isascii() or category[0] in "LPZ" or category in {"Cc", "Cs"} or char == "\N{FRACTION SLASH}":
        return " "
    return f" {char} "  # a symbol, or a character that is private or newer than this interpreter: mostly an emoji


def _fold_letter(char: str) -> str:
    parts = unicodedata.normalize("NFKD", char.casefold()).translate(_RESPELT)
    return unicodedata.normalize("NFC", "".join(part for part in parts if unicodedata.combining(part) not in _ACCENTS))


class _Table(dict[int, str]):
    """A table for `str.translate`, filled as characters are met; beyond the second plane they are too rare to keep."""

    def __missing__(self, code: int) -> str:
        folded = _fold(chr(code))
        if code < _SECOND_PLANE_END:
            self[code] = folded
        return folded


_TABLE: Final = _Table()
