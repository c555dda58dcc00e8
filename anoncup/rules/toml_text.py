"""Parse untrusted TOML, format values, and replace tables in the text of a competition file."""

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import takewhile
from typing import TypeVar

import tomlkit
from tomlkit.items import AoT, Item, Key, Table

from anoncup.errors import InvalidCompetition

DocumentT = TypeVar("DocumentT")

_MAX_BYTES = 1 << 20
MAX_CHARACTERS = _MAX_BYTES
MAX_VALUE_CHARACTERS = 10_000
"""Maximum length of a text in quotes. Parsing takes 0.3 s for a million characters."""
_LONG = f"{{{MAX_VALUE_CHARACTERS + 1}}}"
_TOO_LONG_VALUE = re.compile(
    rf"""=[ \t]*(?:\"{{3}}[^"]{_LONG}|'{{3}}[^']{_LONG}|"[^"\n]{_LONG}|'[^'\n]{_LONG})"""
)
_TOO_MANY_KEY_PARTS = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){64}""")
"""Dotted keys with more than 64 parts. The time to parse a key is quadratic in its length."""


def decode_file(file: bytes) -> str:
    """Decode an uploaded competition file; raise InvalidCompetition if it is too large or not UTF-8 text."""
    if len(file) > _MAX_BYTES:
        raise InvalidCompetition("a competition file has at most 1 MB", code="too_large")
    try:
        text = file.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidCompetition("the file is not UTF-8 text", code="encoding") from None
    if "\x00" in text:
        raise InvalidCompetition("the file contains a NUL character", code="not_toml")
    return text


def parse_toml(text: str) -> dict[str, object]:
    """Parse untrusted TOML; raise InvalidCompetition for anything invalid, too large or nested too deeply."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidCompetition("more than {most} characters", code="too_large", most=MAX_CHARACTERS)
    if _TOO_LONG_VALUE.search(text):
        raise InvalidCompetition(
            "a text has at most {most:,} characters", code="too_large", most=MAX_VALUE_CHARACTERS
        )
    if _TOO_MANY_KEY_PARTS.search(text):
        raise InvalidCompetition("not valid TOML: a key has too many parts", code="not_toml")
    return _parse_with(tomllib.loads, text)


def _parse_with(parse: Callable[[str], DocumentT], text: str) -> DocumentT:
    try:
        return parse(text)
    except ValueError as problem:  # Integers with too many digits raise it too.
        raise InvalidCompetition("not valid TOML: {reason}", code="not_toml", reason=str(problem)) from None
    except RecursionError:
        raise InvalidCompetition("not valid TOML: nested too deeply", code="not_toml") from None


def replace_tables(text: str, name: str, body: str) -> str:
    """Remove the tables ``[name]``, ``[[name]]`` and ``[name.*]``, and append ``body``."""
    parse_toml(text)
    kept_parts = [
        _extract_trailing_comments(item) if key is not None and key.key == name else _render_item(key, item)
        for key, item in _parse_with(tomlkit.parse, text).body
    ]
    return "".join(kept_parts).rstrip() + "\n\n" + body.strip() + "\n"


def _render_item(key: Key | None, item: Item) -> str:
    """Return a table, value or comment exactly as it was written in its file."""
    document = tomlkit.TOMLDocument(True)
    document.append(key, item, validate=False)
    return document.as_string()


def _extract_trailing_comments(item: Item) -> str:
    """Return the comments at the end of a table, which belong to the next item, with their empty lines."""
    if isinstance(item, AoT):
        return _extract_trailing_comments(item.body[-1])
    body = item.value.body if isinstance(item, Table) else []
    comments = [comment.as_string() for key, comment in takewhile(lambda entry: entry[0] is None, body[::-1])]
    if body and not comments:
        return _extract_trailing_comments(body[-1][1])
    text = "".join(comments[::-1])
    return text if text.strip() else ""


def replace_scales(text: str, scales: Mapping[str, float]) -> str:
    """Return the competition file with these ``[scales]``, in full precision."""
    lines = [f"{name} = {float(value)!r}" for name, value in scales.items()]
    return replace_tables(text, "scales", "\n".join(["[scales]", *lines]))


def format_value(value: object) -> str:
    """Format a value as TOML.

    >>> format_value(("a", 'say "b"')), format_value(True), format_value(0.5)
    ('["a", "say \\\\"b\\\\""]', 'true', '0.5')
    """
    if isinstance(value, datetime):
        return value.isoformat()  # The library would write Z for +00:00, but the file must not change.
    return tomlkit.item(value).as_string()


def format_key(key: str) -> str:
    return tomlkit.key(key).as_string()


def format_table(name: str, values: Mapping[str, object]) -> str:
    """Format a table ``[name]``; values that are None are left out."""
    lines = [
        f"{format_key(key)} = {format_value(value)}" for key, value in values.items() if value is not None
    ]
    return "\n".join([f"[{name}]", *lines])
