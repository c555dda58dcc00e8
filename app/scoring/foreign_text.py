"""Files that are no text in UTF-8: which program saves such, said so that whoever did knows what to do."""

import codecs

from app.errors import InvalidUpload, Problem
from app.messages import Message
from app.scoring.lines import line_at

ARCHIVES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How the files of spreadsheets begin, of today's and of those before."""
HEAD = 1024
PIECE = 2**20


def refuse_foreign(content: bytes, file: str) -> None:
    """InvalidUpload for what is text in no encoding that is read here, whatever its bytes happen to spell."""
    if content.startswith(ARCHIVES):
        message = Message(
            "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file"
        )
        raise InvalidUpload([Problem(file, None, None, "encoding", message)])
    if is_utf16(content):
        message = Message("the file was saved as UTF-16 (in Excel “Unicode Text”): save it as “CSV UTF-8”")
        raise InvalidUpload([Problem(file, None, None, "encoding", message)])


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
            "neither UTF-8 nor surely Shift_JIS (CP932): line {line} holds the byte {byte}, "
            "in Windows-1252 (Latin-1) “{sign}”; save the file as “CSV UTF-8”",
            **where,
            sign=sign,
        )
    else:
        message = Message(
            "neither UTF-8 nor surely Shift_JIS (CP932): line {line} holds the byte {byte}; "
            "save the file as “CSV UTF-8”",
            **where,
        )
    return Problem(file, line - 1 or None, None, "encoding", message, line)
