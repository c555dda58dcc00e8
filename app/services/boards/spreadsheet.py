"""Boards as CSV: text cells cannot start a formula; numbers stay numbers, in full precision."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from anoncup.schemas import Line
from app.services.accounts import names

FORMULA_START = ("=", "+", "-", "@")
"""In any width: spreadsheets of Japan read ＝ as =."""
CELL_ENDS = ("\t", "\r", "\n")
"""What no cell begins with: a spreadsheet may begin another cell there."""
NO_PARTS: Mapping[str, Sequence[str]] = MappingProxyType({})


def board_csv(
    columns: Sequence[str], lines: Iterable[Line], parts: Mapping[str, Sequence[str]] = NO_PARTS
) -> str:
    """The fields of a board that are columns; ``parts``: those of a field that has several numbers."""
    head = [part for name in columns for part in parts.get(name, [name])]
    return csv_text(head, ([*cells(line, columns, parts)] for line in lines))


def cells(line: Line, columns: Iterable[str], parts: Mapping[str, Sequence[str]]) -> Iterator[object]:
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


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([harmless(cell) for cell in head])
    for row in rows:
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def harmless(cell: str) -> str:
    """A text that a spreadsheet shows and does not compute."""
    return "'" + cell if begins_formula(cell) else cell


def begins_formula(cell: str) -> bool:
    """Whether it begins so, or would without what is not seen."""
    first = next((one for one in cell if not skipped(one)), "")
    return cell.startswith(CELL_ENDS) or unicodedata.normalize("NFKC", first) in FORMULA_START


def skipped(character: str) -> bool:
    """White space, and what is not seen: it may be dropped when a file is read."""
    control = unicodedata.category(character) in {"Cc", "Cf"}
    return control or character.isspace() or names.hidden(character)
