"""Validation of the names of people and teams, and the key that makes them unique."""

import re
import unicodedata
from uuid import UUID

from anoncup.errors import InvalidInput
from anoncup.messages import N_

MAX_NAME_LENGTH = 100
CLOSED_NAME = N_("closed account {id}")
CLOSED_NAME_PATTERN = re.compile(r"closed account ([0-9a-f]{8})")
_ZERO_WIDTH_JOINER = "\u200d"
IGNORABLE_CODE_POINTS = (
    *(0xAD, 0x34F, 0x61C, *range(0x115F, 0x1161), *range(0x17B4, 0x17B6), *range(0x180B, 0x1810)),
    *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4)),
    *(*range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
)
"""Invisible characters: Unicode's Default_Ignorable_Code_Point."""
_REMOVE_IGNORABLE = dict.fromkeys(IGNORABLE_CODE_POINTS)
_BLANK_CHARACTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\U00016fe4\U0001d159\U00013441\U00013442")
"""Blank characters that are not white space: fillers, the empty Braille pattern, an empty note head."""


def clean_name(name: str) -> str:
    """Return the name as it is stored, normalized and stripped. Raise InvalidInput if it is not allowed."""
    name = normalize(name)
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise InvalidInput(
            "a name must have 1 to {most} characters", code="name_length", most=MAX_NAME_LENGTH
        )
    if not any(_is_visible(character) for character in name):
        raise InvalidInput("a name must contain at least one visible character", code="name_blank")
    if any(_is_deceptive(character) for character in name):
        raise InvalidInput("a name must not contain control or invisible characters", code="name_characters")
    return name


def build_closed_name(user_id: UUID) -> str:
    """Return the name that replaces the name of a closed account."""
    return CLOSED_NAME.format(id=user_id.hex[:8])


def normalize(name: str) -> str:
    """Return the name in NFC without outer spaces, without validating it."""
    return unicodedata.normalize("NFC", name).strip()


def build_key(name: str) -> str:
    """Return the name after NFKC case folding, without invisible characters and with single spaces.

    Case folding can require another normalization and vice versa, so both are applied twice.
    """
    key = unicodedata.normalize("NFD", name.translate(_REMOVE_IGNORABLE))
    for _ in range(2):
        key = unicodedata.normalize("NFKC", key.casefold())
    return " ".join(key.split())


def is_hidden(character: str) -> bool:
    """Return whether a character is invisible or blank."""
    return character in _BLANK_CHARACTERS or ord(character) in _REMOVE_IGNORABLE


def _is_visible(character: str) -> bool:
    """Return whether a character is visible by itself. Combining marks are not."""
    if is_hidden(character):
        return False
    category = unicodedata.category(character)
    # A newer Unicode version than Python's may define an unassigned character, such as a new emoji.
    is_unassigned = category == "Cn" and not _is_noncharacter(character)
    return category[0] in "LNPS" or is_unassigned


def _is_noncharacter(character: str) -> bool:
    return ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF


def _is_deceptive(character: str) -> bool:
    """Return whether names must not contain the character: control, format, private use, blank, or invalid.

    The zero-width joiner is allowed because it is part of many emoji.
    """
    if character == _ZERO_WIDTH_JOINER:
        return False
    is_control = unicodedata.category(character) in {"Cc", "Cs", "Co", "Cf"}
    return is_control or character in _BLANK_CHARACTERS or _is_noncharacter(character)
