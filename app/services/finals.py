"""Which submissions stand for a team when the first phase closes."""

from collections.abc import Sequence
from itertools import groupby
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.db.models import Competition as CompetitionRow
from app.db.models import Evaluation, State, Submission, Team
from app.services import phases


def chosen(session: Session, row: CompetitionRow) -> list[Submission]:
    """The finals of every team at the deadline: those it marked, else its best valid ones.

    A marked one is taken although it is disqualified, so that reinstating it restores the target.
    """
    most = phases.timetable_of(row).ranking.finals
    valid = session.scalars(
        select(Evaluation)
        .join(Evaluation.submission)
        .join(Submission.team)
        .where(Submission.competition_id == row.id, Evaluation.current, Evaluation.state == State.SCORED)
        .where(~Team.baseline)
        .options(joinedload(Evaluation.submission, innerjoin=True))
        .order_by(Submission.team_id)
    )
    by_team = groupby(valid, key=lambda evaluation: evaluation.submission.team_id)
    return [final for _, own in by_team for final in of_one_team(list(own), most)]


def of_one_team(valid: Sequence[Evaluation], most: int) -> list[Submission]:
    """The best of those it marked (perhaps more, before the number was lowered), else of all."""
    marked = [each for each in valid if each.submission.final]
    free = [each for each in valid if each.submission.disqualified_at is None]
    return [each.submission for each in sorted(marked or free, key=merit)[:most]]


def merit(evaluation: Evaluation) -> tuple[float, object, UUID]:
    """Lowest overall first, then the earlier."""
    verdict, submission = evaluation.verdict or {}, evaluation.submission
    return verdict["overall"], submission.received_at, submission.id
