"""What organizers decide about teams and submissions: grants, disqualification, scoring once more."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.messages import N_
from app.db.models import Competition, Evaluation, Grant, State, Submission, Team
from app.db.now import clock
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.submissions import evaluations, quota, submissions, uploads

MOST_GRANTED = schemas.MOST_GRANTED
LONGEST_REASON = 500


def grant(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    team_id: UUID,
    cap: str,
    amount: int,
    reason: str = "",
) -> Grant:
    """Give a team more of a cap. More of a daily cap is for today, in the competition's zone.

    More guesses on a target need the password: organizers read the exact score of each, an oracle.
    ``reason``: for the audit log only.
    """
    row = competitions.locked_for_organizer(session, principal, slug).row
    team = team_in(session, row, team_id)
    if cap not in quota.CAPS:
        raise InvalidInput("caps are {names}", code="invalid_grant", names=tuple(quota.CAPS))
    if not 1 <= amount <= MOST_GRANTED:
        raise InvalidInput("grant 1 to {most:,} more", code="invalid_grant", most=MOST_GRANTED)
    if cap == quota.GUESSES_PER_TARGET:
        principal.require_confirmed()
    made = Grant(team_id=team.id, cap=cap, amount=amount)
    session.add(made)
    session.flush()
    noted(session, principal, row, "quota.grant", team.name, reason=reason, cap=cap, amount=amount)
    return made


def team_in(session: Session, row: Competition, team_id: UUID) -> Team:
    team = session.get(Team, team_id, with_for_update=True, populate_existing=True)
    if team is None or team.competition_id != row.id:
        raise NotFound("the competition has no such team", code="no_such_team")
    return team


def granted(session: Session, principal: Principal, slug: str, team_id: UUID) -> Sequence[Grant]:
    """What a team was given, newest first; for the organizers."""
    contest = competitions.for_organizer(session, principal, slug)
    mine = select(Grant).join(Team, Team.id == Grant.team_id).where(Team.competition_id == contest.id)
    return session.scalars(mine.where(Grant.team_id == team_id).order_by(Grant.at.desc())).all()


def judge_team(
    session: Session,
    principal: Principal,
    slug: str,
    team_id: UUID,
    *,
    disqualified: bool,
    reason: str = "",
) -> Team:
    """Take a team out of the contest, its targets and its guesses with it, or back in with all of them.

    ``reason``, here and below: for the audit log; of a disqualification, for the team, too.
    """
    contest = competitions.locked_for_organizer(session, principal, slug)
    team = team_in(session, contest.row, team_id)
    require_change(principal, contest.row, team.disqualified_at is not None, disqualified)
    team.disqualified_at = clock(session) if disqualified else None
    team.disqualified_for = clean_reason(reason) or None if disqualified else None
    noted(session, principal, contest.row, f"team.{word(disqualified)}", team.name, reason=reason)
    return team


def silence(session: Session, principal: Principal, slug: str, team_id: UUID) -> Team:
    """Take away what a team tells of how it did it; the audit log keeps it."""
    contest = competitions.locked_for_organizer(session, principal, slug)
    team = team_in(session, contest.row, team_id)
    if team.approach is None:
        raise Conflict("the team has not described its method", code="nothing_to_change")
    before = {"approach": team.approach}
    team.approach = None
    audit.record(
        session, principal, "team.silence", competition_id=contest.id, subject=team.name, before=before
    )
    return team


def judge_submission(
    session: Session, principal: Principal, submission_id: UUID, *, disqualified: bool, reason: str = ""
) -> Submission:
    """Take a submission out of the boards and withdraw its target, or put both back."""
    row, found = organizers_submission(session, principal, submission_id)
    require_change(principal, row, found.disqualified_at is not None, disqualified)
    found.disqualified_at = clock(session) if disqualified else None
    found.disqualified_for = clean_reason(reason) or None if disqualified else None
    noted(session, principal, row, f"submission.{word(disqualified)}", str(found.id), reason=reason)
    return found


def score_again(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Have a submission that ended in ERROR scored once more; it counts as a valid one again."""
    row, found = organizers_submission(session, principal, submission_id)
    failed = session.get_one(Evaluation, found.evaluation.id, with_for_update=True, populate_existing=True)
    if failed.state != State.ERROR or not failed.current:
        raise Conflict(
            "only a submission that ended in ERROR can be scored again on its own", code="not_failed"
        )
    failed.current = False
    session.flush()
    evaluations.queue_up(session, found.id)
    evaluations.include(session, row.id, found.id)
    noted(session, principal, row, "submission.rescore", str(found.id))
    session.expire(found, ["evaluation"])
    return submissions.visible(session, principal, found.id)


def organizers_submission(
    session: Session, principal: Principal, submission_id: UUID
) -> tuple[Competition, Submission]:
    """A submission and its competition's row under the lock, for one of the organizers."""
    found = submissions.visible(session, principal, submission_id)
    competitions.require_organizer(session, found.competition_id, principal)
    row = session.get_one(Competition, found.competition_id, with_for_update=True, populate_existing=True)
    session.refresh(found, ["disqualified_at"])
    return row, found


def require_change(principal: Principal, row: Competition, disqualified: bool, wanted: bool) -> None:
    if disqualified == wanted:
        said = N_("it is disqualified already") if wanted else N_("it is not disqualified")
        raise Conflict(said, code="nothing_to_change")
    if wanted or lets_guess_again(row):
        principal.require_confirmed()


def lets_guess_again(row: Competition) -> bool:
    """Whether who is reinstated may guess: organizers read the exact score of a guess."""
    return row.published_at is not None and row.revealed_at is None


def word(disqualified: bool) -> str:
    return "disqualify" if disqualified else "reinstate"


def noted(
    session: Session,
    principal: Principal,
    row: Competition,
    action: str,
    subject: str,
    *,
    reason: str = "",
    **after: object,
) -> None:
    why = clean_reason(reason)
    content = {**after, "reason": why} if why else dict(after)
    audit.record(session, principal, action, competition_id=row.id, subject=subject, after=content or None)


def clean_reason(reason: str) -> str:
    """One line of text that can be kept."""
    line = " ".join(reason.split())
    if len(line) > LONGEST_REASON or not (line.isprintable() and uploads.is_storable(line)):
        raise InvalidInput(
            "a reason is text of at most {most} characters", code="invalid_reason", most=LONGEST_REASON
        )
    return line
