"""CSV files that strangers wrote: bytes to text cells, or InvalidUpload with file, row, column and code."""

import codecs
import csv
import io
import re
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

from anoncup.errors import LISTED, LONGEST_VALUE, InvalidUpload, Problem
from anoncup.messages import N_, Counted, Message
from anoncup.tables.files import MAX_CELL, MAX_ROWS, Remark
from anoncup.tables.foreign_formats import (
    INVISIBLE,
    PIECE,
    first_foreign,
    foreign_byte,
    invisible_codes,
    refuse_foreign,
)
from anoncup.tables.shift_jis import NotShiftJis, from_shift_jis

NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
UNTOLD = {
    "header": N_("the columns in the first line are not the required ones"),
    "encoding": N_("the file is not UTF-8 text"),
}
"""By code, what is said where nothing of the file may be."""
LONGEST_HEADER = 1_000_000
"""Characters; the rest of a longer one is not looked at."""
CONTROL = r"[\x00-\x08\x0a-\x1f\x7f]"
FIRST_BYTE_OF_INVISIBLE = 0xE2


class Problems:
    """The problems found in one file: the first few kept, all counted."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.listed: list[Problem] = []
        self.total = 0
        self.refused: dict[str, NDArray[np.bool_]] = {}

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
        if len(self.listed) < LISTED:
            self.listed.append(Problem(self.file, row, column, code, message, line, value))

    def add_rows(
        self,
        bad: NDArray[np.bool_],
        column: str,
        code: str,
        what: Message | Callable[[str], Message],
        *,
        cells: pa.Array,
    ) -> None:
        """Add one problem for every marked row of a column, unless its cell has one already.

        ``what`` is wrong there, or with that cell.
        """
        before = self.refused.get(column, np.zeros(len(bad), dtype=bool))
        self.refused[column] = before | bad
        rows = np.flatnonzero(bad & ~before)
        for row in rows[:LISTED]:
            at: dict[str, Any] = {"row": int(row) + 1, "column": column}
            cell = cells[int(row)].as_py()
            message = Message(
                "{column}, row {row}: {what}", **at, what=what(cell) if callable(what) else what
            )
            self.add(code, message, **at, value=cell[:LONGEST_VALUE])
        self.total += max(0, len(rows) - LISTED)

    def check(self) -> None:
        if self.total:
            in_order = sorted(self.listed, key=lambda problem: problem.row or 0)
            raise InvalidUpload(in_order, total=self.total)


@contextmanager
def unrepeated(column: str | None = None) -> Iterator[None]:
    """What is refused of a column (None: of any) is told without what stands there, be it the first line of a
    file without a header."""
    try:
        yield
    except InvalidUpload as refused:
        raise InvalidUpload(
            [untold(each, column) for each in refused.problems], total=refused.total
        ) from None


def untold(problem: Problem, column: str | None) -> Problem:
    if column is None and problem.code in UNTOLD:
        return replace(problem, column=None, message=Message(UNTOLD[problem.code]), value=None)
    return replace(problem, value=None) if column in {None, problem.column} else problem


def table_csv(table: pd.DataFrame) -> bytes:
    """A table as a CSV file that parses back to itself, floats in full precision."""
    return table.to_csv(index=False, lineterminator="\n").encode()


def decoded(content: bytes, file: str) -> tuple[bytes, list[Remark]]:
    """The file's text in UTF-8 without BOM: as it is, or translated from Japanese in CP932, which is said."""
    refuse_foreign(content, file)
    foreign = first_foreign(content)
    if foreign is None:
        return content.removeprefix(codecs.BOM_UTF8), []
    try:
        text = from_shift_jis(content)
    except NotShiftJis as problem:
        # The reading that gets further is the one that was meant.
        raise InvalidUpload([foreign_byte(content, max(foreign, problem.at), file)]) from None
    message = Message("{file} is not UTF-8; it was read as Shift_JIS (CP932)", file=file)
    return text.encode(), [Remark("read_as_cp932", message)]


