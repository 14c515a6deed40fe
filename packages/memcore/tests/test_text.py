"""Analysis: which words a text has, and that they are the same for all that a reader would call equal (I-45, I-66)."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from string import ascii_lowercase
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from memcore.kit import folding
from memcore.kit import text as text_module
from memcore.kit.text import (
    ANALYSIS_VERSION,
    MAX_QUERY_WORDS,
    MAX_WORD_LENGTH,
    MAX_WORDS,
    MAX_WORDS_BYTES,
    analyse,
    analyse_item,
    analyse_query,
    date_words,
    may_be_date,
    searchable_strings,
)
from snowballstemmer.porter_stemmer import PorterStemmer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GLUED_SIGNS = "™℠" + "".join(map(chr, (*range(0xBC, 0xBF), *range(0x2150, 0x215F))))
ENGLISH_ENDINGS = (
    *(
        "",
        "s",
        "es",
        "ies",
        "sses",
        "eed",
        "ed",
        "ing",
        "tted",
        "y",
        "ational",
        "tional",
        "enci",
        "anci",
        "izer",
        "abli",
    ),
    *("abli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator", "alism", "iveness", "fulness", "ousness"),
    *(
        "aliti",
        "iviti",
        "biliti",
        "icate",
        "ative",
        "alize",
        "iciti",
        "ical",
        "ful",
        "ness",
        "al",
        "ance",
        "ence",
        "er",
        "ic",
    ),
    *("able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "ll"),
)
any_text = st.text(st.characters(), max_size=40)  # surrogates and U+0000 included


def finds(query: str, text: str) -> bool:
    """Tell whether every word of the query is one of the text's."""
    words = analyse_query(query)
    return bool(words) and set(words) <= set(analyse(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Grüße aus Malmö", "GRUSSE AUS MALMO", id="case, accents, sharp s"),
        pytest.param("crème brûlée", unicodedata.normalize("NFD", "crème brûlée"), id="composed, decomposed"),
        pytest.param("DİYARBAKIR ışık", "diyarbakir isik", id="Turkish i with and without dot"),
        pytest.param("Wałęsa, Sørensen, Đorđe, Ħamrun", "walesa sorensen dorde hamrun", id="strokes through letters"),
        pytest.param("Ærø, œuvre, Þór", "aero oeuvre thor", id="joined letters"),
        pytest.param("ΟΔΥΣΣΕΥΣ", "οδυσσεύς", id="final sigma"),
        pytest.param("Пётр, за́мок", "петр замок", id="Cyrillic accents"),
        pytest.param("ｔｏｋｙｏ　２０２５", "tokyo 2025", id="full width"),
        pytest.param("ﾄﾞﾘﾝｸ", "ドリンク", id="half width with voicing"),
        pytest.param("eﬃcient ﬂow", "efficient flow", id="ligatures"),
        pytest.param("𝓈𝒾𝑔𝓃𝑒𝒹", "signed", id="mathematical letters"),
        pytest.param("s\u0336a\u0336l\u0336e\u0336", "sale", id="letters struck through"),
        pytest.param("كِتَابٌ جَمِيـــل", "كتاب جميل", id="harakat and tatweel"),
        pytest.param("יְרוּשָׁלַיִם", "ירושלים", id="Hebrew points"),
        pytest.param("١٥ ۱۵ १५ ๑๕", "15 15 15 15", id="digits"),
        pytest.param(
            "co\u00adoperate \ufefftea \u200fp\u034fot", "cooperate tea pot", id="soft hyphen, marks, joiners"
        ),
        pytest.param("می\u200cخواهم", "میخواهم", id="zero width non-joiner"),
        pytest.param("qur\u02bean", "qur'an", id="apostrophe that is a letter by category"),
        pytest.param("❤\ufe0f 👍🏽 3\ufe0f\u20e3", "❤ 👍 3", id="variants, skin tones, keycaps"),
    ],
)
def test_what_a_reader_calls_equal_has_equal_words(one: str, other: str) -> None:
    assert analyse(one) == analyse(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [("किताब", "कताब"), ("かき", "がき"), ("ปา", "ป่า"), ("ক্ষ", "কষ"), ("ក្រ", "ករ")],
    ids=["Devanagari vowel sign", "kana voicing", "Thai tone", "Bengali virama", "Khmer coeng"],
)
def test_marks_that_spell_a_word_are_kept(one: str, other: str) -> None:
    assert analyse(one) != analyse(other)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("我们下周去杭州看西湖", "杭州"),
        ("我们下周去杭州看西湖", "湖"),
        ("明日は図書館でアルバイトします", "図書館"),
        ("明日は図書館でアルバイトします", "バイト"),
        ("저는 부산에서 학교를 다닙니다", "부산"),
        ("เมื่อวานฉันซื้อหนังสือใหม่", "หนังสือ"),
        ("ຂ້ອຍມັກກິນເຂົ້າໜຽວ", "ເຂົ້າ"),
        ("ខ្ញុំចូលចិត្តញ៉ាំបាយ", "បាយ"),
        ("ကျွန်တော်ထမင်းစားတယ်", "ထမင်း"),
        ("ㄅㄆㄇ", "ㄆㄇ"),
        ("𠮷野家で食べた", "𠮷野"),
    ],
)
def test_any_piece_of_a_script_without_spaces_is_found(text: str, piece: str) -> None:
    assert finds(piece, text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Сестра переехала в Казань", "казань"),
        ("Η γιαγιά μαγειρεύει φακές", "ΦΑΚΈΣ"),
        ("أختي تسكن في مراكش", "مراكش"),
        ("אחותי גרה בחיפה", "בחיפה"),
        ("मेरी बहन दिल्ली में रहती है", "दिल्ली"),
        ("என் தங்கை சென்னையில் வசிக்கிறாள்", "தங்கை"),
        ("ჩემი და თბილისში ცხოვრობს", "თბილისში"),
        ("Քույրս ապրում է Երևանում", "երևանում"),
        ("እህቴ አዲስ አበባ ትኖራለች", "አበባ"),
    ],
)
def test_a_word_of_any_script_with_spaces_is_found(text: str, word: str) -> None:
    assert finds(word, text)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Ada’s sister won’t re-use it", ["ada's", "ada", "won't", "re-use", "use"]),
        ("call parse_config in app/main.py:80", ["parse_config", "config", "main.py", "app/main", "py:80"]),
        ("C++ and Node.js at 5 GB/s, 3.5 %", ["C++", "node.js", "gb/s", "3.5"]),
        ("write to ann.lee@example.org", ["ann.lee@example.org", "example.org", "lee"]),
        ("see https://example.org/a?b=tea#top", ["https://example.org", "b=tea", "#top"]),
    ],
)
def test_punctuation_splits_and_the_parts_match(text: str, queries: list[str]) -> None:
    missed = [query for query in queries if not finds(query, text)]

    assert missed == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('"open AND close', ["open", "close"]),
        ("NEAR(cup kettle, 2)", ["near", "cup", "kettl", "2"]),
        ("content:cup OR rowid:1", ["content", "cup", "rowid", "1"]),
        ("-cup ^kettle pot*", ["cup", "kettl", "pot"]),
        ("cup & !pot | (tea:*)", ["cup", "pot", "tea"]),
        ("'); DROP TABLE cups; --", ["drop", "tabl", "cup"]),
        ("{pan} [a-z]+ $1 %s \\", ["pan", "z", "1"]),
    ],
)
def test_no_text_is_an_operator(query: str, words: list[str]) -> None:
    assert analyse_query(query) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [("水曜日", "水 水曜 曜 曜日 日"), ("한국", "한 한국 국"), ("𠮷野", "𠮷 𠮷野 野"), ("ไทย", "ไ ไท ท ทย ย")],
)
def test_a_dense_run_becomes_single_characters_and_pairs(text: str, words: str) -> None:
    assert analyse(text) == words.split()


