"""Which submissions stand for a team when the first phase closes."""

from collections.abc import Sequence
from itertools import groupby
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from app.db.models import Competition as CompetitionRow
from app.db.models import Evaluation, State, Submission, Team
from app.errors import Conflict
from app.services import competitions, phases, submissions, uploads
from app.services.accounts import Principal

MARKABLE = (State.QUEUED, State.SCORING, State.SCORED)


def mark(session: Session, principal: Principal, submission_id: UUID, *, final: bool) -> Submission:
    """Mark or unmark a final while the first phase is open; at most as many as the competition takes."""
    found = submissions.own(session, principal, submission_id)
    row = session.get_one(CompetitionRow, found.competition_id, with_for_update={"read": True})
    team = session.get_one(Team, found.team_id, with_for_update=True, populate_existing=True)
    uploads.require_qualified(team)
    phases.standing(session, row).require_open(phases.ANONYMIZATION)
    if final and not found.final:
        require_markable(session, found, competitions.read_file(row.file).ranking.finals)
    found.final = final
    return found


def require_markable(session: Session, submission: Submission, most: int) -> None:
    if submission.evaluation.state not in MARKABLE:
        raise Conflict(
            f"a submission that ended as {submission.evaluation.state} cannot be a final", code="not_valid"
        )
    marked = session.scalar(
        select(func.count())
        .select_from(Submission)
        .join(Evaluation, (Evaluation.submission_id == Submission.id) & Evaluation.current)
        .where(Submission.team_id == submission.team_id, Submission.final)
        .where(Evaluation.state.in_(MARKABLE))
    )
    if (marked or 0) >= most:
        raise Conflict(f"{most} finals are marked already; unmark one first", code="too_many_finals")


def chosen(session: Session, row: CompetitionRow) -> list[Submission]:
    """The finals of every team at the deadline: those it marked, else its best valid ones.

    A marked one is taken although it is disqualified, so that reinstating it restores the target.
    """
    most = competitions.read_file(row.file).ranking.finals
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
