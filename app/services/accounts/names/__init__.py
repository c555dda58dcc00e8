"""Names of people and teams: which are taken for a name at all, and which for the same one (UTS #39)."""

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files

from anoncup.errors import InvalidInput

LONGEST = 100
JOINER = "\u200d"
IGNORABLE = (
    *(0xAD, 0x34F, 0x61C, *range(0x115F, 0x1161), *range(0x17B4, 0x17B6), *range(0x180B, 0x1810)),
    *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4)),
    *(*range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
)
"""What is drawn as nothing: Unicode's Default_Ignorable_Code_Point."""
BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0\U00016fe4\U0001d159\U00013441\U00013442")
"""Drawn as an empty space, and no white space: fillers, the empty pattern of Braille, an empty note head."""
MOST_STEPS = 5
SPACES = re.compile(r"[\s\u2800]+")


def clean(name: str) -> str:
    """The name as it is kept: any Unicode that can be seen, outer spaces removed; else InvalidInput."""
    name = normal(name)
    if not 1 <= len(name) <= LONGEST:
        raise InvalidInput("a name must have 1 to {most} characters", code="name_length", most=LONGEST)
    if not any(visible(character) for character in name):
        raise InvalidInput("a name must contain at least one visible character", code="name_blank")
    if any(deceives(character) for character in name):
        raise InvalidInput("a name must not contain control or invisible characters", code="name_characters")
    return name


def normal(name: str) -> str:
    """As it would be kept, whatever it is."""
    return unicodedata.normalize("NFC", name).strip()


def visible(character: str) -> bool:
    """Whether a reader sees it by itself; a mark is seen on another character only."""
    if hidden(character):
        return False
    return unicodedata.category(character)[0] in "LNPS" or unassigned(character)


def hidden(character: str) -> bool:
    """Whether it is drawn as nothing, or as an empty space."""
    return character in BLANKS or ord(character) in ignored()


def unassigned(character: str) -> bool:
    """A character of a newer Unicode than Python's, such as this year's emoji."""
    return unicodedata.category(character) == "Cn" and not is_noncharacter(character)


def is_noncharacter(character: str) -> bool:
    return ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF


def deceives(character: str) -> bool:
    """The zero-width joiner is part of many emoji; other invisible characters only deceive."""
    if character == JOINER:
        return False
    control = unicodedata.category(character) in {"Cc", "Cs", "Co", "Cf"}
    return control or character in BLANKS or is_noncharacter(character)


def columns(name: str) -> dict[str, str]:
    """What is kept beside a name so that no second one is taken for it; each is unique by itself."""
    return {"name_key": key(name), "name_look": look(name), "name_capitals": capitals(name)}


def key(name: str) -> str:
    """How a name reads in any case: the skeleton after NFKC case folding. Names are looked up by it."""
    return skeleton(spaced(folded(shown(name))))


def look(name: str) -> str:
    """How a name looks as it is written: PayPaI is PayPal."""
    return skeleton(spaced(unicodedata.normalize("NFKC", shown(name))))


def capitals(name: str) -> str:
    """How it looks in capitals, which are alike where their small letters are not: Cyrillic В and Latin B."""
    return skeleton(spaced(unicodedata.normalize("NFKC", folded(shown(name)).upper())))


def skeleton(text: str) -> str:
    """UTS #39 §4, without reordering by direction: equal for two texts that are confusable.

    Some prototypes have parts that compose, or prototypes of their own: again, until nothing changes.
    """
    for _ in range(MOST_STEPS):
        apart = shown(unicodedata.normalize("NFD", text))
        before, text = text, unicodedata.normalize("NFD", apart.translate(prototypes()))
        if text == before:
            break
    return text


def folded(text: str) -> str:
    """NFKC_Casefold of the Unicode Standard §3.13, but for what ``shown`` leaves out.

    Case folding may make something to normalize and the other way round, once.
    """
    text = unicodedata.normalize("NFD", text)
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text.casefold())
    return text


def shown(text: str) -> str:
    """Without what is drawn as nothing."""
    return text.translate(ignored())


def spaced(text: str) -> str:
    """With single spaces, none outside."""
    return SPACES.sub(" ", text).strip()


@lru_cache(maxsize=1)
def ignored() -> dict[int, None]:
    return dict.fromkeys(IGNORABLE)


@lru_cache(maxsize=1)
def prototypes() -> dict[int, str]:
    """By code point, what a character is drawn like."""
    lines = (files(__name__) / "confusables.tsv").read_text("ascii").splitlines()
    pairs = (line.split("\t") for line in lines)
    return {int(source, 16): "".join(chr(int(each, 16)) for each in likes.split()) for source, likes in pairs}
