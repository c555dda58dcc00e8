"""Parse uploaded CSV files into text cells. Errors name the file, row, column and kind of each problem."""

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from anoncup.errors import MAX_LISTED_PROBLEMS, MAX_VALUE_LENGTH, FileProblem, InvalidUpload
from anoncup.messages import N_, Message, PluralMessage
from anoncup.tables.files import MAX_CELL_LENGTH, MAX_ROWS, Remark
from anoncup.tables.foreign_formats import (
    INVISIBLE_PATTERN,
    build_invalid_byte_problem,
    find_invalid_utf8,
    list_invisible_codes,
    reject_foreign_formats,
)
from anoncup.tables.header_line import find_header_end, parse_header
from anoncup.tables.shift_jis import NotShiftJis, decode_shift_jis

NUMBER_PATTERN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
SMALLEST_NUMBER, LARGEST_NUMBER = 1e-30, 1e30
"""Limits of the absolute values of cells other than 0, so that no sum, square or product of them overflows or
vanishes."""
_SHORTEST_VANISHING = len("1e-324")
"""A shorter number that is not 0 does not vanish when it is converted to a float64."""
_REDACTED_TEXTS = {
    "header": N_("the columns in the first line are not the required ones"),
    "encoding": N_("the file is not UTF-8 text"),
}
"""Messages by code. They replace messages that could repeat the content of a file."""
CONTROL_PATTERN = r"[\x00-\x08\x0a-\x1f\x7f]"


