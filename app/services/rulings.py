"""What organizers decide about teams and submissions: grants, disqualification, scoring once more."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.db.models import Competition as CompetitionRow
from app.db.models import Evaluation, Grant, State, Submission, Team
from app.errors import Conflict, InvalidInput, NotFound
from app.services import audit, competitions, evaluations, phases, quota, rescores, submissions
from app.services.accounts import Principal
from app.services.leases import clock

MOST_GRANTED = 1_000


def grant(
    session: Session, principal: Principal, slug: str, *, team_id: UUID, cap: str, amount: int
) -> Grant:
    """Give a team more of a cap. More of a daily cap is for today, in the competition's zone."""
    row = phases.organizers_row(session, principal, slug)
    team = team_in(session, row, team_id)
    if cap not in quota.CAPS or not 1 <= amount <= MOST_GRANTED:
        caps = ", ".join(quota.CAPS)
        raise InvalidInput(f"grant 1 to {MOST_GRANTED:,} more of one of {caps}", code="invalid_grant")
    made = Grant(team_id=team.id, cap=cap, amount=amount)
    session.add(made)
    session.flush()
    noted(session, principal, row, "quota.grant", team.name, cap=cap, amount=amount)
    return made


def team_in(session: Session, row: CompetitionRow, team_id: UUID) -> Team:
    team = session.get(Team, team_id, with_for_update=True, populate_existing=True)
    if team is None or team.competition_id != row.id:
        raise NotFound("the competition has no such team", code="no_such_team")
    return team


def judge_team(
    session: Session, principal: Principal, slug: str, team_id: UUID, *, disqualified: bool
) -> Team:
    """Take a team out of the contest, its targets and its guesses with it, or back in with all of them."""
    row = phases.organizers_row(session, principal, slug)
    team = team_in(session, row, team_id)
    require_change(team.disqualified_at is not None, disqualified)
    team.disqualified_at = clock(session) if disqualified else None
    noted(session, principal, row, f"team.{word(disqualified)}", team.name)
    return team


def judge_submission(
    session: Session, principal: Principal, submission_id: UUID, *, disqualified: bool
) -> Submission:
    """Take a submission out of the boards and withdraw its target, or put both back."""
    row, found = organizers_submission(session, principal, submission_id)
    require_change(found.disqualified_at is not None, disqualified)
    found.disqualified_at = clock(session) if disqualified else None
    noted(session, principal, row, f"submission.{word(disqualified)}", str(found.id))
    return found


def score_again(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Have a submission that ended in ERROR scored once more; it counts as a valid one again."""
    row, found = organizers_submission(session, principal, submission_id)
    failed = session.get_one(Evaluation, found.evaluation.id, with_for_update=True, populate_existing=True)
    if failed.state != State.ERROR or not failed.current:
        raise Conflict("only a submission that ended in ERROR is scored again alone", code="not_failed")
    failed.current = False
    session.flush()
    evaluations.queue_up(session, found.id)
    rescores.include(session, row.id, found.id)
    noted(session, principal, row, "submission.rescore", str(found.id))
    session.expire(found, ["evaluation"])
    return submissions.visible(session, principal, found.id)


def organizers_submission(
    session: Session, principal: Principal, submission_id: UUID
) -> tuple[CompetitionRow, Submission]:
    """A submission and its competition's row under the lock, for one of the organizers."""
    found = submissions.visible(session, principal, submission_id)
    competitions.require_organizer(session, found.competition_id, principal)
    row = session.get_one(CompetitionRow, found.competition_id, with_for_update=True, populate_existing=True)
    session.refresh(found, ["disqualified_at"])
    return row, found


def require_change(disqualified: bool, wanted: bool) -> None:
    if disqualified == wanted:
        state = "disqualified already" if wanted else "not disqualified"
        raise Conflict(f"it is {state}", code="nothing_to_change")


def word(disqualified: bool) -> str:
    return "disqualify" if disqualified else "reinstate"


def noted(
    session: Session, principal: Principal, row: CompetitionRow, action: str, subject: str, **after: object
) -> None:
    audit.record(
        session, principal, action, competition_id=row.id, subject=subject, after=dict(after) or None
    )
