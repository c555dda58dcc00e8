"""Invite codes with which people create or join a team."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Select, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable, Conflict, NotFound, WrongCredential
from app.competitions import competitions, phases
from app.core import audit
from app.core.db.models import Competition, Team
from app.core.identity import tokens
from app.core.identity.principal import Principal
from app.teams.models import Invite

INVITE_LIFETIME = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class UsableInvite:
    """A usable invite's competition and team. ``team`` is None if the invite creates a new team."""

    competition: Competition
    team: Team | None


def create_for_new_teams(
    session: Session, principal: Principal, slug: str, *, uses: int = 1, invite_id: UUID | None = None
) -> str:
    """Create an invite for ``uses`` new teams and return its code. Only organizers may do this.

    After the anonymization phase, when a new team can only guess, this requires the password. A repeated
    request with the same ``invite_id`` raises Conflict instead of creating another invite.
    """
    round_ = competitions.find_for_organizer(session, principal, slug)
    if can_only_guess(session, round_.competition):
        principal.require_reauthentication()
    invite_id = invite_id or uuid4()
    code = insert_invite(session, round_.competition_id, uses=uses, invite_id=invite_id)
    audit.record(
        session,
        principal,
        "invite.create",
        round_.competition_id,
        subject=str(invite_id),
        after={"teams": uses},
    )
    return code


def can_only_guess(session: Session, competition: Competition) -> bool:
    """Return whether new teams can only send guesses. Also True if the competition file cannot be read."""
    try:
        states = {phases.get_status(session, round_).state for round_ in competition.rounds}
    except CompetitionUnavailable:
        return True
    return states.isdisjoint({"draft", "upcoming", phases.ANONYMIZATION})


def list_open(session: Session, principal: Principal, slug: str) -> Sequence[Invite]:
    """Return the invites with which teams can still be created, newest first. Only for organizers."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    open_invites = select(Invite).where(*_build_open_conditions(round_.competition_id))
    return session.scalars(open_invites.order_by(Invite.created_at.desc(), Invite.id)).all()


def withdraw(session: Session, principal: Principal, slug: str, invite_id: UUID) -> None:
    """Withdraw an invite for new teams. Only organizers may do this."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    open_invite = select(Invite).where(Invite.id == invite_id, *_build_open_conditions(round_.competition_id))
    invite = session.scalar(open_invite.with_for_update())
    if invite is None:
        raise NotFound("the competition has no such open invite", code="no_such_invite")
    uses_left, invite.uses_left = invite.uses_left, 0
    audit.record(
        session,
        principal,
        "invite.withdraw",
        round_.competition_id,
        subject=str(invite.id),
        before={"teams": uses_left},
    )


def create_for_members(session: Session, principal: Principal, slug: str, *, uses: int = 1) -> str:
    """Create an invite for ``uses`` people into the principal's team; requires the password."""
    round_, team = competitions.find_for_member(session, principal, slug, scope="submit", for_update=True)
    principal.require_reauthentication()
    return insert_invite(session, round_.competition_id, team_id=team.id, uses=uses)


def insert_invite(
    session: Session,
    competition_id: UUID,
    *,
    team_id: UUID | None = None,
    uses: int,
    invite_id: UUID | None = None,
) -> str:
    """Insert an invite and return its code in clear. Only the digest of the code is stored."""
    code = tokens.generate_code(12)
    insertion = insert(Invite).values(
        id=invite_id or uuid4(),
        competition_id=competition_id,
        team_id=team_id,
        digest=tokens.hash_token(code),
        uses_left=uses,
        expires_at=func.clock_timestamp() + INVITE_LIFETIME,
    )
    inserted_id = session.scalar(
        insertion.on_conflict_do_nothing(index_elements=[Invite.id]).returning(Invite.id)
    )
    if inserted_id is None:
        raise Conflict(
            "this invite has been made already: it is among the open ones, "
            "and its link cannot be shown again",
            code="invite_made",
        )
    return code


def build_link(service_url: str, code: str) -> str:
    """Return the address of the page where somebody signs up, or joins with an account, by an invite."""
    return f"{service_url}/sign-up?invite={code}"


def _build_open_conditions(competition_id: UUID) -> tuple[ColumnElement[bool], ...]:
    """Build the conditions of a competition's invites with which a team can still be created."""
    return (
        Invite.competition_id == competition_id,
        Invite.team_id.is_(None),
        Invite.uses_left > 0,
        Invite.expires_at > func.clock_timestamp(),
    )


def redeem(session: Session, code: str) -> Invite:
    """Use the invite once. The error is the same whether it is unknown, used up or expired."""
    invite = _require_usable(session, session.scalar(_select_usable(code).with_for_update()))
    invite.uses_left -= 1
    return invite


def find_usable(session: Session, code: str) -> UsableInvite:
    """Return the competition and team of an invite. Errors are those of ``redeem``."""
    invite = _require_usable(session, session.scalar(_select_usable(code)))
    team = session.get_one(Team, invite.team_id) if invite.team_id else None
    return UsableInvite(session.get_one(Competition, invite.competition_id), team)


def select_any(code: str) -> Select[Invite]:
    """Select the invite with a code, whether it is usable or not."""
    return select(Invite).where(Invite.digest == tokens.hash_token(code.strip()))


def _select_usable(code: str) -> Select[Invite]:
    return select_any(code).where(Invite.uses_left > 0, Invite.expires_at > func.clock_timestamp())


def _require_usable(session: Session, invite: Invite | None) -> Invite:
    if invite is None:
        raise WrongCredential(
            "the invite is unknown, used up or expired: ask for a new one", code="invalid_invite"
        )
    if session.get_one(Competition, invite.competition_id).published_at is None:
        raise Conflict("the competition is not published yet: try again later", code="not_published")
    return invite


def lock_for_team(session: Session, team_id: UUID) -> None:
    """Lock the invites of a team. Do so before its team, because who joins locks them in this order."""
    session.scalars(select(Invite).where(Invite.team_id == team_id).with_for_update()).all()


def void_for_team(session: Session, team_id: UUID) -> None:
    """Void all invites of a team."""
    session.execute(update(Invite).where(Invite.team_id == team_id).values(uses_left=0))
