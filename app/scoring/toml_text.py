"""The text of a competition file: read as TOML that a stranger wrote, and rewritten in parts."""

import re
import tomllib
from collections.abc import Iterator, Mapping

from app.errors import InvalidCompetition

PLACE = re.compile(r"line (\d+), column (\d+)")
MAX_BYTES = 1 << 20
MAX_CHARACTERS = 1_000_000
TOO_DEEP = re.compile(r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){64}""")
"""A dotted key of more parts than anybody means; reading one takes the square of its length."""
TOKEN = re.compile(
    r""""{3}(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[\[\]{}\n]""",
    re.DOTALL,
)
"""What decides where a TOML statement ends: strings and comments as wholes, brackets, line ends."""


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
    try:
        return tomllib.loads(text)
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
    kept: list[str] = []
    remarks: list[str] = []
    in_root, dropping = True, False
    for statement in statements(text):
        key = next(iter(loaded(statement)), None)
        if key is None:
            remarks.append(statement)
            continue
        is_header = statement.lstrip().startswith("[")
        in_root = in_root and not is_header
        was_dropping, dropping = dropping, key == name if is_header or in_root else dropping
        if not (was_dropping and dropping):
            kept += remarks  # those inside of what is dropped go with it
        if not dropping:
            kept.append(statement)
        remarks = []
    return "".join(kept + remarks).rstrip() + "\n\n" + body.strip() + "\n"


def statements(text: str) -> Iterator[str]:
    """Valid TOML cut at the line ends that lie outside of strings and brackets."""
    depth = start = 0
    for token in TOKEN.finditer(text):
        mark = token.group()
        depth += (mark in ("[", "{")) - (mark in ("]", "}"))
        if mark == "\n" and depth == 0:
            yield text[start : token.end()]
            start = token.end()
    yield text[start:]


def with_scales(text: str, scales: Mapping[str, float]) -> str:
    """The competition file with its ``[scales]`` fixed to these values, in full precision."""
    lines = [f"{name} = {float(value)!r}" for name, value in scales.items()]
    return with_tables(text, "scales", "\n".join(["[scales]", *lines]))
