"""The first rows of the original's files, as everybody may read them: what a release has to look like."""

import csv
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from app.storage import store

HEAD = 64 * 1024
"""Bytes that are read of a file for its first rows."""
ROWS = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """A header and the first rows below it."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=64)
def of_file(digest: str) -> Sample:
    """The head of a stored CSV file; read once, for it never changes."""
    with store().open(digest) as file:
        head = file.read(HEAD)
    lines = list(islice(csv.reader(text_of(head).splitlines()), ROWS + 2))
    whole = lines if len(head) < HEAD else lines[:-1]  # the last line of a cut head may be cut itself
    first, *rows = (tuple(line) for line in whole[: ROWS + 1])
    return Sample(first, tuple(rows))


def text_of(head: bytes) -> str:
    """UTF-8, else CP932, as uploads are read; a cut may have split the last character."""
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if problem.start > len(head) - 4 and len(head) == HEAD:
            return head[: problem.start].decode("utf-8-sig")
    return head.decode("cp932", errors="replace")
