"""Detection and decoding of Shift_JIS as Windows writes it (CP932).

Almost any bytes are valid CP932: ``Ñ`` in Latin-1 is the half-width katakana ``ﾑ``, and ``é`` forms a rare
kanji with the following letter. A wrong decoding changes no number and moves no cell, because second bytes
are never digits, commas, quotation marks or line ends. But it changes words. Therefore, CP932 is accepted
only if most words cannot be words of a language that uses another code page.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import islice, takewhile

_WORD_PATTERN = re.compile("[A-Za-z]*[^\x00-\x7f][A-Za-z\x80-\uffff]*")
_MAX_WORDS = 10_000
_IMPOSSIBLE_PATTERN = re.compile("[\ue000-\uf8ff\x80\xa0]")
"""Characters that Python decodes from bytes that no CP932 text contains."""

_LETTER_PATTERN = r"[^\W\d_]"
_SPELLING_PATTERN = re.compile(
    rf"[¿¡«]?({_LETTER_PATTERN}+(?:[’·\xad]{_LETTER_PATTERN}+|(?<={_LETTER_PATTERN}{{2}})[–—]{_LETTER_PATTERN}{{2,}})*)’?[»°²³]?"
    r"|’[dklmnrstv]"
)
"""A word with punctuation at its ends, or the rest after an apostrophe, such as the Dutch ’t."""
_WESTERN_LETTERS = (
    "àâæçèéêëîïôœùûüÿ",  # French
    "äöüßé",  # German
    "áéíñóúü",  # Spanish, Irish
    "àáâãçéêíóôõúü",  # Portuguese
    "àèéìíîòóùú",  # Italian
    "àçèéíïòóúü",  # Catalan
    "åäöéàüšž",  # Swedish, Finnish
    "æøåéèêóòôüä",  # Danish, Norwegian
    "áàâäéèêëíïóöôúûü",  # Dutch, Welsh
    "áðéíóúýþæöø",  # Icelandic, Faroese
    "äõöüšž",  # Estonian
)
_CENTRAL_LETTERS = (
    "áéíóöőúüű",  # Hungarian
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýžäľĺŕô",  # Czech, Slovak
    "čćđšž",  # Slovenian, Croatian
    "ăâîşţ",  # Romanian
)
_SIMILAR_PAGES = {
    "cp1252": _WESTERN_LETTERS,
    "iso8859-15": _WESTERN_LETTERS,
    "cp1250": _CENTRAL_LETTERS,
    "iso8859-2": _CENTRAL_LETTERS,
    "cp1254": ("çğıöşüâîû",),  # Turkish
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž"),  # Lithuanian, Latvian
}
"""Letters other than a to z of each language, by code page."""
_CYRILLIC_LETTERS = ("абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґўђѓјљњћќџѕ",)
_GREEK_LETTERS = ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",)
_DISTANT_PAGES = {"cp1251": _CYRILLIC_LETTERS, "koi8-r": _CYRILLIC_LETTERS, "cp1253": _GREEK_LETTERS}
"""Code pages whose capitals are the half-width katakana of CP932. Words that may be in them do not count."""
_VOWELS = frozenset("aeiouyæœøıаеиоуыэюяєіїαεηιουω")
_KANA_PATTERN = re.compile("[ぁ-んァ-ヶー]")


class NotShiftJis(ValueError):
    """Raised for content that is not certainly CP932; ``offset``: the position of the first doubtful byte."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def decode_shift_jis(content: bytes) -> str:
    """Return the text if it is certainly Japanese; raise NotShiftJis otherwise."""
    try:
        text = content.decode("cp932")
    except UnicodeDecodeError as problem:
        raise NotShiftJis(problem.start) from None
    _check_round_trip(text, content)
    words = dict.fromkeys(islice((match[0] for match in _WORD_PATTERN.finditer(text)), _MAX_WORDS))
    other_words = [word for word in words if _is_word_in_pages(_SIMILAR_PAGES, word) or _is_kana_in_euc(word)]
    unclear_words = [word for word in words if _is_word_in_pages(_DISTANT_PAGES, word)]
    if words and _count_distinct_words(
        words.keys() - {*other_words, *unclear_words}
    ) <= _count_distinct_words(other_words):
        raise NotShiftJis(_count_bytes_before(text, text.index((other_words or list(words))[0])))
    return text


def _is_word_in_pages(pages: Mapping[str, Iterable[str]], word: str) -> bool:
    """Return whether the word's bytes are a plausible word of a language in one of these code pages."""
    content = word.encode("cp932")
    return any(
        _is_plausible_word(content.decode(page, errors="replace"), alphabets)
        for page, alphabets in pages.items()
    )


def _is_kana_in_euc(word: str) -> bool:
    """Return whether the word's bytes contain kana in EUC-JP, the encoding of older Unix systems."""
    return _KANA_PATTERN.search(word.encode("cp932").decode("euc_jp", errors="ignore")) is not None


def _is_plausible_word(word: str, alphabets: Iterable[str]) -> bool:
    """Return whether this is a plausible word in one of the alphabets, or a single character.

    A plausible word has a vowel and a regular case (lower, upper or capitalized).
    """
    match = _SPELLING_PATTERN.fullmatch(word)
    if len(word) == 1 or not match:
        return len(word) == 1
    letters = (match[1] or "").strip("ªº").lower()
    accents = {letter for letter in letters if not letter.isascii() and letter.isalpha()}
    if not accents:
        return True
    is_known = any(accents.issubset(alphabet) for alphabet in alphabets)
    return is_known and _has_vowel(letters) and all(map(_is_in_one_case, re.split(r"\W", match[1])))


def _has_vowel(letters: str) -> bool:
    return not _VOWELS.isdisjoint(unicodedata.normalize("NFD", letters))


def _is_in_one_case(word: str) -> bool:
    shape = "".join("u" if letter.isupper() else "l" for letter in word if letter != "ß")
    return re.fullmatch("u?l*|u+", shape) is not None


def _count_distinct_words(words: Iterable[str]) -> int:
    """Count distinct words without their Latin letters: A群 and B群 are the same."""
    return len({re.sub("[A-Za-z]", "", word) for word in words})


def _check_round_trip(text: str, content: bytes) -> None:
    """Reject characters that no CP932 text contains, and bytes that no program would have written."""
    for impossible_match in _IMPOSSIBLE_PATTERN.finditer(text):
        raise NotShiftJis(_count_bytes_before(text, impossible_match.start()))
    reencoded = text.encode("cp932")
    if reencoded != content:
        lines = zip(content.splitlines(keepends=True), reencoded.splitlines(keepends=True), strict=True)
        raise NotShiftJis(sum(len(line) for line, _ in takewhile(lambda pair: pair[0] == pair[1], lines)))


def _count_bytes_before(text: str, position: int) -> int:
    return len(text[:position].encode("cp932"))