class Problems:
    """The problems found in one file. All are counted, but only the first few are kept."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.first_problems: list[FileProblem] = []
        self.total = 0
        self.bad_rows_by_column: dict[str, NDArray[np.bool_]] = {}

    def add(
        self,
        code: str,
        message: Message,
        *,
        row: int | None = None,
        column: str | None = None,
        line: int | None = None,
        value: str | None = None,
    ) -> None:
        self.total += 1
        if len(self.first_problems) < MAX_LISTED_PROBLEMS:
            self.first_problems.append(FileProblem(self.file, row, column, code, message, line, value))

    def add_rows(
        self,
        is_bad: NDArray[np.bool_],
        column: str,
        code: str,
        reason: Message | Callable[[str], Message],
        *,
        cells: pa.Array,
    ) -> None:
        """Add a problem for every marked row of a column, unless its cell already has one.

        ``reason``: the text of the problem, or a function that returns it for a cell.
        """
        already_bad = self.bad_rows_by_column.get(column, np.zeros(len(is_bad), dtype=bool))
        self.bad_rows_by_column[column] = already_bad | is_bad
        rows = np.flatnonzero(is_bad & ~already_bad)
        for row in rows[:MAX_LISTED_PROBLEMS]:
            location: dict[str, Any] = {"row": int(row) + 1, "column": column}
            cell = cells[int(row)].as_py()
            message = Message(
                "{column}, row {row}: {what}", **location, what=reason(cell) if callable(reason) else reason
            )
            self.add(code, message, **location, value=cell[:MAX_VALUE_LENGTH])
        self.total += max(0, len(rows) - MAX_LISTED_PROBLEMS)

    def raise_if_any(self) -> None:
        if self.total:
            in_order = sorted(self.first_problems, key=lambda problem: problem.row or 0)
            raise InvalidUpload(in_order, total=self.total)


@contextmanager
def redact_values(column: str | None = None) -> Iterator[None]:
    """Remove the content of cells from errors about a column, or about any column if it is None.

    Without a column, messages that repeat a file's first line are replaced too: it may be a row of data.
    """
    try:
        yield
    except InvalidUpload as error:
        raise InvalidUpload(
            [_redact(problem, column) for problem in error.problems], total=error.total
        ) from None


def _redact(problem: FileProblem, column: str | None) -> FileProblem:
    if column is None and problem.code in _REDACTED_TEXTS:
        return replace(problem, column=None, message=Message(_REDACTED_TEXTS[problem.code]), value=None)
    return replace(problem, value=None) if column in {None, problem.column} else problem


def write_csv(table: pd.DataFrame) -> bytes:
    """Return a table as a CSV file, with floats in full precision."""
    return table.to_csv(index=False, lineterminator="\n").encode()


def decode_upload(content: bytes, file: str) -> tuple[bytes, list[Remark]]:
    """Return the text as UTF-8 without a byte order mark, and a remark if it was converted from CP932."""
    reject_foreign_formats(content, file)
    invalid_position = find_invalid_utf8(content)
    if invalid_position is None:
        return content.removeprefix(codecs.BOM_UTF8), []
    try:
        text = decode_shift_jis(content)
    except NotShiftJis as problem:
        # The encoding that fails later in the file is probably the intended one.
        raise InvalidUpload(
            [build_invalid_byte_problem(content, max(invalid_position, problem.offset), file)]
        ) from None
    message = Message("{file} is not UTF-8; it was read as Shift_JIS (CP932)", file=file)
    return text.encode(), [Remark("read_as_cp932", message)]


def read_header(text: bytes, file: str, separator: str = ",") -> list[str]:
    """Return the names of the columns; a line break in a name becomes a blank."""
    header_text = text[: find_header_end(text, separator)].decode(errors="ignore")
    if not header_text:
        message = Message("the file has no header line")
        raise InvalidUpload([FileProblem(file, None, None, "no_header", message, 1)])
    try:
        return parse_header(header_text, separator)
    except csv.Error as problem:
        if "unexpected end" in str(problem):
            message = Message("a quotation mark in the header line is opened and never closed")
        else:
            message = Message("the header line cannot be read: {reason}", reason=str(problem))
        raise InvalidUpload([FileProblem(file, None, None, "header", message, 1)]) from None


def read_cells(
    text: bytes, header: Sequence[str], file: str, *, max_rows: int = MAX_ROWS, separator: str = ","
) -> pa.Table:
    """Return every cell as text. Ragged rows, blank lines and unclosed quotes are rejected with their rows.

    A file with far more lines than ``max_rows`` is rejected without being parsed. A moderate excess is
    possible, because cells may contain line breaks.
    """
    problems = Problems(file)
    # Trailing blank lines are no rows, except in a file with a single column, where the cell is empty.
    end = len(text.rstrip(b"\r\n")) if len(header) > 1 else len(text)
    if max(text.count(b"\n", 0, end), text.count(b"\r", 0, end)) > min(MAX_ROWS + 1, 2 * (max_rows + 1000)):
        # A parsed table takes several times the memory of its text, and millions of lines take long to parse.
        message = Message("the file has more than {most} lines below its header", most=max_rows)
        problems.add("too_many_rows", message)
    problems.raise_if_any()
    body = pa.py_buffer(text).slice(0, end)
    # Arrow skips one line of the header, therefore its last line without the cells.
    header_end = min(find_header_end(text, separator), end)

    def skip_ragged(row: pyarrow.csv.InvalidRow) -> str:
        _add_ragged_problem(row, problems)
        return "skip"

    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(body.slice(header_end)),
            read_options=pyarrow.csv.ReadOptions(
                use_threads=False,  # only a serial reader knows row numbers
                block_size=end + 1,
                column_names=list(header),
                skip_rows=1,
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=True,
                ignore_empty_lines=False,
                invalid_row_handler=skip_ragged,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()),
                strings_can_be_null=False,
                check_utf8=False,  # done by ``decode_upload``
            ),
        )
    except pa.ArrowInvalid:
        # Arrow rejects a table without rows.
        table = pa.table({name: pa.array([], pa.string()) for name in header})
    problems.raise_if_any()
    if b'"' in text or may_have_blank_lines(table):
        _check_lines(body, len(header), problems, separator)
    return table


def may_have_blank_lines(table: pa.Table) -> bool:
    """Return whether a row begins with an empty cell. Arrow reads a blank line as a row of empty cells."""
    return bool(table.num_columns) and pc.min(pc.binary_length(table.column(0))).as_py() == 0


def _add_ragged_problem(row: pyarrow.csv.InvalidRow, problems: Problems) -> None:
    row_number = None if row.number is None else row.number - 1
    if _has_unclosed_quote(row.text or ""):
        _add_unclosed_problem(row_number, problems)
    else:
        sizes = {"row": row_number, "found": row.actual_columns, "needed": row.expected_columns}
        message = PluralMessage(
            "row {row} has {found} cell instead of {needed}",
            "row {row} has {found} cells instead of {needed}",
            "found",
            **sizes,
        )
        problems.add("ragged_row", message, row=row_number)


def _has_unclosed_quote(text: str) -> bool:
    """Return whether a row extends to the end of the file because a quotation mark is never closed."""
    if text.count('"') % 2 == 0:
        return False
    try:
        next(csv.reader([text], strict=True))
    except csv.Error as problem:
        return "unexpected end" in str(problem) or "limit" in str(problem)
    return False


def _add_unclosed_problem(row: int | None, problems: Problems) -> None:
    message = Message("row {row}: a quotation mark is opened and never closed", row=row)
    problems.add("unclosed_quote", message, row=row)


def _check_lines(body: pa.Buffer, column_count: int, problems: Problems, separator: str) -> None:
    """Reject errors that Arrow ignores: blank lines between rows of several cells, and wrong quotes."""
    row = -1
    lines = io.TextIOWrapper(pa.BufferReader(body), encoding="utf-8", newline="")
    try:
        for row, cells in enumerate(csv.reader(lines, delimiter=separator, strict=True)):
            if not cells and column_count > 1:
                problems.add("blank_line", Message("row {row} is a blank line", row=row), row=row)
    except csv.Error as problem:
        _add_quote_problem(str(problem), row + 1, problems)
    problems.raise_if_any()


def _add_quote_problem(reader_error: str, row: int, problems: Problems) -> None:
    """Add the strict reader's error about a row. Too long cells are reported by ``check_text``."""
    if "unexpected end" in reader_error:
        _add_unclosed_problem(row, problems)
    elif "expected after" in reader_error:
        message = Message("row {row}: text follows the closing quotation mark of a cell", row=row)
        problems.add("text_after_quote", message, row=row)


