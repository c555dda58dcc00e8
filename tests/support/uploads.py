"""Scored submissions and invalid uploads."""

from collections.abc import Callable

from sqlalchemy import select

from app.core.db.models import Evaluation, State
from tests.support.arena import build_noisy_release, build_original_table
from tests.support.database_rows import load_all
from workers import tasks


def score_everything() -> None:
    """Score all queued evaluations in this process."""
    for _ in load_all(select(Evaluation.id).where(Evaluation.state == State.QUEUED)):
        tasks.score()


def edit_rows(lines: bytes, change: Callable[[list[str]], list[str]]) -> bytes:
    return ("\n".join(change(lines.decode().splitlines())) + "\n").encode()


VALID_TABLE, VALID_SECRET = build_noisy_release(1, build_original_table())


def replace_last_row(lines: bytes, row: str) -> bytes:
    """Return the file with another last row."""
    return edit_rows(lines, lambda rows: [*rows[:-1], row])


INVALID_UPLOADS = {
    "duplicate": (
        "secret",
        edit_rows(VALID_SECRET, lambda rows: [*rows[:-1], rows[1]]),
        "duplicate_row",
        40,
        True,
    ),
    "out of range": ("secret", replace_last_row(VALID_SECRET, "41"), "out_of_range", 40, True),
    "zero": ("secret", replace_last_row(VALID_SECRET, "0"), "out_of_range", 40, True),
    "no header": ("secret", edit_rows(VALID_SECRET, lambda rows: rows[1:]), "secret_header", None, False),
    "too short": ("secret", edit_rows(VALID_SECRET, lambda rows: rows[:-1]), "wrong_length", None, False),
    "not a number": ("secret", replace_last_row(VALID_SECRET, "x"), "not_a_row_number", 40, True),
    "empty secret": ("secret", b"", "secret_header", None, False),
    "ragged": ("anonymized", replace_last_row(VALID_TABLE, "f,20,1"), "ragged_row", 40, False),
    "nan": ("anonymized", replace_last_row(VALID_TABLE, "f,20,nan,1"), "not_a_number", 40, True),
    "infinite": ("anonymized", replace_last_row(VALID_TABLE, "f,20,1e999,1"), "out_of_range", 40, True),
    "missing": ("anonymized", replace_last_row(VALID_TABLE, "f,20,,1"), "missing_value", 40, True),
    "header": ("anonymized", VALID_TABLE.replace(b"income,rent", b"rent,income"), "header", None, True),
    "too long": (
        "anonymized",
        edit_rows(VALID_TABLE, lambda rows: [*rows, rows[1]]),
        "too_many_rows",
        None,
        False,
    ),
    "empty": ("anonymized", b"", "no_header", None, False),
    "no rows": ("anonymized", edit_rows(VALID_TABLE, lambda rows: rows[:1]), "no_rows", None, False),
    "nul": ("anonymized", replace_last_row(VALID_TABLE, "f\0,20,1,1"), "control_character", 40, True),
    "quote": ("anonymized", replace_last_row(VALID_TABLE, '"f,20,1,1'), "unclosed_quote", 40, False),
    "binary": ("anonymized", b"\xff\xfe\x00\x01", "encoding", None, False),
}
