"""On which line of a file an editor finds what is wrong: the header is on 1, cells may have line breaks."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from app.errors import InvalidUpload, Problem

LINE_END = re.compile(rb"\r\n|\n|\r")


@contextmanager
def located(files: Mapping[str, bytes]) -> Iterator[None]:
    """What is found wrong in rows of these files is told with its line."""
    try:
        yield
    except InvalidUpload as refused:
        found = [on_its_line(each, files) for each in refused.problems]
        raise InvalidUpload(found, total=refused.total) from None


def on_its_line(problem: Problem, files: Mapping[str, bytes]) -> Problem:
    if problem.line is not None or problem.row is None or problem.file not in files:
        return problem
    return replace(problem, line=line_of(problem.row, files[problem.file]))


def line_of(row: int, content: bytes) -> int | None:
    """The line on which a row begins, the header being row 0; None if it cannot be told."""
    if b'"' not in content:
        return row + 1
    # In CP932 neither line ends nor quotation marks are halves of other characters.
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding="latin-1", newline=""))
    try:
        for _ in range(row):
            next(reader)
    except (csv.Error, StopIteration):
        return None
    return reader.line_num + 1


def line_at(content: bytes, place: int) -> int:
    """The line of a byte."""
    return 1 + len(LINE_END.findall(content, 0, place))
