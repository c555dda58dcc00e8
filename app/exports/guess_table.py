"""The guesses of a round as a table. Their files lie beside it, each named by the id of its guess."""

from collections.abc import Iterable

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session, joinedload

from app.core.db.models import Guess, Round
from app.core.spreadsheet import render_csv

_COLUMNS = ("id", "team", "target", "received_at", "state", "answered", "correct", "sha256")
_RISK_COLUMNS = ("question", "value", "baseline", "risk")
"""Additional columns for guesses that are not scored by counting individuals."""


def load_guesses(session: Session, round_: Round, *conditions: ColumnElement[bool]) -> list[Guess]:
    """Return the guesses in order of receipt."""
    query = (
        select(Guess)
        .where(Guess.round_id == round_.id, *conditions)
        .options(joinedload(Guess.target, innerjoin=True), joinedload(Guess.team, innerjoin=True))
        .order_by(Guess.received_at, Guess.id)
    )
    return list(session.scalars(query))


def list_files(guesses: Iterable[Guess]) -> dict[str, str]:
    """Return the SHA-256 of each guess, as the service wrote it, by its name in an archive."""
    return {f"guesses/{guess.id}.csv": guess.file for guess in guesses}


def format_table(round_: Round, guesses: Iterable[Guess]) -> bytes:
    if round_.track.asks_identity(round_.rules):
        return render_csv(_COLUMNS, map(_build_row, guesses))
    return render_csv(
        (*_COLUMNS, *_RISK_COLUMNS), ([*_build_row(guess), *_build_risk_fields(guess)] for guess in guesses)
    )


def _build_row(guess: Guess) -> list[object]:
    return [
        guess.id,
        guess.team.name,
        guess.target.name,
        guess.received_at,
        guess.state,
        guess.answered,
        guess.correct,
        guess.file,
    ]


def _build_risk_fields(guess: Guess) -> list[object]:
    judged = guess.parsed_outcome
    return [guess.question, judged and judged.value, judged and judged.baseline, guess.risk]
