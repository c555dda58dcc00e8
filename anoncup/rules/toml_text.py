"""The text of a competition file: read as TOML that a stranger wrote, and rewritten in parts."""

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import takewhile
from typing import TypeVar

import tomlkit
from tomlkit.items import AoT, Item, Key, Table

from anoncup.errors import InvalidCompetition

Read = TypeVar("Read")

PLACE = re.compile(r"line (\d+), column (\d+)")
MAX_BYTES = 1 << 20
MAX_CHARACTERS = 1_000_000
TOO_DEEP = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){64}""")
"""A dotted key of more parts than anybody means; reading one takes the square of its length."""


def text_of(file: bytes) -> str:
    """The text of a competition file as somebody sent it."""
    if len(file) > MAX_BYTES:
        raise InvalidCompetition("a competition file has at most 1 MB", code="too_large")
    try:
        text = file.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidCompetition("the file is not UTF-8 text", code="encoding") from None
    if "\x00" in text:
        raise InvalidCompetition("the file contains a NUL character", code="not_toml")
    return text


def loaded(text: str) -> dict[str, object]:
    """TOML that an attacker may have written: ValueError also stands for numbers of too many digits."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidCompetition("more than {most} characters", code="too_large", most=MAX_CHARACTERS)
    if TOO_DEEP.search(text):
        raise InvalidCompetition("not valid TOML: a key has too many parts", code="not_toml")
    return read_by(tomllib.loads, text)


def read_by(library: Callable[[str], Read], text: str) -> Read:
    try:
        return library(text)
    except ValueError as problem:
        raise not_toml(str(problem)) from None
    except RecursionError:
        raise InvalidCompetition("not valid TOML: nested too deeply", code="not_toml") from None


def not_toml(said: str) -> InvalidCompetition:
    """What the library says, and where."""
    reason, _, place = said.removesuffix(")").rpartition(" (at ")
    if place == "end of document":
        return InvalidCompetition(
            "not valid TOML: {reason} (at end of document)", code="not_toml", reason=reason
        )
    if found := PLACE.fullmatch(place):
        return InvalidCompetition(
            "not valid TOML: {reason} (at line {line}, column {column})",
            code="not_toml",
            reason=reason,
            line=int(found[1]),
            column=int(found[2]),
        )
    return InvalidCompetition("not valid TOML: {reason}", code="not_toml", reason=said)


def with_tables(text: str, name: str, body: str) -> str:
    """``text`` with its tables ``[name]``, ``[[name]]``, ``[name.…]`` replaced by ``body`` at the end."""
    loaded(text)
    kept = [
        remarks_behind(item) if key is not None and key.key == name else written(key, item)
        for key, item in read_by(tomlkit.parse, text).body
    ]
    return "".join(kept).rstrip() + "\n\n" + body.strip() + "\n"


def written(key: Key | None, item: Item) -> str:
    """A table, value or remark as it stands in the file that it was read from."""
    alone = tomlkit.TOMLDocument(True)
    alone.append(key, item, validate=False)
    return alone.as_string()


def remarks_behind(item: Item) -> str:
    """The comments and empty lines at its end: they belong to what comes next."""
    if isinstance(item, AoT):
        return remarks_behind(item.body[-1])
    body = item.value.body if isinstance(item, Table) else []
    remarks = [remark.as_string() for key, remark in takewhile(lambda entry: entry[0] is None, body[::-1])]
    return "".join(remarks[::-1]) if remarks or not body else remarks_behind(body[-1][1])


def with_scales(text: str, scales: Mapping[str, float]) -> str:
    """The competition file with its ``[scales]`` fixed to these values, in full precision."""
    lines = [f"{name} = {float(value)!r}" for name, value in scales.items()]
    return with_tables(text, "scales", "\n".join(["[scales]", *lines]))


def value_text(value: object) -> str:
    """A value as TOML spells it.

    >>> value_text(("a", 'say "b"')), value_text(True), value_text(0.5)
    ('["a", "say \\\\"b\\\\""]', 'true', '0.5')
    """
    if isinstance(value, datetime):
        return value.isoformat()  # the library turns +00:00 into Z, and a file keeps the bytes that it had
    return tomlkit.item(value).as_string()


def key_text(key: str) -> str:
    return tomlkit.key(key).as_string()


def table_text(name: str, values: Mapping[str, object]) -> str:
    """``[name]`` with its values; those that are None are left out."""
    lines = [f"{key_text(key)} = {value_text(value)}" for key, value in values.items() if value is not None]
    return "\n".join([f"[{name}]", *lines])
