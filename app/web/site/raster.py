"""Pictures with letters, drawn on the server: with the fonts that the machine has."""

import unicodedata
from functools import lru_cache

import resvg_py

from app.charts.card import FAMILIES

NEVER = "\U000f0000"
"""A letter that no font has."""
DRAWN: dict[str, bool] = {}
"""By script or alphabet, as far as it was asked: a name costs nothing after the first of its letters."""


def present() -> bool:
    """Whether there is a font at all."""
    return drawable("a")


def legible(words: str) -> str:
    """The words, or none of them where no font has their letters."""
    return words if all(drawable(one) for one in dict.fromkeys(words) if not one.isspace()) else ""


def drawable(one: str) -> bool:
    """Whether a font has the letter; the first that is asked of a script speaks for all of it."""
    script = "ASCII" if one.isascii() else unicodedata.name(one, one).split()[0]
    if script not in DRAWN:
        DRAWN[script] = rendered("a" if one.isascii() else one) not in {rendered(NEVER), rendered(" ")}
    return DRAWN[script]


def rendered(one: str) -> bytes:
    return rasterized(alone(one))


def alone(one: str) -> str:
    """A letter as a picture, in a family that is there: without a default one, resvg looks in no other."""
    text = f'<text x="8" y="30" font-size="24" font-family="{FAMILIES}">&#{ord(one)};</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48">{text}</svg>'


@lru_cache(64)
def rasterized(drawn: str) -> bytes:
    """An SVG as PNG; the same one is drawn once."""
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn))
