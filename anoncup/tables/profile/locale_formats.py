"""Tables as spreadsheets of other countries write them: cells apart by semicolons, numbers with commas."""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from anoncup.tables.csv_text import NUMBER, decoded
from anoncup.tables.profile.model import Foreign, Rewritten

SEPARATORS = (";", "\t")
SAID = re.compile(r"sep=(.)\s*")
"""What Excel takes a file's first line for."""
QUOTED = re.compile('"[+-]?[0-9]{1,3}(,[0-9]{3})+')
"""A number with commas between thousands, without which a file of commas is not looked at cell by cell."""
MOST_BYTES = 32 << 20
"""Of a text that is taken apart in memory, many times its size."""
MARKS = " \u00a0\u202f'’"
"""Between thousands, whichever sign stands before decimals."""
GROUPED = {
    decimal: re.compile(
        rf"[+-]?(?:[0-9]+|[0-9]{{1,3}}(?P<mark>[{re.escape(other + MARKS)}])[0-9]{{3}}"
        rf"(?:(?P=mark)[0-9]{{3}})*)"
        rf"(?:{re.escape(decimal)}[0-9]+)?"
    )
    for decimal, other in ((",", "."), (".", ","))
}
"""By the sign before decimals, a number whose thousands may stand apart."""


def in_commas(content: bytes, file: str) -> tuple[bytes, Foreign | None]:
    """The table with commas between its cells and points in its numbers, and what was another way; as it is,
    and None, if nothing was. InvalidUpload if it is no text.

    A file that cannot be read so stays as it is, too: its reader tells what is wrong.
    """
    text = decoded(content, file)[0].decode()
    separator, text = separator_of(text)
    if len(content) > MOST_BYTES or (separator == "," and not QUOTED.search(text)):
        return content, None
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    except (ValueError, csv.Error):
        return content, None
    decimal = "." if separator == "," else ","
    columns = [[row[place] for row in rows if place < len(row)] for place in range(len(header))]
    changed = foreign_columns(columns, decimal)
    if separator == "," and not changed:
        return content, None
    numbers = tuple(Rewritten(header[at], one, plain(one, decimal)) for at, one in changed.items())
    return written([header, *respelled(rows, changed, decimal)]), Foreign(separator, numbers)


def separator_of(text: str) -> tuple[str, str]:
    """What stands between cells, by the first line, and the text without the line that only says so."""
    first, _, rest = text.partition("\n")
    if (said := SAID.fullmatch(first)) and said[1] in {*SEPARATORS, ","}:
        return said[1], rest
    if "," in re.sub('"[^"]*"', "", first):
        return ",", text
    return max(SEPARATORS, key=first.count) if any(one in first for one in SEPARATORS) else ",", text


def foreign_columns(columns: Sequence[Sequence[str]], decimal: str) -> dict[int, str]:
    """By place the first number that is written another way, of columns that hold nothing else. Where one
    is, a point before three digits stands between thousands in the others too."""
    numeric = {
        place: column
        for place, column in enumerate(columns)
        if all(GROUPED[decimal].fullmatch(cell) for cell in column if cell)
    }
    sure = {
        place: cell
        for place, column in numeric.items()
        if (cell := next((one for one in column if one and not re.match(NUMBER, one)), None))
    }
    dotted = {place: next((one for one in column if "." in one), None) for place, column in numeric.items()}
    if decimal == "," and sure:
        sure |= {place: cell for place, cell in dotted.items() if cell and place not in sure}
    return dict(sorted(sure.items()))


def plain(number: str, decimal: str) -> str:
    whole, _, rest = number.partition(decimal)
    whole = re.sub("[^0-9+-]", "", whole)
    return f"{whole}.{rest}" if rest else whole


def respelled(rows: Sequence[Sequence[str]], places: dict[int, str], decimal: str) -> Iterator[list[str]]:
    for row in rows:
        yield [plain(cell, decimal) if place in places else cell for place, cell in enumerate(row)]


def written(rows: Sequence[Sequence[str]]) -> bytes:
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue().encode()
