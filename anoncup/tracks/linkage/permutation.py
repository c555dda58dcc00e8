"""The secret: which original row each anonymized row comes from.

Inside the program a source index is an integer array of 0-based rows; files are 1-based.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from anoncup.errors import LISTED, LONGEST_VALUE, InvalidInput, InvalidUpload, Problem
from anoncup.messages import Counted, Message
from anoncup.tables.files import Remark
from anoncup.tables.foreign_formats import invisible_codes, one_column, refuse_foreign
from anoncup.tracks.files import GUESS, SECRET

IntArray = NDArray[np.int64]
Direction = Literal["original_row", "anonymized_row"]

HEADER = re.compile(r'[ \t]*("?)([a-z_]+)\1[ \t]*')
ROW_NUMBER = re.compile(r"[0-9]{1,9}")
PLAIN_HEADER = re.compile(rb"([a-z_]+)\n")
LONGEST_NUMBER = 9
NEWLINE = (ord("\n") - ord("0")) % 256
"""Where digits are bytes from 0."""
WRITTEN_AT_ONCE = 1 << 16
"""Lines: nobody else has the interpreter meanwhile."""

IN_ORDER = Remark(
    "rows_in_original_order",
    Message("most rows stand in the order of the original: guessing 'row j is row j' finds them"),
)
FROM_ZERO = Remark(
    "rows_from_zero",
    Message("rows seem to be counted from 0; count them from 1, and write 0 for a row that you do not guess"),
)

Lines = list[str] | IntArray
"""What stands below the header: as text, or the numbers themselves where it is nothing else."""
Wrong = Mapping[int, tuple[str, Message]]
"""Code and what is wrong, by row in ascending order, counted from 1."""


def source_from_secret(content: bytes, *, originals: int, anonymized: int | None) -> IntArray:
    """The source index s of a secret file, 0-based, one entry per anonymized row.

    Its one header line names the direction: ``original_row`` (a line per row of Y) or ``anonymized_row``
    (a line per row of X, 0 = deleted). InvalidUpload names what is wrong by row, but repeats no row number
    of the file (0 is none): messages travel further than secrets may. ``anonymized``: None for a release
    that cannot be read; then only what is wrong without it is found.
    """
    check_size(content, originals, SECRET)
    direction, lines = secret_lines(content)
    besides = wrong_length(direction, len(lines), originals, anonymized)
    numbers = row_numbers(lines, direction, highest=originals, besides=besides)
    if direction == "original_row" or anonymized is None:
        return numbers - 1
    return inverted(numbers, anonymized)


def wrong_length(direction: Direction, found: int, originals: int, anonymized: int | None) -> list[Problem]:
    """A problem if the secret has not a line for each row of its table."""
    sizes = {"found": found, "header": direction}
    if direction == "original_row" and anonymized is not None:
        needed, message = (
            anonymized,
            Counted(
                "{found} line after {header}, but the release has {needed}",
                "{found} lines after {header}, but the release has {needed}",
                "found",
                **sizes,
                needed=anonymized,
            ),
        )
    else:
        needed, message = (
            originals,
            Counted(
                "{found} line after {header}; {needed} are needed",
                "{found} lines after {header}; {needed} are needed",
                "found",
                **sizes,
                needed=originals,
            ),
        )
    may_be_fewer = direction == "original_row" and anonymized is None
    right = found <= needed if may_be_fewer else found == needed
    return [] if right else [Problem(SECRET, None, None, "wrong_length", message)]


def guess_from_file(content: bytes, *, originals: int, anonymized: int) -> IntArray:
    """The guess vector (n',) of a guess file: 0-based rows of X, -1 where it abstains (0 in the file).

    A row of X may be guessed more than once. InvalidUpload names all that is wrong, each with row and code.
    """
    check_size(content, originals, GUESS)
    header, lines = header_and_lines(content, GUESS)
    found: list[Problem] = []
    if header != "original_row":
        message = Message("the first line of a guess must be original_row")
        found.append(Problem(GUESS, None, None, "guess_header", message, 1))
        if not header:  # what is no name may be the first of the numbers: every row would be another one
            raise InvalidUpload(found)
    if len(lines) != anonymized:
        message = Counted(
            "{found} line after original_row; {needed} are needed, 0 for a row not guessed",
            "{found} lines after original_row; {needed} are needed, 0 for a row not guessed",
            "found",
            found=len(lines),
            needed=anonymized,
        )
        found.append(Problem(GUESS, None, None, "wrong_length", message))
    numbers = whole_numbers(lines)
    wrong = wrong_rows(numbers, lines, lowest=0, highest=originals)
    check_rows(wrong, "original_row", lines, file=GUESS, besides=found)
    return numbers - 1


def check_size(content: bytes, originals: int, file: str) -> None:
    """A file of line ends is refused before it is taken apart."""
    if content.count(b"\n") + content.count(b"\r") > 2 * (originals + 1000):
        message = Message("the file has many more lines than the tables have rows")
        raise refused("wrong_length", message, file=file)


def secret_lines(content: bytes) -> tuple[Direction, Lines]:
    """The direction that the header names, and the lines below it."""
    header, lines = header_and_lines(content, SECRET)
    match header:
        case "original_row":
            return "original_row", lines
        case "anonymized_row":
            return "anonymized_row", lines
    message = Message(
        "the first line must be original_row or anonymized_row: a bare list of numbers is ambiguous"
    )
    raise refused("secret_header", message, line=1)


def header_and_lines(content: bytes, file: str) -> tuple[str, Lines]:
    """The one header line, without the quotation marks or the spaces around it, and the lines below it."""
    return plain(content) or as_text(content, file)


def plain(content: bytes) -> tuple[str, IntArray] | None:
    """The same of a file of digits and line ends only, as nearly all are: no line of it becomes a text."""
    content = content.replace(b"\r\n", b"\n").rstrip(b"\n")
    header = PLAIN_HEADER.match(content)
    if header is None:
        return None
    digits = np.frombuffer(content, np.uint8, offset=header.end()) - ord("0")
    breaks = np.flatnonzero(digits == NEWLINE)
    starts, ends = np.append(0, breaks + 1), np.append(breaks, len(digits))
    lengths = ends - starts
    if lengths.min() < 1 or lengths.max() > LONGEST_NUMBER or np.count_nonzero(digits > 9) > len(breaks):
        return None
    numbers = np.zeros(len(lengths), np.int64)
    for place in range(lengths.max()):
        longer = lengths > place
        numbers[longer] = 10 * numbers[longer] + digits[starts[longer] + place]
    return header[1].decode(), numbers


def as_text(content: bytes, file: str) -> tuple[str, list[str]]:
    refuse_foreign(content, file)
    if b"\x00" in content:
        raise refused("control_character", Message("the file contains a NUL byte"), file=file)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise refused("encoding", Message("the file is not UTF-8 text"), file=file) from None
    header, *lines = re.split(r"\r\n|\n|\r", text.rstrip("\r\n"))
    named = HEADER.fullmatch(header)
    habit = None if named else invisible(header) or one_column(header, get_args(Direction))
    if habit:
        raise refused(f"{file}_header", habit, line=1, file=file)
    return named[2] if named else "", lines


def invisible(header: str) -> Message | None:
    codes = invisible_codes(header)
    return Message("the first line has invisible characters: {codes}", codes=codes) if codes else None


def row_numbers(
    lines: Lines, direction: Direction, *, highest: int, besides: Sequence[Problem] = ()
) -> IntArray:
    """The lines as integers up to ``highest``, no number twice; only deleted rows are 0."""
    lowest = 1 if direction == "original_row" else 0
    numbers = whole_numbers(lines)
    wrong = wrong_rows(numbers, lines, lowest=lowest, highest=highest)
    inside = np.where((numbers < lowest) | (numbers > highest), 0, numbers)
    message = Message("repeats a row number used above")
    repeated = dict.fromkeys(repetitions(inside), ("duplicate_row", message))
    rows = dict(sorted({**wrong, **repeated}.items()))
    check_rows(rows, direction, lines, file=SECRET, besides=besides)
    return numbers


def whole_numbers(lines: Lines) -> IntArray:
    """The lines as integers, -1 where one is none."""
    if isinstance(lines, np.ndarray):
        return lines
    found = (line.strip(" \t") for line in lines)  # int() reads fewer kinds of space than strip() takes away
    return np.array([int(line) if ROW_NUMBER.fullmatch(line) else -1 for line in found], dtype=np.int64)


def wrong_rows(numbers: IntArray, lines: Lines, *, lowest: int, highest: int) -> Wrong:
    """What is no integer in [lowest, highest]; a 0 that is too low is named, as counting from 0 is common."""
    zero = "out_of_range", Message("is 0, but rows are counted from 1")
    outside = (
        "out_of_range",
        Message("is outside {lowest} to {highest}", lowest=lowest, highest=highest),
    )
    places = np.flatnonzero((numbers < lowest) | (numbers > highest)).tolist()
    special = {place: no_row_number(str(lines[place])) for place in places if numbers[place] < 0}
    special |= dict.fromkeys((place for place in places if numbers[place] == 0), zero)
    return {place + 1: special.get(place, outside) for place in places}


def no_row_number(line: str) -> tuple[str, Message]:
    codes = invisible_codes(line)
    if codes:
        return "invisible_character", Message("has invisible characters: {codes}", codes=codes)
    return "not_a_row_number", Message("is not a row number")


def repetitions(numbers: IntArray) -> list[int]:
    """1-based places whose number, which is not below 0, nor 0 itself, has occurred before."""
    if not (np.bincount(numbers)[1:] > 1).any():
        return []
    _, first = np.unique(numbers, return_index=True)
    again = np.ones(len(numbers), dtype=bool)
    again[first] = False
    return [int(place) + 1 for place in np.flatnonzero(again & (numbers != 0))]


def inverted(permutation: IntArray, anonymized: int) -> IntArray:
    """s from p: p(i) = j exactly if s_j = i; every row of Y must come from somewhere."""
    kept = np.flatnonzero(permutation)
    if len(kept) != anonymized:
        message = Counted(
            "{found} row is kept, but the release has {needed}",
            "{found} rows are kept, but the release has {needed}",
            "found",
            found=len(kept),
            needed=anonymized,
        )
        raise refused("missing_row", message)
    check_rows(
        wrong_rows(permutation, permutation, lowest=0, highest=anonymized),
        "anonymized_row",
        permutation,
        file=SECRET,
    )
    source = np.empty(anonymized, dtype=np.int64)
    source[permutation[kept] - 1] = kept
    return source


def check_source(source: IntArray, *, originals: int, anonymized: int) -> None:
    """Whether s has an original row, counted from 0, for every anonymized one, and none twice."""
    rows = np.asarray(source)
    if rows.shape != (anonymized,):
        message = Counted(
            "the source index has {found} row for {needed} individuals",
            "the source index has {found} rows for {needed} individuals",
            "found",
            found=rows.size,
            needed=anonymized,
        )
        raise InvalidInput(message)
    if rows.size and not (rows.min() >= 0 and rows.max() < originals):
        raise InvalidInput("the source index leaves 0..{last}; rows count from 0", last=originals - 1)
    if len(np.unique(rows)) != len(rows):
        raise InvalidInput("the source index names a row twice")


def secret_csv(source: IntArray) -> bytes:
    """The source index as a file with the header ``original_row``."""
    pieces = [b"original_row\n"]
    for start in range(0, len(source), WRITTEN_AT_ONCE):
        rows = (source[start : start + WRITTEN_AT_ONCE] + 1).tolist()
        pieces.append(("\n".join(map(str, rows)) + "\n").encode())
    return b"".join(pieces)


def guess_csv(guess: IntArray) -> bytes:
    """A guess vector, -1 abstaining, as a guess file: rows from 1, 0 abstaining."""
    return secret_csv(guess)


def keeps_original_order(source: IntArray) -> bool:
    """Whether most rows stand where, or mostly after whom, they stood in the original.

    Such a release gives its secret away to whoever guesses "row j is row j".
    """
    if len(source) < 2:
        return False
    in_place = np.count_nonzero(source == np.arange(len(source)))
    ascending = np.count_nonzero(np.diff(source) > 0)
    # In a random order half of the steps ascend; deletions leave every step ascending.
    return bool(in_place / len(source) > 0.5 or ascending / (len(source) - 1) > 0.75)


def remarks_on_order(source: IntArray) -> list[Remark]:
    """What is to be said of a release whose rows are published in the order that it has."""
    return [IN_ORDER] if keeps_original_order(source) else []


def remarks_on_guess(guess: IntArray) -> list[Remark]:
    """Warn of rows that are counted from 0: every row once, and one of them the row 0 that is left open."""
    once = len(np.unique(guess)) == len(guess) and int((guess >= 0).sum()) == len(guess) - 1
    return [FROM_ZERO] if once and int(guess.max()) == len(guess) - 2 else []


def refused(code: str, message: Message, *, file: str = SECRET, line: int | None = None) -> InvalidUpload:
    return InvalidUpload([Problem(file, None, None, code, message, line)])


def check_rows(
    wrong: Wrong, column: str, lines: Lines, *, file: str, besides: Sequence[Problem] = ()
) -> None:
    """InvalidUpload if anything is wrong. What stands there is repeated of a guess, never of a secret."""
    listed = list(besides)
    for row, (code, what) in islice(wrong.items(), LISTED):
        message = Message("row {row} of the {file} {what}", row=row, file=file, what=what)
        value = None if file == SECRET else str(lines[row - 1]).strip(" \t")[:LONGEST_VALUE]
        listed.append(Problem(file, row, column, code, message, row + 1, value))
    if listed:
        raise InvalidUpload(listed, total=len(besides) + len(wrong))
