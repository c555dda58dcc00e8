"""Guess whether the first line of an organizer's table is a header, and repair headers and columns."""

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.tables.csv_text import (
    CONTROL_PATTERN,
    NUMBER_PATTERN,
    decode_upload,
    iterate_text_columns,
    read_cells,
    read_header,
    write_csv,
)
from anoncup.tables.header_line import find_header_end
from anoncup.tables.profile.model import HeaderGuess

_MAX_COMPARED_ROWS = 200
"""Number of rows with which the first line is compared."""
_PREVIEW_ROWS = 3
_MAX_NAME_LENGTH = 80
_BLANK_PATTERN = re.compile(r"[\s_\-\u200b-\u200d\u2060\ufeff]+")
_LINE_END = re.compile(rb"\r\n|\n|\r")


def guess_header(
    content: bytes, file: str, required: Sequence[str] | None, optional: Sequence[str] = ()
) -> HeaderGuess:
    """Guess whether a file has a header, and propose the names of its columns.

    ``required``: the columns that the file must have, or None if any columns are allowed. ``optional``: the
    columns of the competition in the latter case.
    """
    first_line, *rows_below = _read_first_rows(decode_upload(content, file)[0], file)
    expected = optional if required is None and _has_same_names(first_line, optional) else required or ()
    is_data = looks_like_data(first_line, rows_below) and not _has_known_name(
        first_line, required or optional
    )
    names = propose_names(first_line, expected, is_data=is_data)
    is_respelled = not is_data and names != tuple(first_line) and _has_same_spelling(first_line, names)
    return HeaderGuess(
        tuple(first_line), is_data, names, is_respelled, tuple(map(tuple, rows_below[:_PREVIEW_ROWS]))
    )


def _read_first_rows(text: bytes, file: str) -> list[list[str]]:
    """Return the first line and the rows below it, as far as they can be parsed."""
    rows = [read_header(text, file)]
    line = _LINE_END.search(text, find_header_end(text))
    rest = text[line.end() : line.end() + (1 << 20)] if line else b""
    try:
        for row in csv.reader(io.StringIO(rest.decode(errors="ignore"), newline=""), strict=True):
            rows.append(row)
            if len(rows) > _MAX_COMPARED_ROWS:
                break
    except csv.Error:
        pass  # The error is reported when the whole file is read.
    return rows


