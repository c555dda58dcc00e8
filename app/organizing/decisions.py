"""Decisions of organizers about teams and submissions: grants, points, disqualification, rescoring."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from anoncup import schemas
from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.messages import N_
from app.accounts import memberships
from app.boards import standing_updates
from app.competitions import competitions
from app.core import audit
from app.core.db.models import Adjustment, Evaluation, Round, State, Submission, Team
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.submissions import evaluations, quota, submissions, uploads
from app.submissions.models import Grant

MAX_REASON_LENGTH = 500


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
    """Raise a cap of a team; a daily cap is raised for today, in the competition's time zone.

    More guesses on a target need the password: organizers see the exact score of each guess, which turns
    additional guesses into an oracle. ``reason`` appears only in the audit log.
    """
    round_ = competitions.lock_for_organizer(session, principal, slug)
    team = lock_team(session, round_, team_id)
    if cap not in quota.CAP_NAMES:
        raise InvalidInput("caps are {names}", code="invalid_grant", names=tuple(quota.CAP_NAMES))
    if not 1 <= amount <= schemas.MAX_GRANT:
        raise InvalidInput("grant 1 to {most:,} more", code="invalid_grant", most=schemas.MAX_GRANT)
    if cap == quota.GUESSES_PER_TARGET:
        principal.require_reauthentication()
    new_grant = Grant(round_id=round_.id, team_id=team.id, cap=cap, amount=amount)
    session.add(new_grant)
    session.flush()
    _audit_action(session, principal, round_, "quota.grant", team.name, reason=reason, cap=cap, amount=amount)
    return new_grant


def lock_team(session: Session, round_: Round, team_id: UUID) -> Team:
    team = session.get(Team, team_id, with_for_update=True, populate_existing=True)
    if team is None or team.competition_id != round_.competition_id:
        raise NotFound("the competition has no such team", code="no_such_team")
    return team


def list_grants(session: Session, principal: Principal, slug: str, team_id: UUID) -> Sequence[Grant]:
    """Return the grants of a team, newest first, for the organizers."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    query = select(Grant).where(Grant.round_id == round_.id, Grant.team_id == team_id)
    return session.scalars(query.order_by(Grant.granted_at.desc())).all()


def create_adjustment(
    session: Session, principal: Principal, slug: str, *, team_id: UUID, points: float, reason: str
) -> Adjustment:
    """Give a team points, or take them if ``points`` are negative. The team sees the reason."""
    round_ = competitions.lock_for_organizer(session, principal, slug)
    team = lock_team(session, round_, team_id)
    if not 0 < abs(points) <= schemas.MAX_POINTS:
        raise InvalidInput(
            "points are a number other than 0, from -{most:,} to {most:,}",
            code="invalid_points",
            most=schemas.MAX_POINTS,
        )
    cleaned_reason = clean_reason(reason)
    if not cleaned_reason:
        raise InvalidInput("a penalty or bonus needs a reason", code="reason_missing")
    principal.require_reauthentication()
    adjustment = Adjustment(round_id=round_.id, team=team, points=points, reason=cleaned_reason)
    session.add(adjustment)
    session.flush()
    standing_updates.refresh(session, round_.id)
    details = {"points": points, "reason": cleaned_reason}
    audit.record(session, principal, "team.adjust", round_.competition_id, subject=team.name, after=details)
    return adjustment


def withdraw_adjustment(session: Session, principal: Principal, adjustment_id: UUID) -> Adjustment:
    adjustment = session.get(Adjustment, adjustment_id, options=[joinedload(Adjustment.team, innerjoin=True)])
    if adjustment is None or not competitions.is_round_organizer(session, adjustment.round_id, principal):
        raise NotFound("there is no such penalty or bonus", code="no_such_adjustment")
    principal.require("organize")
    competitions.lock(session, adjustment.round_id)
    session.refresh(adjustment, ["withdrawn_at"])
    if adjustment.withdrawn_at is not None:
        raise Conflict("it is withdrawn already", code="already_withdrawn")
    adjustment.withdrawn_at = read_clock(session)
    standing_updates.refresh(session, adjustment.round_id)
    details = {"points": adjustment.points, "reason": adjustment.reason}
    team = adjustment.team
    audit.record(
        session, principal, "team.withdraw_adjustment", team.competition_id, subject=team.name, before=details
    )
    return adjustment


def list_adjustments(
    session: Session, principal: Principal, slug: str, team_id: UUID | None = None
) -> Sequence[Adjustment]:
    """Return adjustments, newest first: for organizers all or those of a team, for others their own."""
    round_ = competitions.find(session, principal, slug)
    principal.require("read")
    if not competitions.is_organizer(session, round_.competition_id, principal):
        team_id = memberships.require_team(session, round_.competition_id, principal).id
    query = select(Adjustment).where(Adjustment.round_id == round_.id)
    if team_id is not None:
        query = query.where(Adjustment.team_id == team_id)
    return session.scalars(query.order_by(Adjustment.created_at.desc(), Adjustment.id)).all()


