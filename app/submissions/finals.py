"""Submissions that a team marks as its finals."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict
from anoncup.messages import Message
from app.competitions import phases
from app.competitions.contest import Contest
from app.core.db.models import Evaluation, Round, State, Submission, Team
from app.core.identity.principal import Principal
from app.submissions import submissions, uploads

MARKABLE_STATES = (State.QUEUED, State.SCORING, State.SCORED)


def mark(session: Session, principal: Principal, submission_id: UUID, *, final: bool) -> Submission:
    """Mark or unmark a final while the first phase is open, up to the competition's number of finals."""
    submission = submissions.find_own(session, principal, submission_id)
    round_ = session.get_one(Round, submission.round_id, with_for_update={"read": True})
    team = session.get_one(Team, submission.team_id, with_for_update=True, populate_existing=True)
    uploads.require_qualified(team)
    phases.get_status(session, round_).require_open(phases.ANONYMIZATION)
    if final and not submission.final:
        _require_markable(session, submission, Contest(round_).rules.ranking.finals)
    submission.final = final
    return submission


def _require_markable(session: Session, submission: Submission, max_finals: int) -> None:
    if submission.evaluation.state not in MARKABLE_STATES:
        raise Conflict(
            "a submission that ended as {state} cannot be a final",
            code="not_valid",
            state=Message(submission.evaluation.state),
        )
    marked_count = session.scalar(
        select(func.count())
        .select_from(Submission)
        .join(Evaluation, (Evaluation.submission_id == Submission.id) & Evaluation.current)
        .where(Submission.team_id == submission.team_id, Submission.round_id == submission.round_id)
        .where(Submission.final)
        .where(Evaluation.state.in_(MARKABLE_STATES))
    )
    if (marked_count or 0) >= max_finals:
        raise Conflict(
            "all finals ({most}) are marked already; unmark one first",
            code="too_many_finals",
            most=max_finals,
        )