def test_latin_and_digits_inside_a_dense_script_are_words_of_their_own() -> None:
    assert analyse("我用Python3写代码") == ["我", "我用", "用", "python3", "写", "写代", "代", "代码", "码"]


@pytest.mark.parametrize(
    "text",
    ["", "  \t\r\n", "\u00a0\u3000\u2028", "?!", "... -- …", "_'’-", "\u200b\ufe0f", "\u3164\u115f", "\x00\ud800"],
)
def test_a_text_without_a_word_has_none(text: str) -> None:
    assert analyse_query(text) == []


def test_each_emoji_and_symbol_is_a_word() -> None:
    assert analyse("tea☕for👩‍💻 at 5€→now") == ["tea", "☕", "for", "👩", "💻", "at", "5", "€", "→", "now"]


def test_a_flag_is_one_word() -> None:
    assert analyse("from🇮🇸🇯🇵!") == ["from", "🇮🇸", "🇯🇵"]


def test_signs_that_normalisation_would_glue_to_a_word_part_from_it() -> None:
    assert analyse("Kettle™ holds 1½ cups") == analyse("kettle tm holds 1 1/2 cups")


def test_surrogates_and_nul_part_words() -> None:
    assert analyse("cup\ud83dpot\x00pan\udc00") == ["cup", "pot", "pan"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hiking", "hiked"),
        ("families", "family"),
        ("naïvely", "naive"),
        ("сестрами", "сестра"),
        ("المدرسة", "مدرسة"),
    ],
)
def test_inflected_forms_share_a_word(one: str, other: str) -> None:
    assert finds(one, other)


