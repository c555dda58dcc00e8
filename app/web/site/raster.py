"""Convert SVG to PNG with the fonts of the server, and check which characters these fonts have."""

import unicodedata
from functools import lru_cache

import resvg_py

from app.charts.card import FONT_FAMILIES

MISSING_CHARACTER = "\U000f0000"
"""A private-use character that no font has."""
DRAWABLE_SCRIPTS: dict[str, bool] = {}
"""Whether a font has the script, by the first word of the characters' Unicode names; filled on demand."""


def has_fonts() -> bool:
    """Return whether there is any font."""
    return can_draw("a")


def legible_or_empty(text: str) -> str:
    """Return the text, or "" if a character of it is in no font."""
    return (
        text
        if all(can_draw(character) for character in dict.fromkeys(text) if not character.isspace())
        else ""
    )


def can_draw(character: str) -> bool:
    """Return whether a font has the character; the first checked character decides for its whole script."""
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
    """Return an SVG of a character. It names font families: without a default one, resvg tries no others."""
    text = f'<text x="8" y="30" font-size="24" font-family="{FONT_FAMILIES}">&#{ord(character)};</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48">{text}</svg>'


@lru_cache(64)
def rasterize(svg: str) -> bytes:
    """Return an SVG as PNG."""
    return bytes(resvg_py.svg_to_bytes(svg_string=svg))
