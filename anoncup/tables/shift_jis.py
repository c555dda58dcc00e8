"""Detection and decoding of Shift_JIS as Windows writes it (CP932).

Almost any bytes are valid CP932: ``Ñ`` in Latin-1 is the half-width katakana ``ﾑ``, and ``é`` forms a rare
kanji with the following letter. A wrong decoding changes no number and moves no cell, because second bytes
are never digits, commas, quotation marks or line ends. But it changes words. Therefore, the text as a whole
must contain something that is hardly possible in another encoding, and no more words that look like another
encoding (``docs/decisions/0017-detection-of-shift-jis.md``).
"""

import re
import string
from collections.abc import Iterable
from enum import Enum
from itertools import islice

_WORD_PATTERN = re.compile("[A-Za-z]*[^\x00-\x7f][A-Za-z\x80-\uffff]*")
_MAX_WORDS = 10_000
_IMPOSSIBLE_PATTERN = re.compile("[\ue000-\uf8ff\x80\xa0]")
"""Characters that Python decodes from bytes that no CP932 text contains, and user-defined ones."""
_JAPANESE_LEADS = frozenset(range(0x81, 0xA0))
"""First bytes of kana and common kanji. They are control characters in Latin-1 and rare in EUC."""
_COMMON_LEADS = frozenset(range(0x81, 0x99))
"""Those of kana and the more common kanji, without the small letters of Central Europe (``š``, ``ž``)."""
_WINDOWS_BYTES = frozenset(b"\x84\x85\x8a\x8c\x8d\x8e\x91\x92\x93\x94\x95\x96\x97\x9a\x9c\x9d\x9e\x9f")
"""Letters and punctuation of Windows code pages in the same range: ``’`` in ``it’s``, ``œ`` in ``cœur``."""
_WESTERN_BYTES = _WINDOWS_BYTES.union(string.ascii_letters.encode(), range(0xC0, 0x100))
_WINDOWS_PUNCTUATION = frozenset(b"\x84\x85\x91\x93\x94\x95\x96\x97")
"""The punctuation among them that hardly stands between letters, as the apostrophe does."""
_HALF_WIDTH_BYTES = frozenset(range(0xA1, 0xE0))
"""Half-width katakana and punctuation. They are letters of Western code pages and parts of those of EUC."""
_HALF_WIDTH_PATTERN = re.compile("(?:[ｳｶ-ﾄﾊ-ﾎ]ﾞ|[ﾊ-ﾎ]ﾟ|[ｦ-ﾝ]){2,}")
_UTF8_SAMPLE_BYTES = 2**20
_FIRST_THREE_BYTE_CHARACTER = "\u0800"


class NotShiftJis(ValueError):
    """Raised for content that is not certainly CP932; ``offset``: the position of the first doubtful byte."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class _WordKind(Enum):
    JAPANESE = "hardly possible in another encoding"
    UNCLEAR = "possible in CP932 and in others"
    FOREIGN = "likely in another encoding"


def decode_shift_jis(content: bytes) -> str:
    """Return the text if it is certainly Japanese; raise NotShiftJis otherwise."""
    if _is_damaged_utf8(content) or _is_euc_jp(content):
        raise NotShiftJis(0)
    try:
        text = content.decode("cp932")
    except UnicodeDecodeError as problem:
        raise NotShiftJis(problem.start) from None
    words = dict.fromkeys(islice((match[0] for match in _WORD_PATTERN.finditer(text)), _MAX_WORDS))
    kinds = {word: _classify(word) for word in words}
    foreign_words = [word for word in words if kinds[word] is _WordKind.FOREIGN]
    japanese_count = sum(kind is _WordKind.JAPANESE for kind in kinds.values())
    if impossible_match := _IMPOSSIBLE_PATTERN.search(text):
        raise NotShiftJis(_count_bytes_before(text, impossible_match.start()))
    is_certain = 0 < japanese_count >= len(foreign_words) or _are_certain_together(words)
    if words and not is_certain:
        first_word = next(iter(foreign_words or words))
        raise NotShiftJis(_count_bytes_before(text, text.index(first_word)))
    return text


def _are_certain_together(words: Iterable[str]) -> bool:
    """Return whether all words consist of common characters with different first bytes, as ``年`` and ``月``.

    Each could be ``”N`` or ``ŒŽ``, but other encodings hardly have words of this kind alone.
    """
    leads = {character.encode("cp932")[0] for character in "".join(words)}
    return len(leads) > 1 and leads <= _COMMON_LEADS


def _classify(word: str) -> _WordKind:
    """Compare how likely a word, with the Latin letters next to it, is in CP932 and in other encodings."""
    characters = [character for character in word if not character.isascii()]
    letters = [character for character in word if character.isascii()]
    if len(letters) > len(characters):
        # In a word of Latin letters such as ``château``, an accent and the letter after it became a kanji.
        return _WordKind.FOREIGN if any(map(str.islower, letters)) else _WordKind.UNCLEAR
    leads = [character.encode("cp932")[0] for character in characters]
    common_count = sum(lead in _JAPANESE_LEADS for lead in leads)
    if common_count == 0:
        return _WordKind.UNCLEAR if _HALF_WIDTH_PATTERN.fullmatch(word) else _WordKind.FOREIGN
    if common_count < sum(lead in _HALF_WIDTH_BYTES for lead in leads):
        return _WordKind.UNCLEAR
    # ``年齢`` would be ``”N—î``, with punctuation before each letter.
    has_punctuation = not _WINDOWS_PUNCTUATION.isdisjoint(leads)
    is_western = len(word) == 1 or common_count < len(word) or not has_punctuation
    is_japanese = not is_western or any(map(_is_certainly_japanese, characters))
    return _WordKind.JAPANESE if is_japanese else _WordKind.UNCLEAR


def _is_certainly_japanese(character: str) -> bool:
    lead, *trail = character.encode("cp932")
    is_western = lead in _WINDOWS_BYTES and _WESTERN_BYTES.issuperset(trail)
    return lead in _JAPANESE_LEADS and not is_western


def _is_euc_jp(content: bytes) -> bool:
    """Return whether the content is valid EUC-JP, whose half-width katakana are common kanji in CP932."""
    try:
        content.decode("euc_jis_2004")
    except UnicodeDecodeError:
        return False
    return not content.isascii()


def _is_damaged_utf8(content: bytes) -> bool:
    """Return whether the content is UTF-8 with a few wrong bytes; in CP932, ``あい`` is ``縺ゅ＞``."""
    text = content[:_UTF8_SAMPLE_BYTES].decode("utf-8", errors="replace")
    wrong_count = text.count("\ufffd")
    return wrong_count < sum(character >= _FIRST_THREE_BYTE_CHARACTER for character in text) - wrong_count


def _count_bytes_before(text: str, position: int) -> int:
    # Some characters have several codes in CP932, but all of them have the same length.
    return len(text[:position].encode("cp932"))
