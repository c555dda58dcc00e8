"""Detect common mistakes in rejected files and give hints on how to fix them.

Mistakes that the file reader recognizes have messages of their own.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.messages import N_, replace_control_characters
from anoncup.tables.foreign_formats import explain_header, is_binary_format
from anoncup.tracks.files import FileSpec
from anoncup.tracks.swapped_files import read_header

Hint = tuple[str, dict[str, Any]]
"""A text and the values used in it."""

MAX_SCANNED_BYTES = 8 << 20
"""Bytes of a file that are searched: enough for a table's header and for every secret that is read."""
_MAX_LISTED_NAMES = 8
"""Maximum number of columns listed."""


def find_hints(
    files: Mapping[str, bytes],
    headers: Mapping[str, Sequence[str]],
    *,
    secret: FileSpec | None,
    originals: int,
) -> dict[str, list[Hint]]:
    """Return the hints for each file; ``headers`` are the required headers of the public files."""
    hints = {
        name: _find_table_hints(files[name], header) for name, header in headers.items() if name in files
    }
    if secret and secret.name in files:
        hints[secret.name] = _find_secret_hints(files[secret.name], secret, originals)
    return {name: file_hints for name, file_hints in hints.items() if file_hints}


def _find_table_hints(content: bytes, expected: Sequence[str]) -> list[Hint]:
    header = [] if is_binary_format(content) else read_header(content)
    if not header or explain_header(header, expected):
        return []
    missing = [name for name in expected if name not in header]
    extra = [name for name in header if name not in expected]
    hints = [(N_("Missing columns: {names}."), {"names": _format_names(missing)})] if missing else []
    return hints + (
        [(N_("Not among the columns: {names}."), {"names": _format_names(extra)})] if extra else []
    )


def _find_secret_hints(content: bytes, secret: FileSpec, originals: int) -> list[Hint]:
    if is_binary_format(content) or secret.kind != "permutation" or read_header(content) != ["original_row"]:
        return []
    text = N_("Rows seem to be counted from 0; they count from 1, so add 1 to each number.")
    return [(text, {})] if _counts_from_zero(content, originals) else []


def _counts_from_zero(content: bytes, originals: int) -> bool:
    """Return whether rows are counted from 0: there is a row 0, and none after the last index."""
    numbers = [int(digits) for digits in re.findall(rb"(?m)^[ \t]*([0-9]{1,9})[ \t]*\r?$", content)]
    return 0 in numbers and max(numbers) < originals


def _format_names(names: Sequence[str]) -> str:
    """Return the first names; a malformed file may have thousands."""
    listed_names = ", ".join(replace_control_characters(name[:40]) for name in names[:_MAX_LISTED_NAMES])
    return (
        f"{listed_names}, … (+{len(names) - _MAX_LISTED_NAMES})"
        if len(names) > _MAX_LISTED_NAMES
        else listed_names
    )
