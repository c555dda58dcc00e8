"""Detect by their first lines that files of an upload were swapped."""

import csv
import re
from collections.abc import Mapping

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import N_, Message
from anoncup.rules.model import Rules
from anoncup.tables.header_line import find_header_end, parse_header
from anoncup.tracks.files import SECRET_FILE, ColumnNames, Files, FileSpec
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import HasRows

MISPLACED_FILE_CODE = "misplaced_file"
_MAX_HEAD_BYTES = 64 * 1024
"""Number of bytes of a file that are looked at."""
_ROW_NUMBER = re.compile(rb'[ \t]*("?)[0-9]{1,9}\1[ \t]*')
_LOOKS_LIKE_SECRET = N_("this looks like the secret: were the files swapped?")
_LOOKS_LIKE_RELEASE = N_("this looks like the release: were the files swapped?")
_LOOKS_LIKE_OTHER_TABLE = N_("this looks like the other table of the release: were the files swapped?")

_HeadersByFile = Mapping[str, set[ColumnNames]]
"""The possible headers of each file of an upload, as far as they are known."""


def reject_swapped_files(track: AnyTrack, rules: Rules, original: HasRows, files: Files) -> None:
    """Raise InvalidUpload for files that start like another file of the upload."""
    headers = {
        spec.name: {_find_expected_header(spec, track, rules, original)} for spec in track.release_files
    }
    if not track.allocates_answer:
        secret_spec = track.answer_spec.file
        headers[SECRET_FILE] = {tuple(sample[0].split(",")) for sample in secret_spec.samples}
    problems = [
        _make_swap_problem(name, lookalike)
        for name, content in files.items()
        if (
            lookalike := _find_lookalike(
                name, content, headers, is_secret_row_numbers=track.answer_spec.file.kind == "permutation"
            )
        )
    ]
    if problems:
        raise InvalidUpload(problems)


def _find_expected_header(spec: FileSpec, track: AnyTrack, rules: Rules, original: HasRows) -> ColumnNames:
    """Return the columns of a release file, or an empty tuple if they are not known."""
    columns = spec.header(rules)
    if columns is None and spec.header_like in track.original_file_names:
        table = track.build_frames(original)[track.original_file_names.index(spec.header_like)]
        columns = tuple(table.columns)
    return columns or ()


def _find_lookalike(
    name: str, content: bytes, headers: _HeadersByFile, *, is_secret_row_numbers: bool
) -> str | None:
    """Return the name of the other file that a file looks like, or None."""
    header = tuple(read_header(content))
    if header in headers.get(name, ()):
        return None
    lookalike = next(
        (lookalike for lookalike, file_headers in headers.items() if header in file_headers), None
    )
    if lookalike is None and is_secret_row_numbers and name != SECRET_FILE and _is_row_number_column(content):
        return SECRET_FILE if all(len(columns) > 1 for columns in headers[name]) else None
    return lookalike


def _is_row_number_column(content: bytes) -> bool:
    """Whether the file has one column and every line below the first is a row number."""
    first, *lines = content[:_MAX_HEAD_BYTES].rstrip(b"\r\n").splitlines() or [b""]
    if len(content) > _MAX_HEAD_BYTES:
        lines = lines[:-1]
    return b"," not in first and bool(lines) and all(map(_ROW_NUMBER.fullmatch, lines))


def _make_swap_problem(name: str, lookalike: str) -> FileProblem:
    text = (
        _LOOKS_LIKE_RELEASE
        if name == SECRET_FILE
        else _LOOKS_LIKE_SECRET
        if lookalike == SECRET_FILE
        else _LOOKS_LIKE_OTHER_TABLE
    )
    return FileProblem(name, None, None, MISPLACED_FILE_CODE, Message(text), 1)


def read_header(content: bytes) -> list[str]:
    """Return the names of the columns, as far as they can be decoded."""
    head = content[:_MAX_HEAD_BYTES]
    header = head[: find_header_end(head)]
    try:
        text = header.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = header.decode("cp932", errors="replace")
    try:
        return parse_header(text, strict=False)
    except csv.Error:
        return [""]
