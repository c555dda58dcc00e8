"""Detection and decoding of Shift_JIS as Windows writes it (CP932).

Almost any bytes are valid CP932: ``Ñ`` in Latin-1 is the half-width katakana ``ﾑ``, and ``é`` forms a rare
kanji with the following letter. A wrong decoding changes no number and moves no cell, because second bytes
are never digits, commas, quotation marks or line ends. But it changes words. Therefore, CP932 is accepted
only if at least half of the words contain a character that is unlikely in text of the Windows code pages for
Western and Central Europe and in other encodings of East Asia. Mac, DOS and other Windows code pages are not
recognized.
"""

import re
import string
from collections.abc import Iterable
from itertools import islice, takewhile

_WORD_PATTERN = re.compile("[A-Za-z]*[^\x00-\x7f][A-Za-z\x80-\uffff]*")
_MAX_WORDS = 10_000
_IMPOSSIBLE_PATTERN = re.compile("[\ue000-\uf8ff\x80\xa0]")
"""Characters that Python decodes from bytes that no CP932 text contains."""
_JAPANESE_LEADS = frozenset(range(0x81, 0xA0))
"""First bytes of kana and common kanji. They are control characters in Latin-1 and rare in EUC."""
_WINDOWS_BYTES = frozenset(b"\x84\x85\x8a\x8c\x8d\x8e\x91\x92\x93\x94\x95\x96\x97\x9a\x9c\x9d\x9e\x9f")
"""Letters and punctuation of Windows code pages in the same range: ``’`` in ``it’s``, ``œ`` in ``cœur``."""
_WESTERN_BYTES = _WINDOWS_BYTES.union(string.ascii_letters.encode(), range(0xC0, 0x100))


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
    doubtful_words = [word for word in words if not any(map(_is_certainly_japanese, word))]
    if _count_distinct_words(words.keys() - doubtful_words) < _count_distinct_words(doubtful_words):
        raise NotShiftJis(_count_bytes_before(text, text.index(doubtful_words[0])))
    return text


def _is_certainly_japanese(character: str) -> bool:
    lead, *trail = character.encode("cp932")
    is_western = lead in _WINDOWS_BYTES and _WESTERN_BYTES.issuperset(trail)
    return lead in _JAPANESE_LEADS and not is_western


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
