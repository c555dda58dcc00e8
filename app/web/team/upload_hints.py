"""Mistakes that many make once, found in the files as they came: what to do is said beside what is wrong.

What the reader of the file has recognized is said by it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.messages import N_, visible
from anoncup.tables.foreign_formats import habit_of, is_no_text
from anoncup.tracks.files import FileSpec
from anoncup.tracks.swapped_files import header_in

Found = tuple[str, dict[str, Any]]
"""A text, and what is written into it."""

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
    found = {name: of_table(files[name], header) for name, header in headers.items() if name in files}
    if secret and secret.name in files:
        found[secret.name] = of_secret(files[secret.name], secret, originals)
    return {name: each for name, each in found.items() if each}


def of_table(content: bytes, expected: Sequence[str]) -> list[Found]:
    header = [] if is_no_text(content) else header_in(content)
    if not header or habit_of(header, expected):
        return []
    missing = [name for name in expected if name not in header]
    extra = [name for name in header if name not in expected]
    found = [(N_("Missing columns: {names}."), {"names": names_of(missing)})] if missing else []
    return found + ([(N_("Not among the columns: {names}."), {"names": names_of(extra)})] if extra else [])


def of_secret(content: bytes, secret: FileSpec, originals: int) -> list[Found]:
    if is_no_text(content) or secret.kind != "permutation" or header_in(content) != ["original_row"]:
        return []
    said = N_("Rows seem to be counted from 0; they count from 1, so add 1 to each number.")
    return [(said, {})] if from_zero(content, originals) else []


def from_zero(content: bytes, originals: int) -> bool:
    """Whether rows are counted from 0: there is a row 0, and none that would be one too many."""
    numbers = [int(each) for each in re.findall(rb"(?m)^[ \t]*([0-9]{1,9})[ \t]*\r?$", content)]
    return 0 in numbers and max(numbers) < originals


def names_of(names: Sequence[str]) -> str:
    """The first of them; a file of strangers may have thousands."""
    shown = ", ".join(visible(name[:40]) for name in names[:NAMED])
    return f"{shown}, … (+{len(names) - NAMED})" if len(names) > NAMED else shown
