"""Convert SVG to PNG with the server's fonts, and check which characters these fonts contain."""

import unicodedata
from functools import lru_cache

import resvg_py

from app.charts.card import FONT_FAMILIES

MISSING_CHARACTER = "\U000f0000"
"""A private-use character that no font has."""
DRAWABLE_SCRIPTS: dict[str, bool] = {}
"""Cache: whether any font covers a script. Keys are the first words of Unicode character names."""


def has_fonts() -> bool:
    """Return whether the server has any font."""
    return can_draw("a")


def blank_if_undrawable(text: str) -> str:
    """Return the text, or "" if it has a character that no font contains."""
    return (
        text
        if all(can_draw(character) for character in dict.fromkeys(text) if not character.isspace())
        else ""
    )


def can_draw(character: str) -> bool:
    """Return whether a font contains the character's script.

    The first character checked decides for its whole script.
    """
    script = "ASCII" if character.isascii() else unicodedata.name(character, character).split()[0]
    if script not in DRAWABLE_SCRIPTS:
        DRAWABLE_SCRIPTS[script] = _rasterize_character("a" if character.isascii() else character) not in {
            _rasterize_character(MISSING_CHARACTER),
            _rasterize_character(" "),
        }
    return DRAWABLE_SCRIPTS[script]


def _rasterize_character(character: str) -> bytes:
    return rasterize(draw_character(character))


def draw_character(character: str) -> str:
    """Return an SVG of a character.

    It names font families, because resvg tries no others if its default font is missing.
    """
    text = f'<text x="8" y="30" font-size="24" font-family="{FONT_FAMILIES}">&#{ord(character)};</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48">{text}</svg>'


@lru_cache(64)
def rasterize(svg: str) -> bytes:
    """Convert an SVG to PNG."""
    return bytes(resvg_py.svg_to_bytes(svg_string=svg))
