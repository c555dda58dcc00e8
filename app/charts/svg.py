"""Build SVG elements as text, escaped and with short coordinates."""

import re
import unicodedata
from functools import lru_cache

from markupsafe import Markup, escape

MAX_FONT_SIZE = 15.0
"""Largest font size of a picture (on phones), for which space is reserved; see charts.css."""
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI"}

_AttributeValue = str | float | int | None


def tag(name: str, *content: str, **attributes: _AttributeValue) -> Markup:
    """Return an element with escaped content.

    In attribute names ``_`` becomes ``-``, and one at the end, as in ``class_``, is removed. Attributes that
    are None are left out.
    """
    attribute_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_format_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(escape_text(part) for part in content)
    return Markup(f"<{name}{attribute_text}>{inner}</{name}>" if inner else f"<{name}{attribute_text}/>")  # noqa: S704


def escape_text(content: str) -> str:
    """Escape the content unless it is markup, and replace characters that are not allowed in XML."""
    return content if isinstance(content, Markup) else str(escape(replace_forbidden_characters(content)))


def replace_forbidden_characters(content: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", content)


def _format_attribute(value: str | float) -> str:
    return escape_text(value) if isinstance(value, str) else format_coordinate(value)


def format_coordinate(value: float) -> str:
    """Format a coordinate to a tenth of a unit."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def build_outline(*parts: str | float) -> str:
    """Return the outline of a path from its commands and the coordinates after each."""
    texts = (part if isinstance(part, str) else f" {format_coordinate(part)}" for part in parts)
    return re.sub("(?<=[A-Za-z]) ", "", "".join(texts))


def draw_path(*outline: str | float, **attributes: _AttributeValue) -> Markup:
    return tag("path", **attributes, d=build_outline(*outline))


def isolate_text(name: str) -> str:
    """Return a name for use in a sentence.

    Right-to-left names are isolated, so that they do not change the order of the sentence.
    """
    printable_name = replace_forbidden_characters(name)
    has_right_to_left = not printable_name.isascii() and any(
        unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in printable_name
    )
    return f"\u2068{printable_name}\u2069" if has_right_to_left else printable_name


@lru_cache(4096)
def _estimate_relative_width(character: str) -> float:
    """Estimate the width of a character relative to the font size, rather too large than too small."""
    if unicodedata.east_asian_width(character) in "WFA":
        return 1.0
    return 0.95 if character in "WM@%mw—…" else 0.75 if character.isupper() else 0.6


def estimate_text_width(content: str, font_size: float = MAX_FONT_SIZE) -> float:
    return sum(map(_estimate_relative_width, content)) * font_size


def shorten(content: str, max_width: float, font_size: float = MAX_FONT_SIZE) -> str:
    """Return the text; if it is wider than ``max_width``, cut it and append an ellipsis."""
    if estimate_text_width(content, font_size) <= max_width:
        return content
    width = 0.0
    for index, character in enumerate(content):
        width += estimate_text_width(character, font_size)
        if width > max_width - font_size:
            return content[:index].rstrip() + "…" if index else "…"
    return content
