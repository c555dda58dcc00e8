"""Parse and write secrets and guesses: the original row that each anonymized row comes from.

X is the original table, Y the anonymized one. In memory, a source index is an integer array of rows counted
from 0; files count rows from 1.
"""

import csv
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike

from anoncup.errors import FileProblem, InvalidInput, InvalidUpload
from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.messages import Message, PluralMessage
from anoncup.tables.csv_text import (
    Problems,
    check_text,
    convert_to_mask,
    decode_upload,
    iterate_text_columns,
    read_cells,
    redact_values,
)
from anoncup.tables.files import Remark
from anoncup.tables.foreign_formats import explain_single_column, list_invisible_codes, reject_foreign_formats
from anoncup.tables.header_line import find_header_end, parse_header
from anoncup.tables.line_numbers import add_line_numbers
from anoncup.tracks.files import GUESS_FILE, SECRET_FILE

_ROW_NUMBER_PATTERN = r"^[ \t]*[0-9]{1,9}[ \t]*$"
_DIRECTIONS = ("original_row", "anonymized_row")
_THE_RELEASE, _THE_ORIGINAL, _THE_TARGET = (
    Message("the release"),
    Message("the original"),
    Message("the target"),
)
ORIGINAL_ORDER_REMARK = Remark(
    "rows_in_original_order",
    Message("most rows stand in the order of the original: guessing 'row j is row j' finds them"),
)
_COUNTED_FROM_ZERO_REMARK = Remark(
    "rows_from_zero",
    Message("rows seem to be counted from 0; count them from 1, and write 0 for a row that you do not guess"),
)


def parse_secret(content: bytes, *, original_count: int, anonymized_count: int | None) -> IntArray:
    """Return the source index s of a secret file: rows counted from 0, one for each anonymized row.

    The header names the direction: ``original_row`` (a line for each row of Y) or ``anonymized_row`` (a line
    for each row of X, 0 = deleted). InvalidUpload reports errors by row but never repeats a row number of the
    file (only a wrong 0 is mentioned), because more people see messages than secrets. ``anonymized_count`` is
    None if the release could not be parsed; then only errors that do not depend on it are found.
    """
    problems = Problems(SECRET_FILE)
    reject_foreign_formats(content, SECRET_FILE)
    with add_line_numbers({SECRET_FILE: content}), redact_values():
        direction, cells = _read_column(
            content,
            SECRET_FILE,
            _DIRECTIONS,
            Message(
                "the first line must be original_row or anonymized_row: a bare list of numbers is ambiguous"
            ),
            max_rows=original_count,
        )
        if direction == "original_row" and anonymized_count is not None:
            _check_length(len(cells), anonymized_count, problems, _THE_RELEASE)
        elif direction == "anonymized_row" or len(cells) > original_count:
            _check_length(len(cells), original_count, problems, _THE_ORIGINAL)
        lowest = 1 if direction == "original_row" else 0
        numbers = _parse_row_numbers(cells, direction, problems, lowest=lowest, highest=original_count)
        is_repeated = _find_repetitions(np.where(numbers > original_count, 0, numbers))
        message = Message("the row number is already used above")
        problems.add_rows(is_repeated, direction, "duplicate_row", message, cells=cells)
        problems.raise_if_any()
        if direction == "original_row" or anonymized_count is None:
            return numbers - 1
        return _invert_permutation(numbers, cells, anonymized_count)


def parse_guess(content: bytes, *, original_count: int, anonymized_count: int) -> IntArray:
    """Return the guess vector (n',) of a guess file: 0-based rows of X, -1 for an abstention (0 in the file).

    A row of X may be guessed more than once. InvalidUpload lists all errors, each with row and code.
    """
    problems = Problems(GUESS_FILE)
    with add_line_numbers({GUESS_FILE: content}):
        column, cells = _read_column(
            content,
            GUESS_FILE,
            ("original_row",),
            Message("the first line of a guess must be original_row"),
            max_rows=anonymized_count,
        )
        _check_length(len(cells), anonymized_count, problems, _THE_TARGET)
        numbers = _parse_row_numbers(cells, column, problems, lowest=0, highest=original_count)
        problems.raise_if_any()
    return numbers - 1


def _read_column(
    content: bytes, file: str, names: Sequence[str], header_message: Message, *, max_rows: int
) -> tuple[str, pa.Array]:
    """Return the header, which must be one of ``names``, and the cells of a file with a single column."""
    text, _ = decode_upload(content, file)
    header = text[: find_header_end(text)].decode(errors="ignore")
    try:
        (name,) = parse_header(header)
    except (csv.Error, ValueError):
        name = ""
    name = name.strip(" \t")
    if name not in names:
        codes = list_invisible_codes(header)
        message = (
            Message("the first line has invisible characters: {codes}", codes=codes)
            if codes
            else explain_single_column(header, _DIRECTIONS) or header_message
        )
        raise InvalidUpload([FileProblem(file, None, None, f"{file}_header", message, 1)])
    table = read_cells(text.rstrip(b"\r\n"), [name], file, max_rows=max_rows)
    return next(iterate_text_columns(table))


