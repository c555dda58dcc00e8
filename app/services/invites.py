"""Codes with which people found a team or join one."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Select, exists, func, select, update
from sqlalchemy.orm import Session

from app.db.models import Competition, Invite, Team
from app.errors import WrongCredential
from app.services import accounts, audit, competitions, teams
from app.services.accounts import Principal

LIFE = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Invitation:
    """Where an invite leads; ``team``: the one that is joined, None: a new one is founded."""

    competition: Competition
    team: Team | None


def for_teams(session: Session, principal: Principal, slug: str, *, uses: int = 1) -> str:
    """A code with which ``uses`` teams are founded; by an organizer."""
    competition = competitions.find(session, slug)
    competitions.require_organizer(session, competition.id, principal)
    audit.record(session, principal, "invite.create", competition_id=competition.id, after={"teams": uses})
    return create(session, competition.id, uses=uses)


def for_members(session: Session, principal: Principal, slug: str, *, uses: int = 1) -> str:
    """A code with which ``uses`` people join the team of the one who asks."""
    principal.require("submit")
    competition = competitions.find(session, slug)
    team = teams.require_team(session, competition.id, principal)
    return create(session, competition.id, team_id=team.id, uses=uses)


def create(session: Session, competition_id: UUID, *, team_id: UUID | None = None, uses: int) -> str:
    """A new code in clear: it is shown once, only its digest is kept."""
    code = secrets.token_urlsafe(12)
    session.add(
        Invite(
            competition_id=competition_id,
            team_id=team_id,
            digest=accounts.digest(code),
            uses_left=uses,
            expires_at=func.clock_timestamp() + LIFE,
        )
    )
    return code


def teams_invited(session: Session, competition_id: UUID) -> bool:
    """Whether there is a team, or a code with which one may still be founded."""
    open_code = exists().where(
        Invite.competition_id == competition_id,
        Invite.team_id.is_(None),
        Invite.uses_left > 0,
        Invite.expires_at > func.clock_timestamp(),
    )
    founded = exists().where(Team.competition_id == competition_id, Team.baseline.is_(False))
    return bool(session.scalar(select(open_code | founded)))


def use(session: Session, code: str) -> Invite:
    """Take one use of the invite; the same refusal whether it is unknown, used up or expired."""
    found = require(session.scalar(usable(code).with_for_update()))
    found.uses_left -= 1
    return found


def look(session: Session, code: str) -> Invitation:
    """Where the invite leads, to whoever holds its code; refused like ``use``."""
    found = require(session.scalar(usable(code)))
    team = session.get_one(Team, found.team_id) if found.team_id else None
    return Invitation(session.get_one(Competition, found.competition_id), team)


def usable(code: str) -> Select[Invite]:
    return select(Invite).where(
        Invite.digest == accounts.digest(code.strip()),
        Invite.uses_left > 0,
        Invite.expires_at > func.clock_timestamp(),
    )


def require(found: Invite | None) -> Invite:
    if found is None:
        raise WrongCredential("the invite is unknown, used up or expired", code="invalid_invite")
    return found


def void(session: Session, team_id: UUID) -> None:
    """End all invites of a team."""
    session.execute(update(Invite).where(Invite.team_id == team_id).values(uses_left=0))