def iterate_text_columns(table: pa.Table) -> Iterator[tuple[str, pa.Array]]:
    for name in table.column_names:
        column = table.column(name)
        yield name, column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def check_text(column: pa.Array, name: str, problems: Problems) -> None:
    if not _is_printable_ascii(column):
        _check_characters(column, name, problems)
    long_mask = convert_to_mask(pc.greater(pc.utf8_length(column), MAX_CELL_LENGTH))
    message = Message("more than {most} characters in a cell", most=MAX_CELL_LENGTH)
    problems.add_rows(long_mask, name, "cell_too_long", message, cells=column)


def _is_printable_ascii(column: pa.Array) -> bool:
    """Tell it from the bytes of all cells, thirty times faster than regular expressions look at each cell."""
    codes = np.frombuffer(column.buffers()[2] or b"", dtype=np.uint8)
    return bool(codes.min(initial=0x20) >= 0x20 and codes.max(initial=0x20) < 0x7F)


def _check_characters(column: pa.Array, name: str, problems: Problems) -> None:
    control_mask = convert_to_mask(pc.match_substring_regex(column, CONTROL_PATTERN))
    message = Message("a line break or control character in a cell")
    problems.add_rows(control_mask, name, "control_character", message, cells=column)
    invisible_mask = convert_to_mask(pc.match_substring_regex(column, INVISIBLE_PATTERN))
    problems.add_rows(invisible_mask, name, "invisible_character", _describe_invisible, cells=column)


def _describe_invisible(cell: str) -> Message:
    return Message("invisible characters in a cell: {codes}", codes=list_invisible_codes(cell))


def parse_numbers(
    column: pa.Array, name: str, problems: Problems, *, smallest: float = SMALLEST_NUMBER
) -> NDArray[np.float64]:
    """Return the column as float64, correctly rounded; cells that are not numbers of a table are problems.

    These are 0 and absolute values from ``smallest`` to ``LARGEST_NUMBER``. Cells that are no numbers become
    NaN. Comparisons with NaN are false, so later range checks ignore it.
    """
    parsed = parse_plain_numbers(column)
    values = _parse_unusual_numbers(column, name, problems) if parsed is None else parsed
    sizes = np.abs(values)
    is_outside = (sizes > LARGEST_NUMBER) | ((sizes < smallest) & (sizes > 0))
    if smallest > 0:
        is_outside |= _find_vanished(column, values)
    message = Message(
        "not in the range of numbers: 0, or from {least} to {most} without the sign",
        least=SMALLEST_NUMBER,
        most=LARGEST_NUMBER,
    )
    problems.add_rows(is_outside, name, "out_of_range", message, cells=column)
    return values


def _find_vanished(column: pa.Array, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each cell is a number that is too close to 0 for a float64, such as 1e-400."""
    is_long = pc.binary_length(column).to_numpy() >= _SHORTEST_VANISHING
    is_vanished: NDArray[np.bool_] = (values == 0) & is_long
    if is_vanished.any():
        zeros = column.filter(pa.array(is_vanished))
        is_vanished[is_vanished] = convert_to_mask(pc.match_substring_regex(zeros, r"^[^eE]*[1-9]"))
    return is_vanished


def limit_numbers(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move computed numbers to the nearest ones that a table may hold; those that are too small become 0."""
    limited = np.clip(values, -LARGEST_NUMBER, LARGEST_NUMBER)
    return np.where(np.abs(limited) < SMALLEST_NUMBER, 0.0, limited)


def _parse_unusual_numbers(column: pa.Array, name: str, problems: Problems) -> NDArray[np.float64]:
    """Parse a column in which some cells are no finite numbers; those that are no numbers are problems."""
    is_missing = convert_to_mask(pc.equal(column, ""))
    problems.add_rows(is_missing, name, "missing_value", Message("a number is missing"), cells=column)
    is_well_formed = convert_to_mask(pc.match_substring_regex(column, NUMBER_PATTERN))
    is_malformed = ~is_well_formed & ~is_missing
    problems.add_rows(is_malformed, name, "not_a_number", Message("not a decimal number"), cells=column)
    values = np.full(len(column), np.nan)
    values[is_well_formed] = list(map(float, column.filter(pa.array(is_well_formed)).to_pylist()))
    return values


def parse_plain_numbers(column: pa.Array) -> NDArray[np.float64] | None:
    """Parse the column in one step, or return None if cells must be examined one by one.

    Arrow rounds correctly. It also accepts words such as ``nan``, but whatever it parses as a finite number
    matches ``NUMBER_PATTERN``.
    """
    try:
        values: NDArray[np.float64] = np.array(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    return values if np.isfinite(values).all() else None


def convert_to_mask(column: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=bool)
