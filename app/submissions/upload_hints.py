"""Detect common mistakes in rejected files, and give hints on how to fix them.

Mistakes that the file reader itself recognizes are not repeated here.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.messages import N_, replace_control_characters
from anoncup.tables.foreign_formats import explain_header, is_binary_format
from anoncup.tracks.files import FileSpec
from anoncup.tracks.swapped_files import read_header

Hint = tuple[str, dict[str, Any]]
"""A message template and its values."""

MAX_SCANNED_BYTES = 8 << 20
"""Number of bytes searched in each file: enough for a table's header and for any valid secret."""
_MAX_LISTED_NAMES = 8
"""Maximum number of column names in a hint."""


def find_hints(
    files: Mapping[str, bytes],
    headers: Mapping[str, Sequence[str]],
    *,
    secret: FileSpec | None,
    original_rows: int,
) -> dict[str, list[Hint]]:
    """Return the hints by file name. ``headers`` are the required headers of the public files."""
    hints = {
        name: _find_table_hints(files[name], header) for name, header in headers.items() if name in files
    }
    if secret and secret.name in files:
        hints[secret.name] = _find_secret_hints(files[secret.name], secret, original_rows)
    return {name: file_hints for name, file_hints in hints.items() if file_hints}


def _find_table_hints(content: bytes, expected: Sequence[str]) -> list[Hint]:
    header = [] if is_binary_format(content) else read_header(content)
    if not header or explain_header(header, expected):
        return []
    missing_names = [name for name in expected if name not in header]
    extra_names = [name for name in header if name not in expected]
    hints = (
        [(N_("Missing columns: {names}."), {"names": _format_names(missing_names)})] if missing_names else []
    )
    return hints + (
        [(N_("Not among the columns: {names}."), {"names": _format_names(extra_names)})]
        if extra_names
        else []
    )


def _find_secret_hints(content: bytes, secret: FileSpec, original_rows: int) -> list[Hint]:
    if is_binary_format(content) or secret.kind != "permutation" or read_header(content) != ["original_row"]:
        return []
    text = N_("Rows seem to be counted from 0; they count from 1, so add 1 to each number.")
    return [(text, {})] if _is_numbered_from_zero(content, original_rows) else []


def _is_numbered_from_zero(content: bytes, original_rows: int) -> bool:
    """Return whether rows seem to be counted from 0: one is 0, and all are less than the number of rows."""
    numbers = [int(digits) for digits in re.findall(rb'(?m)^[ \t]*"?([0-9]{1,9})"?[ \t]*\r?$', content)]
    return 0 in numbers and max(numbers) < original_rows


def _format_names(names: Sequence[str]) -> str:
    """Join the names, cut to a few short ones, because a malformed file may have thousands."""
    listed_names = ", ".join(replace_control_characters(name[:40]) for name in names[:_MAX_LISTED_NAMES])
    return (
        f"{listed_names}, … (+{len(names) - _MAX_LISTED_NAMES})"
        if len(names) > _MAX_LISTED_NAMES
        else listed_names
    )
