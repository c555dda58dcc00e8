"""Find and split the header of a CSV file, without importing pandas or pyarrow."""

import csv
import io
import re
from functools import cache

_MAX_HEADER_BYTES = 4_000_000
"""Maximum number of bytes of a header; the rest is ignored."""
_LINE_BREAK_PATTERN = re.compile(r"[\r\n]+")


def find_header_end(text: bytes, separator: str = ",") -> int:
    """Return the position of the line end after the header."""
    match = _compile_header(separator).match(text, 0, _MAX_HEADER_BYTES)
    return match.end() if match else 0


@cache
def _compile_header(separator: str) -> re.Pattern[bytes]:
    """Return the pattern of the cells of a header. Only quoted ones contain line breaks."""
    mark = re.escape(separator).encode()
    return re.compile(rb'(?:(?:"(?:[^"]|"")*+")?[^%b\r\n]*+%b?+)*+' % (mark, mark))


def parse_header(header_text: str, separator: str = ",") -> list[str]:
    """Return the names of the columns; raise csv.Error if the header is malformed."""
    lines = io.StringIO(header_text, newline="")
    names = next(csv.reader(lines, delimiter=separator, strict=True), [""])
    return list(map(replace_line_breaks, names))


def replace_line_breaks(name: str) -> str:
    """Return the name of a column with a blank for each line break, so that it fits into a line."""
    return _LINE_BREAK_PATTERN.sub(" ", name.strip("\r\n"))
