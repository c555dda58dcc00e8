"""First rows of the original files, shown as examples of the format of a release."""

import csv
import io
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from anoncup.tables.header_line import replace_line_breaks
from app.core.storage import get_store

HEAD_BYTES = 64 * 1024
"""Number of bytes read from a file to get its first rows."""
SAMPLE_ROWS = 3


@dataclass(frozen=True, slots=True)
class FileSample:
    """The header and the first rows of a file."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=64)
def read_sample(digest: str) -> FileSample:
    """Read the head of a stored CSV file; cached because stored files never change."""
    with get_store().open(digest) as file:
        head = file.read(HEAD_BYTES)
    lines = list(islice(csv.reader(io.StringIO(_decode_head(head), newline="")), SAMPLE_ROWS + 2))
    complete_lines = lines if len(head) < HEAD_BYTES else lines[:-1]  # the last line may be incomplete
    header, *rows = (tuple(line) for line in complete_lines[: SAMPLE_ROWS + 1])
    return FileSample(tuple(map(replace_line_breaks, header)), tuple(rows))


def _decode_head(head: bytes) -> str:
    """Decode as UTF-8 or else CP932, like uploads; the last character may be cut off."""
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if problem.start > len(head) - 4 and len(head) == HEAD_BYTES:
            return head[: problem.start].decode("utf-8-sig")
    return head.decode("cp932", errors="replace")
