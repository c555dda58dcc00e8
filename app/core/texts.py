"""Texts that people type."""

import unicodedata


def normalize_text(text: str) -> str:
    """Convert line ends to line feeds and strip surrounding whitespace."""
    return "\n".join(text.split("\r\n")).strip()


def is_valid_text(text: str, *, max_length: int) -> bool:
    """Whether a text is short enough and free of control characters, which would break a page."""
    return len(text) <= max_length and not any(map(_is_control_character, text))


def _is_control_character(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs"} and character not in "\n\t"