def _check_length(found: int, needed: int, problems: Problems, compared: Message) -> None:
    if found != needed:
        message = PluralMessage(
            "this file has {found} row, {compared} has {needed}; both must have the same number",
            "this file has {found} rows, {compared} has {needed}; both must have the same number",
            "found",
            found=found,
            compared=compared,
            needed=needed,
        )
        problems.add("wrong_length", message)


def _parse_row_numbers(
    cells: pa.Array, column: str, problems: Problems, *, lowest: int, highest: int
) -> IntArray:
    """Parse row numbers from ``lowest`` to ``highest``; those of malformed cells are 0."""
    check_text(cells, column, problems)
    is_number = pc.match_substring_regex(cells, _ROW_NUMBER_PATTERN)
    message = Message("not a row number")
    problems.add_rows(~convert_to_mask(is_number), column, "not_a_row_number", message, cells=cells)
    texts = pc.if_else(is_number, pc.utf8_trim(cells, " \t"), "0")
    numbers: IntArray = texts.cast(pa.int64()).to_numpy(zero_copy_only=False)
    range_message = Message("not from {least} to {most}", least=lowest, most=highest)
    zero_message = Message("0, but rows are counted from 1")
    problems.add_rows(
        (numbers < lowest) | (numbers > highest),
        column,
        "out_of_range",
        lambda cell: range_message if int(cell) else zero_message,
        cells=cells,
    )
    return numbers


def _find_repetitions(numbers: IntArray) -> BoolArray:
    """Return whether each number is positive and occurred before."""
    is_first = np.zeros(len(numbers), dtype=np.bool_)
    is_first[np.unique(numbers, return_index=True)[1]] = True
    return (numbers > 0) & ~is_first


def _invert_permutation(permutation: IntArray, cells: pa.Array, anonymized_count: int) -> IntArray:
    """Return the source index s of a permutation p, where p(i) = j if and only if s_j = i.

    Every row of Y must have a source.
    """
    problems, kept_rows = Problems(SECRET_FILE), np.flatnonzero(permutation)
    if len(kept_rows) != anonymized_count:
        message = PluralMessage(
            "{found} row is kept, but the release has {needed}",
            "{found} rows are kept, but the release has {needed}",
            "found",
            found=len(kept_rows),
            needed=anonymized_count,
        )
        problems.add("missing_row", message)
    else:
        reason = Message("not from {least} to {most}", least=0, most=anonymized_count)
        is_outside = permutation > anonymized_count
        problems.add_rows(is_outside, "anonymized_row", "out_of_range", reason, cells=cells)
    problems.raise_if_any()
    source = np.empty(anonymized_count, dtype=np.int64)
    source[permutation[kept_rows] - 1] = kept_rows
    return source


def check_source(source: IntArray, *, original_count: int, anonymized_count: int) -> None:
    """Raise InvalidInput unless s has a distinct original row, counted from 0, for every anonymized row."""
    rows = np.asarray(source)
    if rows.shape != (anonymized_count,):
        message = PluralMessage(
            "the source index has {found} row for {needed} individuals",
            "the source index has {found} rows for {needed} individuals",
            "found",
            found=rows.size,
            needed=anonymized_count,
        )
        raise InvalidInput(message)
    if rows.size and not (rows.min() >= 0 and rows.max() < original_count):
        raise InvalidInput("the source index leaves 0..{last}; rows count from 0", last=original_count - 1)
    if len(np.unique(rows)) != len(rows):
        raise InvalidInput("the source index names a row twice")


def normalize_source(source: ArrayLike) -> IntArray:
    """Return a source index of any array type, such as a list or a Series, by position."""
    return np.ascontiguousarray(source, dtype=np.int64)


def write_secret(source: IntArray) -> bytes:
    """Return the source index as a file with the header ``original_row``."""
    return "\n".join(["original_row", *map(str, (source + 1).tolist()), ""]).encode()


def write_guess(guess: IntArray) -> bytes:
    """Return a guess vector as a file: rows are counted from 1, and 0 is an abstention."""
    return write_secret(guess)


def is_in_original_order(source: IntArray) -> bool:
    """Whether most rows keep their position, or their order, from the original.

    Such a release gives its secret away to anyone who guesses "row j is row j".
    """
    if len(source) < 2:
        return False
    unmoved_count = np.count_nonzero(source == np.arange(len(source)))
    ascending_count = np.count_nonzero(np.diff(source) > 0)
    # In a random order half of the steps ascend. After deletions alone, all steps ascend.
    return bool(unmoved_count / len(source) > 0.5 or ascending_count / (len(source) - 1) > 0.75)


def find_order_remarks(source: IntArray) -> list[Remark]:
    """Return a warning if a release is in the order of the original."""
    return [ORIGINAL_ORDER_REMARK] if is_in_original_order(source) else []


def find_guess_remarks(guess: IntArray) -> list[Remark]:
    """Return a warning if rows seem to be counted from 0: each is guessed once, and one line is 0."""
    has_one_gap = len(np.unique(guess)) == len(guess) and int((guess >= 0).sum()) == len(guess) - 1
    return [_COUNTED_FROM_ZERO_REMARK] if has_one_gap and int(guess.max()) == len(guess) - 2 else []
