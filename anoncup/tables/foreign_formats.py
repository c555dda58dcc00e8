"""Habits of the programs that write files, told by their names so that whoever saved one knows what to do."""

import codecs
import re
from collections.abc import Sequence

from anoncup.errors import InvalidUpload, Problem
from anoncup.messages import N_, Message
from anoncup.tables.line_numbers import line_at

ZIP = b"PK\x03\x04"
ARCHIVES = (ZIP, b"\xd0\xcf\x11\xe0")
"""How the files of spreadsheets begin, of today's and of those before."""
HEAD = 1024
PIECE = 2**20
INVISIBLE = "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
"""Byte order mark, zero-width space and controls of direction: with one, a text differs from what looks the
same. Not U+200C and U+200D, which some scripts and emoji are spelled with."""


INDEX = ("", "index", "Unnamed: 0")
"""What the column of a data frame's row labels is called."""
ROW_LABELS = N_(
    "the first column holds row labels: write the file without them; in pandas use to_csv(…, index=False)"
)
NAMED = 8
"""How many columns are named."""
SEPARATORS = {
    ";": N_("the cells are separated by semicolons; use commas instead"),
    "\t": N_("the cells are separated by tabs; use commas instead"),
}


def refuse_foreign(content: bytes, file: str) -> None:
    """InvalidUpload for what is text in no encoding that is read here, whatever its bytes happen to spell."""
    if holds_text(content):
        message = Message("this is a ZIP archive: unpack it and choose the CSV file in it")
        raise InvalidUpload([Problem(file, None, None, "encoding", message)])
    if content.startswith(ARCHIVES):
        message = Message(
            "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file"
        )
        raise InvalidUpload([Problem(file, None, None, "encoding", message)])
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        message = Message("the file was saved as UTF-32: save it as “CSV UTF-8”")
        raise InvalidUpload([Problem(file, None, None, "encoding", message)])
    if is_utf16(content):
        message = Message("the file was saved as UTF-16 (in Excel “Unicode Text”): save it as “CSV UTF-8”")
        raise InvalidUpload([Problem(file, None, None, "encoding", message)])


def holds_text(content: bytes) -> bool:
    """Whether it is an archive whose first file is a table: those of spreadsheets are not."""
    if not content.startswith(ZIP):
        return False
    name = content[30 : 30 + int.from_bytes(content[26:28], "little")]
    return name.lower().endswith((b".csv", b".tsv", b".txt"))


def is_no_text(content: bytes) -> bool:
    return content.startswith(ARCHIVES) or is_utf16(content)


def is_utf16(content: bytes) -> bool:
    """By its mark, or by NULs that are halves of characters: no other text has any."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    head = content[:HEAD]
    fewest, most = sorted((head[::2].count(0), head[1::2].count(0)))
    return fewest == 0 and most > 1 and most * 8 > len(head)


def first_foreign(content: bytes) -> int | None:
    """The place of the first byte that is no UTF-8. Looked at in pieces: as one text it would take several
    times its memory."""
    decoder, pieces = codecs.getincrementaldecoder("utf-8")(), memoryview(content)
    for start in range(0, len(content) + 1, PIECE):
        held, piece = len(decoder.getstate()[0]), pieces[start : start + PIECE]
        try:
            decoder.decode(piece, final=start + PIECE > len(content))
        except UnicodeDecodeError as problem:
            return start - held + problem.start
    return None


def foreign_byte(content: bytes, at: int, file: str) -> Problem:
    """What is said of a text that is neither; ``at``: where no reading goes on."""
    at = next(place for place in range(at, len(content)) if content[place] >= 0x80)
    line, byte = line_at(content, at), content[at : at + 1]
    sign = byte.decode("cp1252", errors="ignore")
    where: dict[str, int | str] = {"line": line, "byte": f"0x{byte.hex().upper()}"}
    if sign.isprintable() and sign:
        message = Message(
            "the encoding is neither UTF-8 nor clearly Shift_JIS (CP932): line {line} holds the "
            "byte {byte}, in Windows-1252 (Latin-1) “{sign}”; save the file as “CSV UTF-8”",
            **where,
            sign=sign,
        )
    else:
        message = Message(
            "the encoding is neither UTF-8 nor clearly Shift_JIS (CP932): line {line} holds the "
            "byte {byte}; save the file as “CSV UTF-8”",
            **where,
        )
    return Problem(file, line - 1 or None, None, "encoding", message, line)


def invisible_codes(text: str) -> tuple[str, ...]:
    """The code points of its invisible characters, such as U+FEFF: nobody sees them."""
    return tuple(f"U+{ord(character):04X}" for character in dict.fromkeys(re.findall(INVISIBLE, text)))


def habit_of(header: Sequence[str], expected: Sequence[str]) -> Message | None:
    """What programs write unasked: a data frame its row labels, a spreadsheet its country's separators."""
    if list(header[1:]) == list(expected) and header[0] in INDEX:
        return Message(ROW_LABELS)
    only = header[0] if len(header) == 1 < len(expected) else ""
    separated = next((Message(said) for sign, said in SEPARATORS.items() if sign in only), None)
    return separated or (unnamed(expected) if names_none(header, expected) else None)


def names_none(header: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether the first line has as many cells as there are columns, and not one of their names."""
    names = {name.lower() for name in expected}
    return 1 < len(expected) == len(header) and names.isdisjoint(cell.lower() for cell in header)


def unnamed(expected: Sequence[str]) -> Message:
    names = ",".join(name[:40] for name in expected[:NAMED])
    more = f",… (+{len(expected) - NAMED})" if len(expected) > NAMED else ""
    return Message("the first line names none of the columns: it must be {names}", names=names + more)


def one_column(header: str, names: Sequence[str]) -> Message | None:
    """The same of a file with one column of one of these names: what stands beside it."""
    cells = [cell.strip(' \t"') for cell in re.split("[,;\t]", header)]
    if len(cells) == 1 or not set(cells) & set(names):
        return None
    if "," in header and len(cells) == 2 and cells[0] in INDEX:
        return Message(ROW_LABELS)
    return Message("the file has {found} columns; it must have one", found=len(cells))
