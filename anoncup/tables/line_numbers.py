"""On which line of a file an editor finds what is wrong: the header is on 1, cells may have line breaks."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace

from anoncup.errors import InvalidUpload, Problem

LINE_END = re.compile(rb"\r\n|\n|\r")


@contextmanager
def located(files: Mapping[str, bytes]) -> Iterator[None]:
    """What is found wrong in rows of these files is told with its line."""
    try:
        yield
    except InvalidUpload as refused:
        lines = {file: lines_of(rows_of(file, refused), content) for file, content in files.items()}
        found = [on_its_line(each, lines) for each in refused.problems]
        raise InvalidUpload(found, total=refused.total) from None


def rows_of(file: str, refused: InvalidUpload) -> set[int]:
    return {each.row for each in refused.problems if each.file == file and each.row is not None}


def on_its_line(problem: Problem, lines: Mapping[str, Mapping[int, int]]) -> Problem:
    if problem.line is not None or problem.row is None:
        return problem
    return replace(problem, line=lines.get(problem.file, {}).get(problem.row))


def lines_of(rows: Iterable[int], content: bytes) -> dict[int, int]:
    """The lines on which rows begin, the header being row 0; a row of which it cannot be told is left out."""
    if b'"' not in content:
        return {row: row + 1 for row in rows}
    # In CP932 neither line ends nor quotation marks are halves of other characters.
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="latin-1", newline=""))
    found, place = {}, 0
    # Once for all rows: a file may have tens of megabytes.
    with suppress(csv.Error, StopIteration):
        for row in sorted(rows):
            for _ in range(row - place):
                next(reader)
            found[row], place = reader.line_num + 1, row
    return found


def line_at(content: bytes, place: int) -> int:
    """The line of a byte."""
    return 1 + len(LINE_END.findall(content, 0, place))
