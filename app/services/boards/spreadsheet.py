"""Boards as CSV: text cells cannot start a formula; numbers stay numbers, in full precision."""

import csv
import io
from collections.abc import Iterable, Sequence

FORMULA_START = ("=", "+", "-", "@", "\t", "\r")


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([harmless(cell) for cell in head])
    for row in rows:
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def harmless(cell: str) -> str:
    """A text that a spreadsheet shows and does not compute."""
    return "'" + cell if cell.startswith(FORMULA_START) else cell
