"""The scores of earlier rounds, which ranking functions of packages may read."""

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.boards.facts import EarlierScore
from app.boards.models import AttackStanding, Standing
from app.competitions.contest import Contest
from app.core.db.models import Round, Series
from app.core.db.now import END

_SERIES_BY_FEEDBACK = {
    "hidden": Series.WITHOUT_GUESSES,
    "daily": Series.DAILY,
    "immediate": Series.ALL_GUESSES,
}
"""The standings that everybody sees before the close."""


def load(session: Session, contest: Contest, table: type[Standing | AttackStanding]) -> list[EarlierScore]:
    """Return the scores on the boards of the earlier rounds. A practice round counts for nothing."""
    return [
        score
        for round_ in contest.competition.rounds
        if round_.position < contest.round.position and not round_.settings.practice
        for score in iter_public_scores(session, round_, table)
    ]


def iter_public_scores(
    session: Session, round_: Round, table: type[Standing | AttackStanding]
) -> Iterator[EarlierScore]:
    """Yield the scores that everybody saw: without hidden guesses and what was frozen, until the close.

    All others count from the close on. Of several scores of a team at one moment the last holds.
    """
    publication, closed_at = round_.rules.publication, round_.closed_at
    public_series = _SERIES_BY_FEEDBACK[publication.feedback]
    hidden_from = min(filter(None, (publication.frozen_from, closed_at)), default=END)
    query = (
        select(table.series, table.team_id, table.score, table.at)
        .where(table.round_id == round_.id)
        .order_by(table.at)
    )
    for series, team_id, score, at in session.execute(query):
        if series == public_series and at < hidden_from:
            yield EarlierScore(round_.name, team_id, score, at)
        if series == Series.ALL_GUESSES and closed_at is not None:
            yield EarlierScore(round_.name, team_id, score, max(at, closed_at))
