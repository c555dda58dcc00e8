"""Invites, teams and their members."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.db.models import Competition, Invite, Member, Team, User
from app.errors import Conflict, InvalidInput, NotAllowed
from app.services import accounts, competitions
from app.services.accounts import Principal

INVITE_LIFE = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class SignedUp:
    user: User
    team: Team
    competition: Competition
    token: str


def invite(session: Session, principal: Principal, slug: str, *, uses: int = 1) -> str:
    """A code with which ``uses`` teams can sign up; shown once, only its digest is kept."""
    competition = competitions.find(session, slug)
    competitions.require_organizer(session, competition.id, principal)
    code = secrets.token_urlsafe(12)
    session.add(
        Invite(
            competition_id=competition.id,
            digest=accounts.digest(code),
            uses_left=uses,
            expires_at=datetime.now(UTC) + INVITE_LIFE,
        )
    )
    return code


def sign_up(session: Session, *, code: str, team: str, name: str, password: str) -> SignedUp:
    """A new account with a new team in the competition that the invite belongs to, and a token for it."""
    used = use_invite(session, code)
    user = accounts.create_user(session, name=name, password=password)
    created = create_team(session, used.competition_id, team)
    session.add(Member(competition_id=used.competition_id, user_id=user.id, team_id=created.id))
    token = accounts.issue_token(session, user, name="sign-up")
    return SignedUp(user, created, session.get_one(Competition, used.competition_id), token)


def use_invite(session: Session, code: str) -> Invite:
    found = session.scalar(
        select(Invite).where(Invite.digest == accounts.digest(code.strip())).with_for_update()
    )
    if found is None or not found.uses_left or found.expires_at <= datetime.now(UTC):
        raise InvalidInput("the invite is unknown, used up or expired", code="invalid_invite")
    found.uses_left -= 1
    return found


def create_team(session: Session, competition_id: UUID, name: str) -> Team:
    name = accounts.clean_name(name)
    team = Team(competition_id=competition_id, name=name, name_key=accounts.name_key(name))
    session.add(team)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict("this competition has a team of that name", code="team_name_taken") from None
    return team


def team_of(session: Session, competition_id: UUID, principal: Principal) -> Team | None:
    return session.scalar(
        select(Team)
        .join(Member, Member.team_id == Team.id)
        .where(Member.competition_id == competition_id, Member.user_id == principal.user_id)
    )


def require_team(session: Session, competition_id: UUID, principal: Principal) -> Team:
    team = team_of(session, competition_id, principal)
    if team is None:
        raise NotAllowed("you are in no team of this competition", code="not_in_a_team")
    return team
