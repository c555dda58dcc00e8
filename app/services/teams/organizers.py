"""Who organizes a competition, and the accounts that administrators make."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotAllowed, NotFound
from anoncup.schemas.roles import Role
from app.db.models import Competition, Member, Organizer, User
from app.services.accounts import accounts, audit
from app.services.accounts.accounts import Principal
from app.services.accounts.memberships import Person
from app.services.contests import competitions


def create_user(session: Session, principal: Principal, *, name: str, password_hash: str, role: Role) -> User:
    """A new account of any role; by an administrator."""
    require_account_maker(principal)
    user = accounts.add_user(session, name=name, password_hash=password_hash, role=role)
    audit.record(
        session, principal, "user.create", competition_id=None, subject=user.name, after={"role": role}
    )
    return user


def require_account_maker(principal: Principal) -> None:
    """An administrator, who gave the password: a stolen token would make an account with another one."""
    principal.require("organize")
    if principal.role != Role.ADMINISTRATOR:
        raise NotAllowed("only administrators create accounts", code="not_administrator")
    principal.require_confirmed()


def organized(session: Session, user_id: UUID) -> Sequence[str]:
    """The slugs of the competitions that a person organizes."""
    return session.scalars(
        select(Competition.slug)
        .join(Organizer, Organizer.competition_id == Competition.id)
        .where(Organizer.user_id == user_id)
        .order_by(Competition.created_at, Competition.id)
    ).all()


def listed(session: Session, principal: Principal, slug: str) -> list[Person]:
    """Who organizes a competition, by name; for its organizers."""
    contest = competitions.for_organizer(session, principal, slug)
    found = session.execute(
        select(User.id, User.name)
        .join(Organizer, Organizer.user_id == User.id)
        .where(Organizer.competition_id == (contest.row.rehearses or contest.id))
        .order_by(func.lower(User.name), User.name)
    )
    return [Person(user_id, name) for user_id, name in found]


def add(session: Session, principal: Principal, slug: str, name: str) -> Person:
    """One more organizer: somebody of that role, and in no team of the competition."""
    contest = competitions.for_organizer(session, principal, slug)
    competitions.require_no_rehearsal(contest.row)
    user = accounts.find_user(session, name)
    if user is None:
        raise NotFound("there is nobody of that name", code="no_such_user")
    accounts.held(session, user.id)
    if user.role == Role.PARTICIPANT:
        raise Conflict(
            "this person has no organizer's account; an administrator makes one", code="not_an_organizer"
        )
    if session.get(Organizer, (contest.id, user.id)):
        raise Conflict("this person organizes the competition already", code="organizes_it")
    if session.get(Member, (contest.id, user.id)):
        raise Conflict("a member of a team does not organize its competition", code="in_a_team")
    principal.require_confirmed()
    session.add(Organizer(competition_id=contest.id, user_id=user.id))
    audit.record(session, principal, "organizer.add", competition_id=contest.id, subject=user.name)
    return Person(user.id, user.name)


def remove(session: Session, principal: Principal, slug: str, user_id: UUID) -> None:
    """One organizer fewer; the last one stays."""
    contest = competitions.for_organizer(session, principal, slug)
    # Held, so that of two who remove each other only one succeeds.
    rows = session.scalars(
        select(Organizer)
        .where(Organizer.competition_id == contest.id)
        .order_by(Organizer.user_id)
        .with_for_update()
    ).all()
    # What was true before the wait for the others may not be any more.
    found = next((one for one in rows if one.user_id == user_id), None)
    if found is None:
        raise NotFound("this competition has no such organizer", code="no_such_organizer")
    if len(rows) == 1:
        raise Conflict("the last organizer cannot be removed", code="last_organizer")
    if principal.role != Role.ADMINISTRATOR and all(one.user_id != principal.user_id for one in rows):
        raise NotAllowed("only this competition's organizers may do that", code="not_organizer")
    principal.require_confirmed()
    session.delete(found)
    name = session.get_one(User, user_id).name
    audit.record(session, principal, "organizer.remove", competition_id=contest.id, subject=name)
