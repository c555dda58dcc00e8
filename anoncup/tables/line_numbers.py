"""Line numbers of problems, as an editor shows them. The header is on line 1; cells may span lines."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace

from anoncup.errors import FileProblem, InvalidUpload

_LINE_END = re.compile(rb"\r\n|\n|\r")


@contextmanager
def add_line_numbers(files: Mapping[str, bytes]) -> Iterator[None]:
    """Add line numbers to the problems that the block finds in rows of these files."""
    try:
        yield
    except InvalidUpload as error:
        lines = {
            file: find_lines(_list_problem_rows(file, error), content) for file, content in files.items()
        }
        problems = [_set_line(problem, lines) for problem in error.problems]
        raise InvalidUpload(problems, total=error.total) from None


def _list_problem_rows(file: str, error: InvalidUpload) -> set[int]:
    return {problem.row for problem in error.problems if problem.file == file and problem.row is not None}


def _set_line(problem: FileProblem, lines: Mapping[str, Mapping[int, int]]) -> FileProblem:
    if problem.line is not None or problem.row is None:
        return problem
    return replace(problem, line=lines.get(problem.file, {}).get(problem.row))


def find_lines(rows: Iterable[int], content: bytes) -> dict[int, int]:
    """Return the lines on which rows begin; the header is row 0. Rows that cannot be located are left out."""
    if b'"' not in content:
        return {row: row + 1 for row in rows}
    # In CP932, line ends and quotation marks are never part of another character.
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="latin-1", newline=""))
    lines, current = {}, 0
    # A single pass for all rows, because a file may have tens of megabytes.
    with suppress(csv.Error, StopIteration):
        for row in sorted(rows):
            for _ in range(row - current):
                next(reader)
            lines[row], current = reader.line_num + 1, row
    return lines


def line_at(content: bytes, offset: int) -> int:
    """Return the number of the line that contains a byte."""
    return 1 + len(_LINE_END.findall(content, 0, offset))
