"""How people come into teams, and out of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.schemas.roles import Role
from app.db.models import Competition, Invite, Member, Organizer, Submission, Team, User
from app.services.accounts import accounts, audit, memberships, names, passwords
from app.services.accounts.accounts import Principal
from app.services.accounts.memberships import Person
from app.services.contests import competitions
from app.services.contests.announcements import readable, tidy
from app.services.teams import invites

LONGEST_APPROACH = 4_000


@dataclass(frozen=True, slots=True)
class Entrant:
    """A team as its organizers see it."""

    team: Team
    members: tuple[Person, ...]
    submissions: int


@dataclass(frozen=True, slots=True)
class Joined:
    """A person in a team."""

    user: User
    team: Team
    competition: Competition


def sign_up(
    session: Session,
    *,
    code: str,
    team: str | None,
    name: str,
    password_hash: str,
) -> Joined:
    """A new account in the team that the invite leads into."""
    invite = invites.use(session, code)
    user = accounts.add_user(session, name=name, password_hash=password_hash)
    return come_in(session, invite, user, team)


def join(session: Session, principal: Principal, *, code: str, team: str | None) -> Joined:
    """The one who asks, in the team that the invite leads into."""
    principal.require("submit")
    invite = invites.use(session, code)
    joined = come_in(session, invite, accounts.held(session, principal.user_id), team)
    noted = {"team": joined.team.name}
    audit.record(session, principal, "team.join", competition_id=invite.competition_id, after=noted)
    return joined


def come_in(session: Session, invite: Invite, user: User, team: str | None) -> Joined:
    """Put a person, whose row is held, into the invite's team or a new one."""
    require_neutral(session, invite.competition_id, user)
    # A link that an organizer of another competition gave out must not open this one.
    passwords.end_links(session, user.id)
    entered = team_of_invite(session, invite, team)
    session.add(Member(competition_id=invite.competition_id, user_id=user.id, team_id=entered.id))
    return Joined(user, entered, session.get_one(Competition, invite.competition_id))


def require_neutral(session: Session, competition_id: UUID, user: User) -> None:
    """Refuse who is in a team already, and who organizes: they see every team's results."""
    if session.get(Member, (competition_id, user.id)) is not None:
        raise Conflict("you are in a team of this competition already", code="in_a_team")
    organizes = session.get(Organizer, (competition_id, user.id)) is not None
    if organizes or user.role == Role.ADMINISTRATOR:
        raise Conflict("an organizer of a competition is in no team of it", code="organizes_it")


def team_of_invite(session: Session, invite: Invite, name: str | None) -> Team:
    """The invite's own team, which ``name`` may repeat; else a new one of that name."""
    if invite.team_id is None:
        if name is None:
            raise InvalidInput("this invite creates a team: give the team a name", code="team_needed")
        return memberships.create_team(session, invite.competition_id, name)
    team = session.get_one(Team, invite.team_id)
    if name is not None and names.normal(name) != team.name and names.key(name) != team.name_key:
        raise InvalidInput("this invite is for another team", code="another_team")
    return team


def own_team(session: Session, principal: Principal, slug: str) -> tuple[Team, Sequence[Person]]:
    """The team of the one who asks, and who is in it."""
    principal.require("read")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    return team, memberships.people_by_team(session, contest.id)[team.id]


def tell(session: Session, principal: Principal, slug: str, text: str) -> Team:
    """How the team of the one who asks did it, for others after the close; an empty text takes it back."""
    principal.require("submit")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal, locked=True)
    kept = tidy(text)
    if not readable(kept, most=LONGEST_APPROACH):
        raise InvalidInput(
            "a text of at most {most} characters, without control characters, is needed",
            code="approach_text",
            most=LONGEST_APPROACH,
        )
    team.approach = kept or None
    return team


def remove(session: Session, principal: Principal, slug: str, user_id: UUID) -> None:
    """Leave a team, or take another member out of one's own.

    Whoever is taken out may know codes of the team: all its invites end.
    """
    principal.require("submit")
    contest = competitions.find(session, principal, slug)
    team = memberships.require_team(session, contest.id, principal)
    # Held, so that of two members who leave at the same time the second sees that it is the last.
    rows = session.scalars(
        select(Member).where(Member.team_id == team.id).order_by(Member.user_id).with_for_update()
    ).all()
    found = next((row for row in rows if row.user_id == user_id), None)
    if found is None or all(row.user_id != principal.user_id for row in rows):
        raise NotFound("your team has no such member", code="no_such_member")
    if len(rows) == 1:
        raise Conflict("the last member cannot leave a team", code="last_member")
    if user_id != principal.user_id:
        invites.void(session, team.id)
    session.delete(found)
    audit.record(
        session,
        principal,
        "team.remove",
        competition_id=contest.id,
        subject=session.get_one(User, user_id).name,
        before={"team": team.name},
    )


def entrants(session: Session, principal: Principal, slug: str) -> list[Entrant]:
    """All teams of a competition, oldest first; for its organizers."""
    contest = competitions.for_organizer(session, principal, slug)
    counted = select(func.count()).where(Submission.team_id == Team.id).correlate(Team).scalar_subquery()
    found = session.execute(
        select(Team, counted).where(Team.competition_id == contest.id).order_by(Team.created_at, Team.id)
    )
    people = memberships.people_by_team(session, contest.id)
    return [Entrant(team, tuple(people[team.id]), submissions) for team, submissions in found]
