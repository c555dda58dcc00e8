"""Elements of a picture as text: escaped, without style attributes, and with short coordinates."""

import re
import unicodedata
from functools import lru_cache

from markupsafe import Markup, escape

LETTER = 15.0
"""The largest letters of a picture, those of a phone: room is kept for them; see charts.css."""
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI"}

Value = str | float | int | None


def tag(name: str, *content: str, **attributes: Value) -> Markup:
    """An element; of the attributes' names ``_`` is ``-``, and those that are None are left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{written_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(text(one) for one in content)
    return Markup(f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>")  # noqa: S704


def text(content: str) -> str:
    """Escaped unless it is markup; without characters that no document may hold."""
    return content if isinstance(content, Markup) else str(escape(printable(content)))


def printable(words: str) -> str:
    return UNPRINTABLE.sub("\ufffd", words)


def written_value(value: str | float) -> str:
    return text(value) if isinstance(value, str) else short(value)


def short(value: float) -> str:
    """A coordinate, to a tenth of a unit."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def lone(name: str) -> str:
    """A name in a sentence: if it is read from right to left, what stands beside it keeps its order."""
    clean = printable(name)
    mixed = not clean.isascii() and any(unicodedata.bidirectional(one) in RIGHT_TO_LEFT for one in clean)
    return f"\u2068{clean}\u2069" if mixed else clean


@lru_cache(4096)
def share_of(one: str) -> float:
    """About how wide a letter is, in relation to its height; rather more than less."""
    if unicodedata.east_asian_width(one) in "WFA":
        return 1.0
    return 0.95 if one in "WM@%mw—…" else 0.75 if one.isupper() else 0.6


def width_of(words: str, letter: float = LETTER) -> float:
    return sum(map(share_of, words)) * letter


def fitted(words: str, room: float, letter: float = LETTER) -> str:
    """The words, cut short where they are wider than the room."""
    if width_of(words, letter) <= room:
        return words
    kept = 0.0
    for place, one in enumerate(words):
        kept += width_of(one, letter)
        if kept > room - letter:
            return words[:place].rstrip() + "…" if place else "…"
    return words