def looks_like_data(first_line: Sequence[str], rows_below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line could be a row of data.

    At least one of its cells fits the cells below, because it is a number in a numeric column or occurs again
    in the same column. No cell is a word in a numeric column.

    >>> looks_like_data(["31", "f"], [["40", "m"], ["23", "f"]])
    True
    >>> looks_like_data(["age", "sex"], [["40", "m"], ["23", "f"]])
    False
    """
    votes = [
        _classify_cell(cell, [row[column] for row in rows_below if column < len(row)])
        for column, cell in enumerate(first_line)
    ]
    return "name" not in votes and "row" in votes


def _classify_cell(cell: str, column: Sequence[str]) -> str:
    """Return "row" if a cell looks like the cells below it, "name" if it does not, or "" if it is unclear."""
    filled_cells = [cell_below for cell_below in column if cell_below]
    if not cell or not filled_cells:
        return ""
    if all(re.match(NUMBER_PATTERN, cell_below) for cell_below in filled_cells):
        return "row" if re.match(NUMBER_PATTERN, cell) else "name"
    return "row" if cell in filled_cells else ""


def normalize_name(name: str) -> str:
    """Return a name in a form that ignores case, full width, blanks, hyphens, underscores and the like."""
    return _BLANK_PATTERN.sub("", unicodedata.normalize("NFKC", name)).casefold()


def _has_same_spelling(names: Sequence[str], other_names: Sequence[str]) -> bool:
    return [normalize_name(name) for name in names] == [normalize_name(name) for name in other_names]


def _has_same_names(names: Sequence[str], other_names: Sequence[str]) -> bool:
    """Return whether the names are the same in any order, apart from their spelling."""
    return sorted(map(normalize_name, names)) == sorted(map(normalize_name, other_names))


def _has_known_name(first_line: Sequence[str], expected: Sequence[str]) -> bool:
    return bool({normalize_name(name) for name in first_line} & {normalize_name(name) for name in expected})


def propose_names(cells: Sequence[str], expected: Sequence[str], *, is_data: bool) -> tuple[str, ...]:
    """Propose a unique name for each column.

    An expected name is assigned to the cell with the same spelling, apart from case and the like. The other
    expected names are assigned by position if the number of columns is right.
    """
    by_spelling = {normalize_name(name): name for name in expected}
    names = ["" if is_data else by_spelling.pop(normalize_name(cell), "") for cell in cells]
    unused_names = iter([name for name in expected if name not in names])
    if is_data or len(cells) == len(expected):
        names = [name or next(unused_names, "") for name in names]
    own_names = ["" if is_data else cell.replace("\ufeff", "").strip() for cell in cells]
    result: list[str] = []
    for position, (name, cell) in enumerate(zip(names, own_names, strict=True), 1):
        candidate = name or re.sub(CONTROL_PATTERN, "", cell)[:_MAX_NAME_LENGTH]
        result.append(_make_unique(candidate, position, (*result, *filter(None, names[position:]))))
    return tuple(result)


def _make_unique(name: str, position: int, taken_names: Sequence[str]) -> str:
    """Return the name, or ``column_…`` with its position if it is empty or taken."""
    if name and name not in taken_names:
        return name
    number = next(
        number
        for number in range(position, position + len(taken_names) + 1)
        if f"column_{number}" not in taken_names
    )
    return f"column_{number}"


def _check_names(names: Sequence[str], file: str) -> None:
    """Raise InvalidUpload for empty, long or repeated names, and for control characters."""
    for position, name in enumerate(names, 1):
        if not name.strip() or len(name) > _MAX_NAME_LENGTH or re.search(CONTROL_PATTERN, name):
            values = {"place": position, "most": _MAX_NAME_LENGTH}
            message = Message("column {place}: a name of 1 to {most} characters is needed", **values)
            raise _build_header_error(file, None, message)
        if name in names[: position - 1]:
            raise _build_header_error(file, name, Message("the header names {name!r} twice", name=name))


def _build_header_error(
    file: str, column: str | None, message: Message, code: str = "header"
) -> InvalidUpload:
    return InvalidUpload([FileProblem(file, None, column, code, message, 1)])


def check_first_line(content: bytes, file: str, known_names: Sequence[str]) -> None:
    """Reject a file that begins with a row of data, with a single problem instead of one for each cell.

    ``known_names``: possible column names; a line that contains one of them is a header.
    """
    if guess_header(content, file, None, known_names).is_data:
        message = Message("the first line looks like data, not like names of columns")
        raise _build_header_error(file, None, message, "no_header")


def replace_header(content: bytes, names: Sequence[str], file: str, *, first_is_data: bool) -> bytes:
    """Return the file in UTF-8 with a new header. The previous first line is kept if it is data."""
    _check_names(names, file)
    text, _ = decode_upload(content, file)
    line = _LINE_END.search(text, find_header_end(text))
    rest = text if first_is_data else text[line.end() :] if line else b""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(names)
    return buffer.getvalue().encode() + rest


def rearrange_columns(
    content: bytes, sources: Mapping[str, int | str], file: str, *, first_is_data: bool
) -> bytes:
    """Return a table with the columns of ``sources``, in this order.

    Each source is the number of a column in the file, from 0, or a text that every row gets.
    """
    text, _ = decode_upload(content, file)
    positions = [str(index) for index in range(len(read_header(text, file)))]
    table = read_cells(
        ",".join(positions).encode() + b"\n" + text if first_is_data else text, positions, file
    )
    columns = [
        table.column(source) if isinstance(source, int) else pa.array([source] * table.num_rows, pa.string())
        for source in sources.values()
    ]
    return write_csv(pa.table(columns, names=list(sources)).to_pandas())


def drop_columns(content: bytes, dropped_columns: Sequence[str], file: str) -> bytes:
    """Return the table without ``dropped_columns``; other cells are unchanged."""
    text, _ = decode_upload(content, file)
    header = read_header(text, file)
    table = read_cells(text, header, file)
    return write_csv(table.select([name for name in header if name not in dropped_columns]).to_pandas())


def fill_zeros(content: bytes, filled_columns: Sequence[str], file: str) -> bytes:
    """Return the table with 0 in those cells of ``filled_columns`` that are not numbers."""
    text, _ = decode_upload(content, file)
    table = read_cells(text, read_header(text, file), file)
    for index, (name, column) in enumerate(iterate_text_columns(table)):
        if name in filled_columns:
            is_number = pc.match_substring_regex(column, NUMBER_PATTERN)
            table = table.set_column(index, name, pc.if_else(is_number, column, "0"))
    return write_csv(table.to_pandas())