def header_of(text: bytes, file: str) -> list[str]:
    line = re.split(rb"[\r\n]", text[: 4 * LONGEST_HEADER], maxsplit=1)[0]
    first = line.decode(errors="ignore")[:LONGEST_HEADER]
    if not first:
        message = Message("the file has no header line")
        raise InvalidUpload([Problem(file, None, None, "no_header", message, 1)])
    try:
        return next(csv.reader([first], strict=True))
    except csv.Error as problem:
        message = Message("the header line cannot be read: {reason}", reason=str(problem))
        raise InvalidUpload([Problem(file, None, None, "header", message, 1)]) from None


def cells(text: bytes, header: Sequence[str], file: str, *, most_rows: int = MAX_ROWS) -> pa.Table:
    """Every cell as text; ragged rows, blank lines and open quotes are refused with their row.

    A file with far more lines than ``most_rows`` is refused unread; a few more may be cells with line breaks.
    """
    problems = Problems(file)
    end = end_of_rows(text, len(header))
    if max(counted(mark, text, end) for mark in (b"\n", b"\r")) > min(MAX_ROWS + 1, 2 * (most_rows + 1000)):
        # As a table it takes several times its memory, and a file of line ends keeps the reader busy.
        message = Message("the file has more than {most} lines below its header", most=most_rows)
        problems.add("too_many_rows", message)
    problems.check()
    body = pa.py_buffer(text).slice(0, end)

    def ragged(row: pyarrow.csv.InvalidRow) -> str:
        describe_ragged(row, problems)
        return "skip"

    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(body),
            read_options=pyarrow.csv.ReadOptions(
                use_threads=False,  # row numbers are known only to a serial reader
                block_size=end + 1,
                column_names=list(header),
                skip_rows=1,
            ),
            parse_options=pyarrow.csv.ParseOptions(
                newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=ragged
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()),
                strings_can_be_null=False,
                check_utf8=False,  # decoded() did
            ),
        )
    except pa.ArrowInvalid:
        # Arrow knows no table without a single row.
        table = pa.table({name: pa.array([], pa.string()) for name in header})
    problems.check()
    if occurs(b'"', text, end) or may_have_blank_lines(table):
        check_lines(body, len(header), problems)
    return table


def end_of_rows(text: bytes, width: int) -> int:
    """Where the last row ends. Blank lines at the very end are no rows, except in a single column, where each
    is an empty cell."""
    end = len(text)
    while width > 1 and end:
        start = max(0, end - PIECE)
        rest = text[start:end].rstrip(b"\r\n")
        end = start + len(rest)
        if rest:
            break
    return end


def may_have_blank_lines(table: pa.Table) -> bool:
    """Whether a first cell is empty, as are all those of a blank line, which Arrow takes for a row."""
    return bool(table.num_columns) and pc.min(pc.binary_length(table.column(0))).as_py() == 0


def counted(mark: bytes, text: bytes, end: int) -> int:
    """How often a single byte occurs before ``end``."""
    letters = np.frombuffer(text, dtype=np.uint8)
    return sum(int(np.count_nonzero(letters[start:stop] == ord(mark))) for start, stop in pieces(end))


def occurs(mark: bytes, text: bytes, end: int) -> bool:
    return any(text.find(mark, *bounds) >= 0 for bounds in pieces(end))


def pieces(end: int) -> Iterator[tuple[int, int]]:
    """Where to look one after the other: while a text is searched, the interpreter does nothing else."""
    for start in range(0, end, PIECE):
        yield start, min(start + PIECE, end)


def describe_ragged(row: pyarrow.csv.InvalidRow, problems: Problems) -> None:
    number = None if row.number is None else row.number - 1
    if is_unclosed(row.text or ""):
        add_unclosed(number, problems)
    else:
        sizes = {"row": number, "found": row.actual_columns, "needed": row.expected_columns}
        message = Counted(
            "row {row} has {found} cell instead of {needed}",
            "row {row} has {found} cells instead of {needed}",
            "found",
            **sizes,
        )
        problems.add("ragged_row", message, row=number)


def is_unclosed(text: str) -> bool:
    """Whether a row goes on to the end of the file, because a quotation mark is never closed."""
    if text.count('"') % 2 == 0:
        return False
    try:
        next(csv.reader([text], strict=True))
    except csv.Error as problem:
        return "unexpected end" in str(problem) or "limit" in str(problem)
    return False


def add_unclosed(row: int | None, problems: Problems) -> None:
    message = Message("row {row}: a quotation mark is opened and never closed", row=row)
    problems.add("unclosed_quote", message, row=row)


