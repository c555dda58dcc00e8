"""Mistakes that many make once, found in the files as they came: what to do is said beside what is wrong.

The check in the browser (``static/check.js``) says the same before anything is sent. What the reader of the
file has recognized is said by it.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.messages import N_, visible
from app.scoring.files import FileSpec
from app.scoring.foreign_text import habit_of, is_no_text

Found = tuple[str, dict[str, Any]]
"""A text, and what is written into it."""

HEAD = 64 * 1024
LOOKED_AT = 8 << 20
"""How much of a file is looked at: a table's header, and a secret as long as any that is read."""
NAMED = 8
"""How many columns are named."""


def mistakes_of(
    files: Mapping[str, bytes],
    headers: Mapping[str, Sequence[str]],
    *,
    secret: FileSpec | None,
    originals: int,
) -> dict[str, list[Found]]:
    """What is recognized in each file; ``headers``: of each public file, as they must be."""
    others = [tuple(lines[0].split(",")) for lines in secret.samples] if secret else []
    found = {name: of_table(files[name], header, others) for name, header in headers.items() if name in files}
    if secret and secret.name in files:
        known = [tuple(header) for header in headers.values()]
        found[secret.name] = of_secret(files[secret.name], known, secret, originals)
    return {name: each for name, each in found.items() if each}


def of_table(content: bytes, expected: Sequence[str], others: Sequence[tuple[str, ...]]) -> list[Found]:
    """``others``: the header lines that the secret may have."""
    if is_no_text(content):
        return []
    header = header_in(content)
    if tuple(header) in others:
        return [(N_("This looks like the other file of the release: were the two exchanged?"), {})]
    if habit_of(header, expected):
        return []
    missing = [name for name in expected if name not in header]
    extra = [name for name in header if name not in expected]
    found = [(N_("Missing columns: {names}."), {"names": names_of(missing)})] if missing else []
    return found + ([(N_("Not among the columns: {names}."), {"names": names_of(extra)})] if extra else [])


def of_secret(
    content: bytes, tables: Sequence[tuple[str, ...]], secret: FileSpec, originals: int
) -> list[Found]:
    if is_no_text(content):
        return []
    header = header_in(content)
    if tuple(header) in tables:
        return [(N_("This looks like the other file of the release: were the two exchanged?"), {})]
    return (
        [(N_("Rows seem to be counted from 0; they count from 1, so add 1 to each number."), {})]
        if secret.kind == "permutation" and header == ["original_row"] and from_zero(content, originals)
        else []
    )


def from_zero(content: bytes, originals: int) -> bool:
    """Whether rows are counted from 0: there is a row 0, and none that would be one too many."""
    numbers = [int(each) for each in re.findall(rb"(?m)^[ \t]*([0-9]{1,9})[ \t]*\r?$", content)]
    return 0 in numbers and max(numbers) < originals


def header_in(content: bytes) -> list[str]:
    """The cells of the first line, as far as it can be read."""
    head = content[:HEAD]
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = head.decode("cp932", errors="replace")
    try:
        return next(csv.reader([re.split(r"[\r\n]", text, maxsplit=1)[0]]), [""])
    except csv.Error:
        return [""]


def names_of(names: Sequence[str]) -> str:
    """The first of them; a file of strangers may have thousands."""
    shown = ", ".join(visible(name[:40]) for name in names[:NAMED])
    return f"{shown}, … (+{len(names) - NAMED})" if len(names) > NAMED else shown
