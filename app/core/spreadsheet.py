"""CSV files for people. Text cells cannot start a formula; numbers keep their full precision.

They begin with a byte order mark, without which Excel takes UTF-8 for the encoding of its region. Files that
programs read back (originals, releases, targets, guesses, secrets) are written by the library, without it.
"""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from types import MappingProxyType

from anoncup.schemas import BoardLine
from app.core.identity import names

FORMULA_PREFIXES = ("=", "+", "-", "@")
"""Compared after NFKC normalization, because Japanese spreadsheets read ＝ as =."""
_CELL_SEPARATORS = ("\t", "\r", "\n")
"""Characters that must not start a cell, because a spreadsheet may begin another cell there."""


def render_board_csv(
    columns: Sequence[str],
    lines: Iterable[BoardLine],
    columns_by_field: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> bytes:
    """Render the given columns of a board as CSV.

    ``columns_by_field`` has the columns of the fields that hold several numbers.
    """
    header = [column for name in columns for column in columns_by_field.get(name, [name])]
    return render_csv(header, ([*_iter_cells(line, columns, columns_by_field)] for line in lines))


def _iter_cells(
    line: BoardLine, columns: Iterable[str], columns_by_field: Mapping[str, Sequence[str]]
) -> Iterator[object]:
    for name in columns:
        match getattr(line, name):
            case Mapping() as numbers:
                yield from (numbers.get(column) for column in columns_by_field[name])
            case None if name in columns_by_field:
                yield from (None for _ in columns_by_field[name])
            case value:
                yield value


def render_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    for row in chain([header], rows):
        writer.writerow(map(_format_cell, row))
    return buffer.getvalue().encode("utf-8-sig")


def _format_cell(cell: object) -> object:
    match cell:
        case str():
            return escape_formula(cell)
        case bool():
            return str(cell).lower()
        case datetime():
            return cell.astimezone(UTC).isoformat()
    return cell


def escape_formula(cell: str) -> str:
    """Prefix a text with an apostrophe if a spreadsheet would compute it."""
    return "'" + cell if _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    """Return whether the cell starts a formula, also after invisible characters are dropped."""
    first = next((character for character in cell if not _is_ignorable(character)), "")
    return cell.startswith(_CELL_SEPARATORS) or unicodedata.normalize("NFKC", first) in FORMULA_PREFIXES


def _is_ignorable(character: str) -> bool:
    """Return whether a character is white space or invisible, so that a reader may drop it."""
    is_control = unicodedata.category(character) in {"Cc", "Cf"}
    return is_control or character.isspace() or names.is_hidden(character)
