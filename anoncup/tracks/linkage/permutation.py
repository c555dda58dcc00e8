"""Parse and write secrets and guesses: the original row that each anonymized row comes from.

X is the original table, Y the anonymized one. In memory, a source index is an integer array of rows counted
from 0; files count rows from 1.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from anoncup.errors import MAX_LISTED_PROBLEMS, MAX_VALUE_LENGTH, FileProblem, InvalidInput, InvalidUpload
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message, PluralMessage
from anoncup.tables.files import Remark
from anoncup.tables.foreign_formats import explain_single_column, list_invisible_codes, reject_foreign_formats
from anoncup.tracks.files import GUESS_FILE, SECRET_FILE

_Direction = Literal["original_row", "anonymized_row"]

_HEADER_PATTERN = re.compile(r'[ \t]*("?)([a-z_]+)\1[ \t]*')
_ROW_NUMBER_PATTERN = re.compile(r"[0-9]{1,9}")
_QUOTED_PATTERN = re.compile(r'[ \t]*"([^"]*)"[ \t]*')
ORIGINAL_ORDER_REMARK = Remark(
    "rows_in_original_order",
    Message("most rows stand in the order of the original: guessing 'row j is row j' finds them"),
)
_COUNTED_FROM_ZERO_REMARK = Remark(
    "rows_from_zero",
    Message("rows seem to be counted from 0; count them from 1, and write 0 for a row that you do not guess"),
)

_RowErrors = Mapping[int, tuple[str, Message]]
"""Error code and message by row number, in ascending order, counted from 1."""


def parse_secret(content: bytes, *, original_count: int, anonymized_count: int | None) -> IntArray:
    """Return the source index s of a secret file: rows counted from 0, one for each anonymized row.

    The header names the direction: ``original_row`` (a line for each row of Y) or ``anonymized_row`` (a line
    for each row of X, 0 = deleted). InvalidUpload reports errors by row but never repeats a row number of the
    file (only a wrong 0 is mentioned), because more people see messages than secrets. ``anonymized_count`` is
    None if the release could not be parsed; then only errors that do not depend on it are found.
    """
    _check_size(content, original_count, SECRET_FILE)
    direction, lines = _split_secret(content)
    length_problems = _find_length_problems(direction, len(lines), original_count, anonymized_count)
    numbers = _parse_row_numbers(lines, direction, highest=original_count, other_problems=length_problems)
    if direction == "original_row" or anonymized_count is None:
        return numbers - 1
    return _invert_permutation(numbers, anonymized_count)


def _find_length_problems(
    direction: _Direction, line_count: int, original_count: int, anonymized_count: int | None
) -> list[FileProblem]:
    """Return a problem if the number of lines differs from the number of rows that the header refers to."""
    sizes = {"found": line_count, "header": direction}
    if direction == "original_row" and anonymized_count is not None:
        needed_count = anonymized_count
        message = PluralMessage(
            "{found} line after {header}, but the release has {needed}",
            "{found} lines after {header}, but the release has {needed}",
            "found",
            **sizes,
            needed=anonymized_count,
        )
    else:
        needed_count = original_count
        message = PluralMessage(
            "{found} line after {header}; {needed} are needed",
            "{found} lines after {header}; {needed} are needed",
            "found",
            **sizes,
            needed=original_count,
        )
    allows_fewer = direction == "original_row" and anonymized_count is None
    has_right_length = line_count <= needed_count if allows_fewer else line_count == needed_count
    return [] if has_right_length else [FileProblem(SECRET_FILE, None, None, "wrong_length", message)]


def parse_guess(content: bytes, *, original_count: int, anonymized_count: int) -> IntArray:
    """Return the guess vector (n',) of a guess file: 0-based rows of X, -1 for an abstention (0 in the file).

    A row of X may be guessed more than once. InvalidUpload lists all errors, each with row and code.
    """
    _check_size(content, original_count, GUESS_FILE)
    header, lines = _split_header(content, GUESS_FILE)
    problems: list[FileProblem] = []
    if header != "original_row":
        message = Message("the first line of a guess must be original_row")
        problems.append(FileProblem(GUESS_FILE, None, None, "guess_header", message, 1))
        if not header:  # the first line may be a number, and then all row numbers below would be off by one
            raise InvalidUpload(problems)
    if len(lines) != anonymized_count:
        message = PluralMessage(
            "{found} line after original_row; {needed} are needed, 0 for a row not guessed",
            "{found} lines after original_row; {needed} are needed, 0 for a row not guessed",
            "found",
            found=len(lines),
            needed=anonymized_count,
        )
        problems.append(FileProblem(GUESS_FILE, None, None, "wrong_length", message))
    numbers = _parse_integers(lines)
    row_errors = _find_row_errors(numbers, lines, lowest=0, highest=original_count)
    _raise_row_errors(row_errors, "original_row", lines, file=GUESS_FILE, other_problems=problems)
    return numbers - 1


def _check_size(content: bytes, original_count: int, file: str) -> None:
    """Reject a file with far too many lines before it is split into them."""
    if content.count(b"\n") + content.count(b"\r") > 2 * (original_count + 1000):
        message = Message("the file has many more lines than the tables have rows")
        raise _make_upload_error("wrong_length", message, file=file)


def _split_secret(content: bytes) -> tuple[_Direction, list[str]]:
    """Return the direction that the header names, and the lines below it."""
    header, lines = _split_header(content, SECRET_FILE)
    match header:
        case "original_row":
            return "original_row", lines
        case "anonymized_row":
            return "anonymized_row", lines
    message = Message(
        "the first line must be original_row or anonymized_row: a bare list of numbers is ambiguous"
    )
    raise _make_upload_error("secret_header", message, line=1)


def _split_header(content: bytes, file: str) -> tuple[str, list[str]]:
    """Return the header line, without quotes and surrounding spaces, and the lines below it."""
    reject_foreign_formats(content, file)
    if b"\x00" in content:
        raise _make_upload_error("control_character", Message("the file contains a NUL byte"), file=file)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _make_upload_error("encoding", Message("the file is not UTF-8 text"), file=file) from None
    header, *lines = re.split(r"\r\n|\n|\r", text.rstrip("\r\n"))
    match = _HEADER_PATTERN.fullmatch(header)
    format_message = (
        None if match else _describe_invisible(header) or explain_single_column(header, get_args(_Direction))
    )
    if format_message:
        raise _make_upload_error(f"{file}_header", format_message, line=1, file=file)
    return match[2] if match else "", [_remove_quotes(line) for line in lines] if '"' in text else lines


def _remove_quotes(line: str) -> str:
    match = _QUOTED_PATTERN.fullmatch(line)
    return match[1] if match else line


def _describe_invisible(header: str) -> Message | None:
    codes = list_invisible_codes(header)
    return Message("the first line has invisible characters: {codes}", codes=codes) if codes else None


def _parse_row_numbers(
    lines: Sequence[str],
    direction: _Direction,
    *,
    highest: int,
    other_problems: Sequence[FileProblem] = (),
) -> IntArray:
    """Parse the lines as distinct integers up to ``highest``; only 0, for deleted rows, may be repeated."""
    lowest = 1 if direction == "original_row" else 0
    numbers = _parse_integers(lines)
    row_errors = _find_row_errors(numbers, lines, lowest=lowest, highest=highest)
    valid_numbers = np.where((numbers < lowest) | (numbers > highest), 0, numbers)
    message = Message("repeats a row number used above")
    repetition_errors = dict.fromkeys(_find_repetitions(valid_numbers), ("duplicate_row", message))
    all_errors = dict(sorted({**row_errors, **repetition_errors}.items()))
    _raise_row_errors(all_errors, direction, lines, file=SECRET_FILE, other_problems=other_problems)
    return numbers


def _parse_integers(lines: Sequence[str]) -> IntArray:
    """Parse the lines as integers, -1 where a line is not a row number."""
    # strip() alone would also remove characters that int() does not accept as spaces.
    stripped_lines = (line.strip(" \t") for line in lines)
    return np.array(
        [int(line) if _ROW_NUMBER_PATTERN.fullmatch(line) else -1 for line in stripped_lines], dtype=np.int64
    )


def _find_row_errors(numbers: IntArray, lines: Sequence[str], *, lowest: int, highest: int) -> _RowErrors:
    """Return an error for each number outside [lowest, highest]; 0 and text have their own messages."""
    zero_error = "out_of_range", Message("is 0, but rows are counted from 1")
    range_error = (
        "out_of_range",
        Message("is outside {lowest} to {highest}", lowest=lowest, highest=highest),
    )
    indices = np.flatnonzero((numbers < lowest) | (numbers > highest)).tolist()
    special_errors = {index: _describe_bad_line(str(lines[index])) for index in indices if numbers[index] < 0}
    special_errors |= dict.fromkeys((index for index in indices if numbers[index] == 0), zero_error)
    return {index + 1: special_errors.get(index, range_error) for index in indices}


def _describe_bad_line(line: str) -> tuple[str, Message]:
    codes = list_invisible_codes(line)
    if codes:
        return "invisible_character", Message("has invisible characters: {codes}", codes=codes)
    return "not_a_row_number", Message("is not a row number")


def _find_repetitions(numbers: IntArray) -> list[int]:
    """Return the positions, counted from 1, of positive numbers that occurred before."""
    _, first_indices = np.unique(numbers, return_index=True)
    return [int(index) + 1 for index in np.setdiff1d(np.flatnonzero(numbers), first_indices)]


def _invert_permutation(permutation: IntArray, anonymized_count: int) -> IntArray:
    """Return the source index s of a permutation p, where p(i) = j if and only if s_j = i.

    Every row of Y must have a source.
    """
    kept_rows = np.flatnonzero(permutation)
    if len(kept_rows) != anonymized_count:
        message = PluralMessage(
            "{found} row is kept, but the release has {needed}",
            "{found} rows are kept, but the release has {needed}",
            "found",
            found=len(kept_rows),
            needed=anonymized_count,
        )
        raise _make_upload_error("missing_row", message)
    _raise_row_errors(
        _find_row_errors(permutation, (), lowest=0, highest=anonymized_count),
        "anonymized_row",
        (),
        file=SECRET_FILE,
    )
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


def _make_upload_error(
    code: str, message: Message, *, file: str = SECRET_FILE, line: int | None = None
) -> InvalidUpload:
    return InvalidUpload([FileProblem(file, None, None, code, message, line)])


def _raise_row_errors(
    row_errors: _RowErrors,
    column: str,
    lines: Sequence[str],
    *,
    file: str,
    other_problems: Sequence[FileProblem] = (),
) -> None:
    """Raise InvalidUpload if there are errors. Cells are repeated for guesses, but never for secrets."""
    problems = list(other_problems)
    for row, (code, description) in islice(row_errors.items(), MAX_LISTED_PROBLEMS):
        message = Message("row {row} of the {file} {what}", row=row, file=file, what=description)
        value = None if file == SECRET_FILE else str(lines[row - 1]).strip(" \t")[:MAX_VALUE_LENGTH]
        problems.append(FileProblem(file, row, column, code, message, row + 1, value))
    if problems:
        raise InvalidUpload(problems, total=len(other_problems) + len(row_errors))
