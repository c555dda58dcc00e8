"""Codes with which people found a team or join one."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Select, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable, Conflict, NotFound, WrongCredential
from app.db.models import AuditEntry, Competition, Invite, Team
from app.services.accounts import accounts, audit, memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, phases

LIFE = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Invitation:
    """Where an invite leads; ``team``: the one that is joined, None: a new one is founded."""

    competition: Competition
    team: Team | None


@dataclass(frozen=True, slots=True)
class Open:
    """An invite with which teams may still be founded; ``by``: who made it, where that was noted."""

    invite: Invite
    by: str | None


def for_teams(
    session: Session, principal: Principal, slug: str, *, uses: int = 1, invite_id: UUID | None = None
) -> str:
    """A code with which ``uses`` teams are founded; by an organizer.

    After the anonymization phase, when a new team can only guess, it needs the password.
    ``invite_id``: the identifier it gets. Asked a second time under the same one, no other invite is made.
    """
    row = competitions.for_organizer(session, principal, slug).row
    competitions.require_no_rehearsal(row)
    if only_guess(session, row):
        principal.require_confirmed()
    invite_id = invite_id or uuid4()
    code = create(session, row.id, uses=uses, invite_id=invite_id)
    audit.record(
        session,
        principal,
        "invite.create",
        competition_id=row.id,
        subject=str(invite_id),
        after={"teams": uses},
    )
    return code


def only_guess(session: Session, competition: Competition) -> bool:
    """Whether teams that are founded from now on bring nothing but guesses; so too where nobody knows."""
    try:
        return phases.standing(session, competition).state not in {"draft", phases.ANONYMIZATION}
    except CompetitionUnavailable:
        return True


def open_for_teams(session: Session, principal: Principal, slug: str) -> list[Open]:
    """The invites with which teams may still be founded, newest first; for the organizers."""
    contest = competitions.for_organizer(session, principal, slug)
    found = session.scalars(
        select(Invite).where(*founding(contest.id)).order_by(Invite.created_at.desc(), Invite.id)
    ).all()
    noted = select(AuditEntry.subject, AuditEntry.actor).where(
        AuditEntry.competition_id == contest.id,
        AuditEntry.action == "invite.create",
        AuditEntry.subject.in_([str(one.id) for one in found]),
    )
    makers: dict[str, str] = dict(iter(session.execute(noted)))
    return [Open(one, makers.get(str(one.id))) for one in found]


def withdraw(session: Session, principal: Principal, slug: str, invite_id: UUID) -> None:
    """No more teams are founded with this invite; by an organizer."""
    contest = competitions.for_organizer(session, principal, slug)
    mine = select(Invite).where(Invite.id == invite_id, *founding(contest.id))
    found = session.scalar(mine.with_for_update())
    if found is None:
        raise NotFound("the competition has no such open invite", code="no_such_invite")
    left, found.uses_left = found.uses_left, 0
    audit.record(
        session,
        principal,
        "invite.withdraw",
        competition_id=contest.id,
        subject=str(found.id),
        before={"teams": left},
    )


def for_members(session: Session, principal: Principal, slug: str, *, uses: int = 1) -> str:
    """A code with which ``uses`` people join the team of the one who asks. It needs the password."""
    principal.require("submit")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    principal.require_confirmed()
    return create(session, contest.id, team_id=team.id, uses=uses)


def create(
    session: Session,
    competition_id: UUID,
    *,
    team_id: UUID | None = None,
    uses: int,
    invite_id: UUID | None = None,
) -> str:
    """A new code in clear: it is shown once, only its digest is kept."""
    code = secrets.token_urlsafe(12)
    made = insert(Invite).values(
        id=invite_id or uuid4(),
        competition_id=competition_id,
        team_id=team_id,
        digest=accounts.digest(code),
        uses_left=uses,
        expires_at=func.clock_timestamp() + LIFE,
    )
    added = session.scalar(made.on_conflict_do_nothing(index_elements=[Invite.id]).returning(Invite.id))
    if added is None:
        raise Conflict(
            "this invite has been made already: it is among the open ones, "
            "and its link cannot be shown again",
            code="invite_made",
        )
    return code


def founding(competition_id: UUID) -> tuple[ColumnElement[bool], ...]:
    """Invites of a competition with which a team may still be founded."""
    return (
        Invite.competition_id == competition_id,
        Invite.team_id.is_(None),
        Invite.uses_left > 0,
        Invite.expires_at > func.clock_timestamp(),
    )


def teams_invited(session: Session, competition_id: UUID) -> bool:
    """Whether there is a team, or a code with which one may still be founded."""
    open_code = exists().where(*founding(competition_id))
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
        raise WrongCredential(
            "the invite is unknown, used up or expired: ask for a new one", code="invalid_invite"
        )
    return found


def void(session: Session, team_id: UUID) -> None:
    """End all invites of a team."""
    session.execute(update(Invite).where(Invite.team_id == team_id).values(uses_left=0))
