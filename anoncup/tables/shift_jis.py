"""Text that is not UTF-8: Shift_JIS as Windows writes it (CP932), or refused.

Almost any bytes are some CP932. What is ``Ñ`` in Latin-1 is the half-width katakana ``ﾑ``, and ``é`` makes a
rare kanji with the letter behind it. Its second bytes are never digits, commas, quotation marks or line ends:
a mistaken reading changes no number and moves no cell, but it changes words. Therefore every word is also
read as the languages that are written in other code pages, and there must be more words that can be none of
theirs than words that can.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import islice, takewhile

WORD = re.compile("[A-Za-z]*[^\x00-\x7f][A-Za-z\x80-\uffff]*")
WORDS_JUDGED = 10_000
IMPOSSIBLE = re.compile("[\ue000-\uf8ff\x80\xa0]")
"""What Python's CP932 makes of bytes that no Japanese text has."""

LETTER = r"[^\W\d_]"
SPELLED = re.compile(
    rf"[¿¡«]?({LETTER}+(?:[’·\xad]{LETTER}+|(?<={LETTER}{{2}})[–—]{LETTER}{{2,}})*)’?[»°²³]?"
    r"|’[dklmnrstv]"
)
"""A word with the signs at its ends; or what an apostrophe left over, as the Dutch ’t."""
WESTERN = (
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
CENTRAL = (
    "áéíóöőúüű",  # Hungarian
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýžäľĺŕô",  # Czech, Slovak
    "čćđšž",  # Slovenian, Croatian
    "ăâîşţ",  # Romanian
)
NEAR = {
    "cp1252": WESTERN,
    "iso8859-15": WESTERN,
    "cp1250": CENTRAL,
    "iso8859-2": CENTRAL,
    "cp1254": ("çğıöşüâîû",),  # Turkish
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž"),  # Lithuanian, Latvian
}
"""By code page, the letters that each language written in it has beyond a to z."""
CYRILLIC = ("абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґўђѓјљњћќџѕ",)
GREEK = ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",)
FAR = {"cp1251": CYRILLIC, "koi8-r": CYRILLIC, "cp1253": GREEK}
"""Their capitals are half-width katakana, one for one: such words are not counted."""
VOWELS = frozenset("aeiouyæœøıаеиоуыэюяєіїαεηιουω")
KANA = re.compile("[ぁ-んァ-ヶー]")


class NotShiftJis(ValueError):
    """``at``: how many bytes precede what is not, or not surely, CP932."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def from_shift_jis(content: bytes) -> str:
    """The text, if it is Japanese beyond doubt; else NotShiftJis."""
    try:
        text = content.decode("cp932")
    except UnicodeDecodeError as problem:
        raise NotShiftJis(problem.start) from None
    _check_signs(text, content)
    words = dict.fromkeys(islice((found[0] for found in WORD.finditer(text)), WORDS_JUDGED))
    other = [word for word in words if _is_of(NEAR, word) or _is_in_euc(word)]
    unclear = [word for word in words if _is_of(FAR, word)]
    if words and _count(words.keys() - {*other, *unclear}) <= _count(other):
        raise NotShiftJis(_bytes_before(text, text.index((other or list(words))[0])))
    return text


def _is_of(pages: Mapping[str, Iterable[str]], word: str) -> bool:
    """Whether the word's bytes are a word of a language that is written in one of these code pages."""
    content = word.encode("cp932")
    return any(_is_spelled(content.decode(page, errors="replace"), known) for page, known in pages.items())


def _is_in_euc(word: str) -> bool:
    """Whether it is kana in the encoding of older Unix systems."""
    return KANA.search(word.encode("cp932").decode("euc_jp", errors="ignore")) is not None


def _is_spelled(word: str, alphabets: Iterable[str]) -> bool:
    """Whether words of one of the alphabets look like it: in one case, with a vowel; or a lonely sign."""
    match = SPELLED.fullmatch(word)
    if len(word) == 1 or not match:
        return len(word) == 1
    letters = (match[1] or "").strip("ªº").lower()
    accents = {letter for letter in letters if not letter.isascii() and letter.isalpha()}
    if not accents:
        return True
    known = any(accents.issubset(alphabet) for alphabet in alphabets)
    return known and _has_vowel(letters) and all(map(_is_in_one_case, re.split(r"\W", match[1])))


def _has_vowel(letters: str) -> bool:
    return not VOWELS.isdisjoint(unicodedata.normalize("NFD", letters))


def _is_in_one_case(word: str) -> bool:
    shape = "".join("u" if letter.isupper() else "l" for letter in word if letter != "ß")
    return re.fullmatch("u?l*|u+", shape) is not None


def _count(words: Iterable[str]) -> int:
    """How many there are, Latin letters aside: A群 and B群 are one."""
    return len({re.sub("[A-Za-z]", "", word) for word in words})


def _check_signs(text: str, content: bytes) -> None:
    """Refuse signs for the private use of a system, and spellings that no writer of CP932 uses."""
    for impossible in IMPOSSIBLE.finditer(text):
        raise NotShiftJis(_bytes_before(text, impossible.start()))
    again = text.encode("cp932")
    if again != content:
        lines = zip(content.splitlines(keepends=True), again.splitlines(keepends=True), strict=True)
        raise NotShiftJis(sum(len(line) for line, _ in takewhile(lambda pair: pair[0] == pair[1], lines)))


def _bytes_before(text: str, place: int) -> int:
    return len(text[:place].encode("cp932"))
