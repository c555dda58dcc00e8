"""Submissions that are sent and scored, and uploads that are refused."""

from collections.abc import Callable

from sqlalchemy import func, select

from app.db.models import Evaluation, Secret, State, Submission
from app.db.transaction import transaction
from tests.support.arena import noisy_release, original_table
from workers import score


def counted(model: type[Submission] | type[Secret] | type[Evaluation]) -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(model)).one()


def score_everything() -> None:
    """What a worker would do, called as a plain function."""
    with transaction() as session:
        waiting = list(session.scalars(select(Evaluation.id).where(Evaluation.state == State.QUEUED)))
    for identifier in waiting:
        score.score(str(identifier))


def cut(lines: bytes, change: Callable[[list[str]], list[str]]) -> bytes:
    return ("\n".join(change(lines.decode().splitlines())) + "\n").encode()


GOOD_TABLE, GOOD_SECRET = noisy_release(1, original_table())


def last(lines: bytes, row: str) -> bytes:
    """The file with another last row."""
    return cut(lines, lambda rows: [*rows[:-1], row])


BAD_UPLOADS = {
    "duplicate": ("secret", cut(GOOD_SECRET, lambda rows: [*rows[:-1], rows[1]]), "duplicate_row", 40, True),
    "out of range": ("secret", last(GOOD_SECRET, "41"), "out_of_range", 40, True),
    "zero": ("secret", last(GOOD_SECRET, "0"), "out_of_range", 40, True),
    "no header": ("secret", cut(GOOD_SECRET, lambda rows: rows[1:]), "secret_header", None, False),
    "too short": ("secret", cut(GOOD_SECRET, lambda rows: rows[:-1]), "wrong_length", None, False),
    "not a number": ("secret", last(GOOD_SECRET, "x"), "not_a_row_number", 40, True),
    "empty secret": ("secret", b"", "secret_header", None, False),
    "ragged": ("anonymized", last(GOOD_TABLE, "f,20,1"), "ragged_row", 40, False),
    "nan": ("anonymized", last(GOOD_TABLE, "f,20,nan,1"), "not_a_number", 40, True),
    "infinite": ("anonymized", last(GOOD_TABLE, "f,20,1e999,1"), "not_finite", 40, True),
    "missing": ("anonymized", last(GOOD_TABLE, "f,20,,1"), "missing_value", 40, True),
    "header": ("anonymized", GOOD_TABLE.replace(b"income,rent", b"rent,income"), "header", None, True),
    "too long": ("anonymized", cut(GOOD_TABLE, lambda rows: [*rows, rows[1]]), "too_many_rows", None, False),
    "empty": ("anonymized", b"", "no_header", None, False),
    "no rows": ("anonymized", cut(GOOD_TABLE, lambda rows: rows[:1]), "no_rows", None, False),
    "nul": ("anonymized", last(GOOD_TABLE, "f\0,20,1,1"), "control_character", 40, True),
    "quote": ("anonymized", last(GOOD_TABLE, '"f,20,1,1'), "unclosed_quote", 40, False),
    "binary": ("anonymized", b"\xff\xfe\x00\x01", "encoding", None, False),
}
