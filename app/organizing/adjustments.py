"""Penalties and bonuses of teams, whose sum ranking formulas use as ``penalty``."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from anoncup import schemas
from anoncup.errors import Conflict, InvalidInput, NotFound
from app.accounts import memberships
from app.boards import standing_updates
from app.competitions import competitions
from app.core import audit
from app.core.db.models import Adjustment
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.organizing.disqualification import clean_reason, lock_team

MAX_POINTS = schemas.MAX_POINTS


def create(
    session: Session, principal: Principal, slug: str, *, team_id: UUID, points: float, reason: str
) -> Adjustment:
    """Give a team points, or take them if ``points`` are negative. The team sees the reason."""
    round_ = competitions.lock_for_organizer(session, principal, slug)
    team = lock_team(session, round_, team_id)
    if not 0 < abs(points) <= MAX_POINTS:
        raise InvalidInput(
            "points are a number other than 0, from -{most:,} to {most:,}",
            code="invalid_points",
            most=MAX_POINTS,
        )
    cleaned_reason = clean_reason(reason)
    if not cleaned_reason:
        raise InvalidInput("a penalty or bonus needs a reason", code="reason_missing")
    adjustment = Adjustment(round_id=round_.id, team=team, points=points, reason=cleaned_reason)
    session.add(adjustment)
    session.flush()
    standing_updates.refresh(session, round_.id)
    details = {"points": points, "reason": cleaned_reason}
    audit.record(session, principal, "team.adjust", round_.competition_id, subject=team.name, after=details)
    return adjustment


def withdraw(session: Session, principal: Principal, adjustment_id: UUID) -> Adjustment:
    adjustment = session.get(Adjustment, adjustment_id, options=[joinedload(Adjustment.team, innerjoin=True)])
    if adjustment is None:
        raise NotFound("there is no such penalty or bonus", code="no_such_adjustment")
    competitions.require_organizer(session, adjustment.team.competition_id, principal)
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