def test_words_of_one_and_two_letters_stay() -> None:
    assert analyse("is as us s") == ["is", "as", "us", "s"]


def test_a_query_leaves_out_stop_words() -> None:
    assert analyse_query("Where did she put the blue kettle?") == ["put", "blue", "kettl"]


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    assert analyse_query("who are you") == ["who", "ar", "you"]


def test_a_text_keeps_stop_words() -> None:
    assert finds("to be or not", "to be or not to be")


@pytest.mark.parametrize("name", ["May", "Will", "US", "D"])
def test_what_may_be_a_name_is_no_stop_word(name: str) -> None:
    assert analyse_query(f"the {name} report") == analyse(f"{name} report")


def test_a_query_has_each_word_once_in_order() -> None:
    assert analyse_query("tea, Tea pots and tea pot") == ["tea", "pot"]


def test_a_long_word_is_found_by_its_first_part() -> None:
    word = "x" * 5000

    assert finds(word, word)
    assert analyse(word) == [word[:MAX_WORD_LENGTH]]


def test_a_long_word_does_not_stay_in_memory() -> None:
    analyse("y" * 5000)

    assert max(map(len, text_module._STEMS)) <= MAX_WORD_LENGTH


def test_only_characters_of_the_first_planes_stay_in_memory() -> None:
    analyse("é 𠮷 \U0003ffff")

    assert ord("é") in folding._TABLE
    assert max(folding._TABLE) < 0x20000


def numbered(count: int) -> Iterator[str]:
    return (f"w{number}" for number in range(count))


@pytest.mark.parametrize("extra", [0, 1, 1000])
def test_the_words_of_a_text_are_bounded_by_number(extra: int) -> None:
    assert analyse(" ".join(numbered(MAX_WORDS + extra))) == list(numbered(MAX_WORDS))


def test_a_dense_run_is_bounded_from_its_start() -> None:
    run = "一" + "水" * MAX_WORDS + "山"

    words = analyse(run)

    assert (len(words), words[0], "山" in words) == (MAX_WORDS, "一", False)


def test_the_words_of_a_text_are_bounded_by_bytes() -> None:
    words = analyse(" ".join(f"{'ა' * (MAX_WORD_LENGTH - 5)}{number:05}" for number in range(MAX_WORDS)))

    used = sum(len(word.encode()) for word in words)
    assert MAX_WORDS_BYTES - 4 * MAX_WORD_LENGTH < used <= MAX_WORDS_BYTES


def test_the_words_of_a_query_are_bounded() -> None:
    assert analyse_query(" ".join(numbered(MAX_QUERY_WORDS + 1))) == list(numbered(MAX_QUERY_WORDS))


def test_text_and_tags_share_the_bounds_and_the_tags_stay() -> None:
    words, tag_words = analyse_item(" ".join(numbered(MAX_WORDS)), ["blue kettle"])

    assert words == list(numbered(MAX_WORDS - 2))
    assert tag_words == ["blue", "kettl"]


def test_text_and_tags_share_the_bound_of_bytes() -> None:
    tags = [f"{'ა' * 50}{number:05}" for number in range(2000)]

    words, tag_words = analyse_item(" ".join(f"{'ბ' * 50}{number:05}" for number in range(9000)), tags)

    used = sum(len(word.encode()) for word in [*words, *tag_words])
    assert len(tag_words) == len(tags)
    assert MAX_WORDS_BYTES - 4 * MAX_WORD_LENGTH < used <= MAX_WORDS_BYTES


def test_an_item_has_the_words_of_its_text_and_of_its_tags_apart() -> None:
    assert analyse_item("Blue kettles", ["user:42", "Kitchen"]) == (["blue", "kettl"], ["user", "42", "kitchen"])


def test_every_string_inside_a_content_is_searchable_and_no_key_is() -> None:
    content = {"title": "tea", "steps": ["boil", {"then": "pour"}, 3, None, True], "note": ""}

    assert list(searchable_strings(content)) == ["tea", "boil", "pour", ""]


@pytest.mark.parametrize("content", [None, 42, 1.5, True, [], {}, [[{}]]])
def test_a_content_without_strings_has_no_words(content: object) -> None:
    assert analyse_item(content, []) == ([], [])


def test_strings_of_one_content_do_not_run_together() -> None:
    assert analyse_item(["north", "pole"], ["a", "b"]) == (["north", "pole"], ["a", "b"])


