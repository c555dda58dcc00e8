"""Recognize file formats other than plain CSV, and explain how to save the file correctly."""

import codecs
import re
from collections.abc import Sequence

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import N_, Message
from anoncup.tables.line_numbers import line_at

_ZIP_SIGNATURE = b"PK\x03\x04"
_SPREADSHEET_SIGNATURES = (_ZIP_SIGNATURE, b"\xd0\xcf\x11\xe0")
"""First bytes of spreadsheets in the current and the former Excel format."""
_COMPRESSED_SIGNATURES = {
    b"\x1f\x8b": "gzip",
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
}
"""Names of other formats of compressed files by their first bytes."""
_HEAD_BYTES = 1024
INVISIBLE_PATTERN = "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
"""Byte order marks, zero-width spaces and direction controls. A text that contains one differs from a text
that looks the same. U+200C and U+200D are not included, because some scripts and emoji need them."""


_INDEX_NAMES = ("", "index", "Unnamed: 0")
"""Header names of a column of row labels that a data frame has written."""
_ROW_LABELS_TEXT = N_(
    "the first column holds row labels: write the file without them; in pandas use to_csv(…, index=False)"
)
_MAX_LISTED_COLUMNS = 8
"""Maximum number of column names in a message."""
_SEPARATOR_TEXTS = {
    ";": N_("the cells are separated by semicolons; use commas instead"),
    "\t": N_("the cells are separated by tabs; use commas instead"),
}


def reject_foreign_formats(content: bytes, file: str) -> None:
    """Raise InvalidUpload for binary formats and unsupported encodings, even if the bytes decode as text."""
    reject_binary_formats(content, file)
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        message = Message("the file was saved as UTF-32: save it as “CSV UTF-8”")
    elif _is_utf16(content):
        message = Message("the file was saved as UTF-16 (in Excel “Unicode Text”): save it as “CSV UTF-8”")
    else:
        return
    raise InvalidUpload([FileProblem(file, None, None, "encoding", message)])


def reject_binary_formats(content: bytes, file: str) -> None:
    """Raise InvalidUpload for archives and spreadsheets."""
    archive_format = _find_archive_format(content)
    if archive_format:
        message = Message(
            "this is a {format} archive: unpack it and choose the CSV file in it", format=archive_format
        )
    elif content.startswith(_SPREADSHEET_SIGNATURES):
        message = Message(
            "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file"
        )
    else:
        return
    raise InvalidUpload([FileProblem(file, None, None, "encoding", message)])


def _find_archive_format(content: bytes) -> str | None:
    """Return the name of an archive's format, or None. Spreadsheets, which are ZIP archives, do not count."""
    if content.startswith(_ZIP_SIGNATURE):
        name = content[30 : 30 + int.from_bytes(content[26:28], "little")]
        return "ZIP" if name.lower().endswith((b".csv", b".tsv", b".txt", b"/")) else None
    return next(
        (name for signature, name in _COMPRESSED_SIGNATURES.items() if content.startswith(signature)), None
    )


def _is_utf16(content: bytes) -> bool:
    """Return whether the text is UTF-16, judged by its byte order mark or by NULs in every second byte."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    head = content[:_HEAD_BYTES]
    fewer_nuls, more_nuls = sorted((head[::2].count(0), head[1::2].count(0)))
    return fewer_nuls == 0 and more_nuls > 1 and more_nuls * 8 > len(head)


def find_invalid_utf8(content: bytes) -> int | None:
    """Return the position of the first byte that is not UTF-8, or None."""
    try:
        content.decode()
    except UnicodeDecodeError as problem:
        return problem.start
    return None


def build_invalid_byte_problem(content: bytes, position: int, file: str) -> FileProblem:
    """Return the problem of an unknown encoding; ``position``: where decoding fails."""
    position = next(index for index in range(position, len(content)) if content[index] >= 0x80)
    line, byte = line_at(content, position), content[position : position + 1]
    character = byte.decode("cp1252", errors="ignore")
    if not (character and character.isprintable()):
        message = Message(
            "the encoding is neither UTF-8 nor clearly Shift_JIS (CP932): line {line} holds the "
            "byte {byte}; save the file as “CSV UTF-8”",
            line=line,
            byte=f"0x{byte.hex().upper()}",
        )
    else:
        message = Message(
            "the encoding is neither UTF-8 nor clearly Shift_JIS (CP932): line {line} holds the "
            "byte {byte}, in Windows-1252 (Latin-1) “{sign}”; save the file as “CSV UTF-8”",
            line=line,
            byte=f"0x{byte.hex().upper()}",
            sign=character,
        )
    return FileProblem(file, line - 1 or None, None, "encoding", message, line)


def list_invisible_codes(text: str) -> tuple[str, ...]:
    """Return the code points of the invisible characters, such as U+FEFF."""
    return tuple(
        f"U+{ord(character):04X}" for character in dict.fromkeys(re.findall(INVISIBLE_PATTERN, text))
    )


def explain_header(header: Sequence[str], expected: Sequence[str]) -> Message | None:
    """Explain a header with row labels, other separators, no or too few names; None for other headers."""
    if list(header[1:]) == list(expected) and header[0] in _INDEX_NAMES:
        return Message(_ROW_LABELS_TEXT)
    single_cell = header[0] if len(header) == 1 < len(expected) else ""
    separator_message = next(
        (Message(text) for separator, text in _SEPARATOR_TEXTS.items() if separator in single_cell), None
    )
    return (
        separator_message
        or (_build_missing_header_message(expected) if _is_header_missing(header, expected) else None)
        or _explain_missing_columns(header, expected)
    )


def _explain_missing_columns(header: Sequence[str], expected: Sequence[str]) -> Message | None:
    missing = [name[:40] for name in expected if name not in header]
    if not missing or list(header) != [name for name in expected if name in header]:
        return None
    return Message("the header lacks these columns: {names}", names=tuple(missing[:_MAX_LISTED_COLUMNS]))


def _is_header_missing(header: Sequence[str], expected: Sequence[str]) -> bool:
    """Return whether the first line has the right number of cells, but none of the column names."""
    names = {name.lower() for name in expected}
    return 1 < len(expected) == len(header) and names.isdisjoint(cell.lower() for cell in header)


def _build_missing_header_message(expected: Sequence[str]) -> Message:
    names = ",".join(name[:40] for name in expected[:_MAX_LISTED_COLUMNS])
    ellipsis = f",… (+{len(expected) - _MAX_LISTED_COLUMNS})" if len(expected) > _MAX_LISTED_COLUMNS else ""
    return Message("the first line names none of the columns: it must be {names}", names=names + ellipsis)


def explain_single_column(header: str, names: Sequence[str]) -> Message | None:
    """Explain a header with several cells, one of them in ``names``, where a single column is expected.

    None for other headers.
    """
    cells = [cell.strip(' \t"') for cell in re.split("[,;\t]", header)]
    if len(cells) == 1 or not set(cells) & set(names):
        return None
    if "," in header and len(cells) == 2 and cells[0] in _INDEX_NAMES:
        return Message(_ROW_LABELS_TEXT)
    return Message("the file has {found} columns; it must have one", found=len(cells))