def check_lines(body: pa.Buffer, width: int, problems: Problems) -> None:
    """Refuse what Arrow reads past: blank lines among several columns, quoted cells without a proper end."""
    row = -1
    lines = io.TextIOWrapper(pa.BufferReader(body), encoding="utf-8", newline="")
    try:
        for row, found in enumerate(csv.reader(lines, strict=True)):
            if not found and width > 1:
                problems.add("blank_line", Message("row {row} is a blank line", row=row), row=row)
    except csv.Error as problem:
        add_quote_problem(str(problem), row + 1, problems)
    problems.check()


def add_quote_problem(said: str, row: int, problems: Problems) -> None:
    """What the strict reader said about a row; a cell beyond its size limit is left to ``check_text``."""
    if "unexpected end" in said:
        add_unclosed(row, problems)
    elif "expected after" in said:
        message = Message("row {row}: text follows the closing quotation mark of a cell", row=row)
        problems.add("text_after_quote", message, row=row)


def text_columns(table: pa.Table) -> Iterator[tuple[str, pa.Array]]:
    for name in table.column_names:
        column = table.column(name)
        yield name, column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def check_text(column: pa.Array, name: str, problems: Problems) -> None:
    if has_control(column):
        control = marks(pc.match_substring_regex(column, CONTROL))
        what = Message("a line break or control character in a cell")
        problems.add_rows(control, name, "control_character", what, cells=column)
    if may_be_invisible(column):
        invisible = marks(pc.match_substring_regex(column, INVISIBLE))
        problems.add_rows(invisible, name, "invisible_character", describe_invisible, cells=column)
    if has_long(column):
        long = marks(pc.greater(pc.utf8_length(column), MAX_CELL))
        what = Message("more than {most} characters in a cell", most=MAX_CELL)
        problems.add_rows(long, name, "cell_too_long", what, cells=column)


def has_control(column: pa.Array) -> bool:
    """False only if no cell has a control character."""
    found = letters(column)
    if found.min(initial=32) < 32 and bool(((found < 32) & (found != 9)).any()):
        return True
    return bool((found == 127).any())


def may_be_invisible(column: pa.Array) -> bool:
    """Return False only if no cell has an invisible character."""
    return bool(letters(column).max(initial=0) >= FIRST_BYTE_OF_INVISIBLE)


def describe_invisible(cell: str) -> Message:
    return Message("invisible characters in a cell: {codes}", codes=invisible_codes(cell))


def has_long(column: pa.Array) -> bool:
    """False only if no cell is too long: no text has more characters than bytes."""
    longest = pc.max(pc.binary_length(column)).as_py()
    return longest is not None and longest > MAX_CELL


def letters(column: pa.Array) -> NDArray[np.uint8]:
    """The bytes of all cells, one after the other."""
    content = column.buffers()[2]
    return np.frombuffer(content or b"", dtype=np.uint8)


def numbers(column: pa.Array, name: str, problems: Problems) -> NDArray[np.float64]:
    """The column as float64, each cell correctly rounded; every cell must hold a finite number.

    NaN where one does not: it lies in no range, and beyond none.
    """
    plain = plain_numbers(column)
    if plain is not None:
        return plain
    missing = marks(pc.equal(column, ""))
    problems.add_rows(missing, name, "missing_value", Message("a number is missing"), cells=column)
    well_formed = marks(pc.match_substring_regex(column, NUMBER))
    wrong = ~well_formed & ~missing
    problems.add_rows(wrong, name, "not_a_number", Message("not a decimal number"), cells=column)
    values = np.full(len(column), np.nan)
    values[well_formed] = list(map(float, column.filter(pa.array(well_formed)).to_pylist()))
    what = Message("too large for a 64-bit number")
    problems.add_rows(np.isinf(values), name, "not_finite", what, cells=column)
    return values


def plain_numbers(column: pa.Array) -> NDArray[np.float64] | None:
    """The same at once, or None where a cell must be looked at by itself.

    Arrow rounds correctly too. It also reads words such as ``nan``, but finite are only those that ``NUMBER``
    allows.
    """
    try:
        values: NDArray[np.float64] = np.array(column.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    return values if np.isfinite(values).all() else None


def marks(column: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=bool)
