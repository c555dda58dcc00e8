"""Files of an upload that stand in each other's place, told by how they begin."""

import csv
import re
from collections.abc import Mapping

from anoncup.errors import InvalidUpload, Problem
from anoncup.messages import N_, Message
from anoncup.rules.model import Rules
from anoncup.tracks.files import SECRET, Columns, FileSpec
from anoncup.tracks.model import Files, Tables, Track

CODE = "misplaced_file"
HEAD = 64 * 1024
"""How much of a file is looked at."""
ROW_NUMBER = re.compile(rb"[ \t]*[0-9]{1,9}[ \t]*")
IS_SECRET = N_("this looks like the secret: were the files swapped?")
IS_RELEASE = N_("this looks like the release: were the files swapped?")
IS_OTHER_TABLE = N_("this looks like the other table of the release: were the files swapped?")

Headers = Mapping[str, set[Columns]]
"""The header lines that each file of an upload may have, as far as they are known."""


def require_own_places(track: Track, rules: Rules, original: Tables, files: Files) -> None:
    """InvalidUpload for files that begin as another file of the upload must."""
    headers = {file.name: {header_of(file, track, rules, original)} for file in track.release}
    if not track.draws_answer:
        secret = track.answers.file
        headers[SECRET] = {tuple(sample[0].split(",")) for sample in secret.samples}
    found = [
        misplaced(name, other)
        for name, content in files.items()
        if (other := place_of(name, content, headers, counts=track.answers.file.kind == "permutation"))
    ]
    if found:
        raise InvalidUpload(found)


def header_of(file: FileSpec, track: Track, rules: Rules, original: Tables) -> Columns:
    """Return the columns of a release's file, none where they are not known."""
    known = file.header(rules)
    if known is None and file.like in track.original_files:
        table = track.frames(original)[track.original_files.index(file.like)]
        known = tuple(table.columns)
    return known or ()


def place_of(name: str, content: bytes, headers: Headers, *, counts: bool) -> str | None:
    """Return the other file that a file looks like; ``counts``: the secret is a column of row numbers."""
    header = tuple(header_in(content))
    if header in headers.get(name, ()):
        return None
    other = next((other for other, known in headers.items() if header in known), None)
    if other is None and counts and name != SECRET and is_column_of_numbers(content):
        return SECRET if all(len(columns) > 1 for columns in headers[name]) else None
    return other


def is_column_of_numbers(content: bytes) -> bool:
    """Whether each line below the first is a row number and nothing else."""
    first, *lines = content[:HEAD].rstrip(b"\r\n").splitlines() or [b""]
    if len(content) > HEAD:
        lines = lines[:-1]
    return b"," not in first and bool(lines) and all(map(ROW_NUMBER.fullmatch, lines))


def misplaced(name: str, other: str) -> Problem:
    said = IS_RELEASE if name == SECRET else IS_SECRET if other == SECRET else IS_OTHER_TABLE
    return Problem(name, None, None, CODE, Message(said), 1)


def header_in(content: bytes) -> list[str]:
    """The cells of the first line, as far as it can be read."""
    line = re.split(rb"[\r\n]", content[:HEAD], maxsplit=1)[0]
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = line.decode("cp932", errors="replace")
    try:
        return next(csv.reader([text]), [""])
    except csv.Error:
        return [""]