@pytest.mark.parametrize(
    ("created_at", "words"),
    [
        (0.0, ("1970", "januari", "1")),
        (1_709_251_199.9, ("2024", "februari", "29")),
        (-1.0, ("1969", "decemb", "31")),
    ],
)
def test_a_date_is_year_month_and_day_in_utc(created_at: float, words: tuple[str, ...]) -> None:
    assert date_words(created_at) == words


@pytest.mark.parametrize("created_at", [1e300, -1e300, 1e15, -1e15, math.inf, math.nan])
def test_a_time_beyond_the_calendar_has_no_date(created_at: float) -> None:
    assert date_words(created_at) == ()


@given(st.floats(min_value=-6e10, max_value=2.5e11))
def test_every_word_of_a_date_may_be_a_date(created_at: float) -> None:
    assert [word for word in date_words(created_at) if not may_be_date(word)] == []


@pytest.mark.parametrize("word", ["tea", "x2023", "½", "", "mayb"])
def test_other_words_are_no_date(word: str) -> None:
    assert not may_be_date(word)


@given(any_text)
@example("a\x00b\ud800\udc00\uffff")
@example("İß™½ﷺ")
def test_every_word_is_plain(text: str) -> None:
    for word in analyse(text):
        ascii_part = {char for char in word if char.isascii()}
        assert word
        assert ascii_part <= {*ascii_lowercase, *"0123456789"}
        assert not any(char.isspace() or unicodedata.category(char) in {"Cc", "Cs"} for char in word)


@given(any_text)
@example("Å ガ 각 ሴ़")
def test_canonical_forms_have_the_same_words(text: str) -> None:
    composed, decomposed = (analyse(unicodedata.normalize(form, text)) for form in ("NFC", "NFD"))

    assert composed == decomposed == analyse(text)


@given(st.text(st.characters(exclude_characters=GLUED_SIGNS), max_size=40))
@example("ﬁ ｶﾞ ㎏ Ⅷ ﷺ")
def test_compatibility_forms_have_the_same_words(text: str) -> None:
    composed, decomposed = (analyse(unicodedata.normalize(form, text)) for form in ("NFKC", "NFKD"))

    assert composed == decomposed == analyse(text)


@given(any_text)
@example("ŉΣςſßıİᾼ")
@pytest.mark.parametrize("change", [str.lower, str.upper, str.casefold, str.swapcase])
def test_case_does_not_matter(change: Callable[[str], str], text: str) -> None:
    assert analyse(change(text)) == analyse(text)


@given(any_text)
def test_an_item_is_found_by_its_own_text(text: str) -> None:
    assert set(analyse_query(text)) <= set(analyse(text))
    assert bool(analyse_query(text)) == bool(analyse(text))


@given(st.lists(any_text, min_size=1, max_size=5))
@example(["NEAR OR NOT", "Ünï 水曜日 👍 \uffff"])
def test_words_survive_the_simplest_tokenizer_of_an_engine(texts: list[str]) -> None:
    words = {word for text in texts for word in analyse(text)}
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE indexed USING fts5(words, tokenize = 'ascii')")
    database.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(indexed, 'row')")
    database.execute("INSERT INTO indexed VALUES (?)", (" ".join(words),))

    kept = {term for (term,) in database.execute("SELECT term FROM vocabulary")}

    database.close()
    assert kept == words


@pytest.fixture
def _busy_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_busy_threads")
def test_threads_analyse_at_once() -> None:
    words = [f"{first}{second}ationalizing" for first in ascii_lowercase for second in ascii_lowercase]
    texts = [" ".join(words[start::4]) for start in range(4)]

    text_module._STEMS.clear()
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(analyse, texts))
    text_module._STEMS.clear()

    assert at_once == [analyse(text) for text in texts]


@given(st.text(ascii_lowercase, min_size=1, max_size=8), st.sampled_from(ENGLISH_ENDINGS))
def test_english_words_have_the_stems_of_the_algorithm(word: str, ending: str) -> None:
    assert analyse(word + ending) == [PorterStemmer().stemWord(word + ending) or word + ending]


def test_the_stemmers_are_loaded_at_the_first_analysis() -> None:
    script = "import sys, memcore.kit.text as t; assert 'snowballstemmer' not in sys.modules; t.analyse('teas')"

    subprocess.run([sys.executable, "-c", f"{script}; assert 'snowballstemmer' in sys.modules"], check=True)


def test_the_words_of_a_version_never_change() -> None:
    sample = "Ada’s 2 kettles boiled generously; Straße № 5, школами, والمدرسة, 東京タワー, किताबें 👍🏽 ½™"

    assert (ANALYSIS_VERSION, " ".join(analyse(sample))) == (
        1,
        "ada s 2 kettl boil gener strass no 5 школ والمدرس 東 東京 京 京タ タ タワ ワ ワー ー किताबें 👍 1 2 tm",
    )
