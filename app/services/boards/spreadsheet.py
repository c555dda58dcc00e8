"""CSV export of boards. Text cells cannot start a formula; numbers keep their full precision."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from types import MappingProxyType

from anoncup.schemas import BoardLine
from app.services.accounts import names

FORMULA_PREFIXES = ("=", "+", "-", "@")
"""Compared after NFKC normalization, because Japanese spreadsheets read ＝ as =."""
_CELL_SEPARATORS = ("\t", "\r", "\n")
"""Characters that must not start a cell, because a spreadsheet may begin another cell there."""
_NO_PARTS: Mapping[str, Sequence[str]] = MappingProxyType({})


def render_board_csv(
    columns: Sequence[str], lines: Iterable[BoardLine], parts: Mapping[str, Sequence[str]] = _NO_PARTS
) -> str:
    """Render the given columns of a board as CSV.

    ``parts`` maps a field that holds several numbers to the names of its columns.
    """
    header = [part for name in columns for part in parts.get(name, [name])]
    return render_csv(header, ([*_iter_cells(line, columns, parts)] for line in lines))


def _iter_cells(
    line: BoardLine, columns: Iterable[str], parts: Mapping[str, Sequence[str]]
) -> Iterator[object]:
    for name in columns:
        match getattr(line, name):
            case Mapping() as numbers:
                yield from (numbers.get(part) for part in parts[name])
            case None if name in parts:
                yield from (None for _ in parts[name])
            case bool() as flag:
                yield str(flag).lower()
            case datetime() as moment:
                yield moment.isoformat()
            case value:
                yield value


def render_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return "".join(iter_csv_lines(header, rows))


def iter_csv_lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for row in chain([header], rows):
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\r\n")
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in row])
        yield buffer.getvalue()


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