def set_team_disqualified(
    session: Session, principal: Principal, slug: str, team_id: UUID, *, disqualified: bool, reason: str = ""
) -> Team:
    """Disqualify or reinstate a team together with its targets and guesses.

    ``reason`` appears in the audit log; the team sees the reason of a disqualification.
    """
    round_ = competitions.lock_for_organizer(session, principal, slug)
    team = lock_team(session, round_, team_id)
    _require_change(principal, round_, team, disqualified)
    verb = _set_disqualified(session, team, disqualified, reason)
    standing_updates.refresh_all_rounds(session, round_.competition)
    _audit_action(session, principal, round_, f"team.{verb}", team.name, reason=reason)
    return team


def remove_method_description(session: Session, principal: Principal, slug: str, team_id: UUID) -> Team:
    """Remove a team's description of its method; the audit log keeps the text."""
    round_ = competitions.lock_for_organizer(session, principal, slug)
    team = lock_team(session, round_, team_id)
    if team.method_description is None:
        raise Conflict("the team has not described its method", code="nothing_to_change")
    previous = {"method_description": team.method_description}
    team.method_description = None
    audit.record(
        session, principal, "team.silence", round_.competition_id, subject=team.name, before=previous
    )
    return team


def set_submission_disqualified(
    session: Session, principal: Principal, submission_id: UUID, *, disqualified: bool, reason: str = ""
) -> Submission:
    """Disqualify a submission, which removes it from the boards and withdraws its target, or reinstate it.

    ``reason`` appears in the audit log; the team sees the reason of a disqualification.
    """
    round_, submission = _lock_submission(session, principal, submission_id)
    _require_change(principal, round_, submission, disqualified)
    verb = _set_disqualified(session, submission, disqualified, reason)
    standing_updates.refresh(session, round_.id)
    _audit_action(session, principal, round_, f"submission.{verb}", str(submission.id), reason=reason)
    return submission


def rescore(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Queue a submission that ended in ERROR for another evaluation. It counts as valid again."""
    round_, submission = _lock_submission(session, principal, submission_id)
    failed_evaluation = session.get_one(
        Evaluation, submission.evaluation.id, with_for_update=True, populate_existing=True
    )
    if failed_evaluation.state != State.ERROR or not failed_evaluation.current:
        raise Conflict(
            "only a submission that ended in ERROR can be scored again on its own", code="not_failed"
        )
    failed_evaluation.current = False
    session.flush()
    evaluations.enqueue(session, submission.id)
    evaluations.include_in_open_rescore(session, round_.id, submission.id)
    _audit_action(session, principal, round_, "submission.rescore", str(submission.id))
    session.expire(submission, ["evaluation"])
    return submissions.find_visible(session, principal, submission.id)


def _lock_submission(session: Session, principal: Principal, submission_id: UUID) -> tuple[Round, Submission]:
    """Return a submission and its locked competition, for one of the organizers."""
    submission = submissions.find_visible(session, principal, submission_id)
    competitions.require_organizer(session, submission.team.competition_id, principal)
    round_ = competitions.lock(session, submission.round_id)
    session.refresh(submission, ["disqualified_at"])
    return round_, submission


def _require_change(principal: Principal, round_: Round, row: Team | Submission, disqualify: bool) -> None:
    if (row.disqualified_at is not None) == disqualify:
        message = N_("it is disqualified already") if disqualify else N_("it is not disqualified")
        raise Conflict(message, code="nothing_to_change")
    if disqualify or reinstating_allows_guesses(round_):
        principal.require_reauthentication()


def reinstating_allows_guesses(round_: Round) -> bool:
    """Whether a reinstated team could guess, while organizers see the exact score of each guess."""
    return round_.published_at is not None and round_.revealed_at is None


def _set_disqualified(session: Session, row: Team | Submission, disqualified: bool, reason: str) -> str:
    """Disqualify or reinstate a team or a submission, and return the verb for the audit log."""
    row.disqualified_at = read_clock(session) if disqualified else None
    row.disqualification_reason = (clean_reason(reason) or None) if disqualified else None
    return "disqualify" if disqualified else "reinstate"


def _audit_action(
    session: Session,
    principal: Principal,
    round_: Round,
    action: str,
    subject: str,
    *,
    reason: str = "",
    **details: object,
) -> None:
    cleaned_reason = clean_reason(reason)
    content = {**details, "reason": cleaned_reason} if cleaned_reason else dict(details)
    audit.record(session, principal, action, round_.competition_id, subject=subject, after=content or None)


def clean_reason(reason: str) -> str:
    """Collapse whitespace into a single line; raises InvalidInput."""
    line = " ".join(reason.split())
    if len(line) > MAX_REASON_LENGTH or not (line.isprintable() and uploads.is_storable(line)):
        raise InvalidInput(
            "a reason is text of at most {most} characters", code="invalid_reason", most=MAX_REASON_LENGTH
        )
    return line
