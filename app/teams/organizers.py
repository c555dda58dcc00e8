"""Organizers of a competition."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, Forbidden, NotFound
from anoncup.schemas import Person
from anoncup.schemas.fields import Role
from app.competitions import competitions
from app.core import audit
from app.core.db.models import Member, Organizer, User
from app.core.identity import users
from app.core.identity.principal import Principal


def list_organizers(session: Session, principal: Principal, slug: str) -> list[Person]:
    """Return the organizers of a competition, sorted by name. Only for organizers."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    user_rows = session.execute(
        select(User.id, User.name)
        .join(Organizer, Organizer.user_id == User.id)
        .where(Organizer.competition_id == round_.competition_id)
        .order_by(func.lower(User.name), User.name)
    )
    return [Person(user_id=user_id, name=name) for user_id, name in user_rows]


def add(session: Session, principal: Principal, slug: str, name: str) -> Person:
    """Add an organizer. The user must have that role and be in no team of the competition."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    user = users.find_user(session, name)
    if user is None:
        raise NotFound("there is nobody of that name", code="no_such_user")
    users.lock_user(session, user.id)
    if user.role == Role.PARTICIPANT:
        raise Conflict(
            "this person has no organizer's account; an administrator makes one", code="not_an_organizer"
        )
    if session.get(Organizer, (round_.competition_id, user.id)):
        raise Conflict("this person organizes the competition already", code="organizes_it")
    if session.get(Member, (round_.competition_id, user.id)):
        raise Conflict("a member of a team does not organize its competition", code="in_a_team")
    principal.require_reauthentication()
    session.add(Organizer(competition_id=round_.competition_id, user_id=user.id))
    audit.record(session, principal, "organizer.add", round_.competition_id, subject=user)
    return Person(user_id=user.id, name=user.name)


def remove(session: Session, principal: Principal, slug: str, user_id: UUID) -> None:
    """Remove an organizer. The last one cannot be removed."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    # Lock all organizers, so that of two who remove each other only one succeeds.
    organizers = session.scalars(
        select(Organizer)
        .where(Organizer.competition_id == round_.competition_id)
        .order_by(Organizer.user_id)
        .with_for_update()
    ).all()
    # Check only now: the list may have changed while this waited for the lock.
    organizer = next((candidate for candidate in organizers if candidate.user_id == user_id), None)
    if organizer is None:
        raise NotFound("this competition has no such organizer", code="no_such_organizer")
    if len(organizers) == 1:
        raise Conflict("the last organizer cannot be removed", code="last_organizer")
    if principal.role != Role.ADMINISTRATOR and all(
        candidate.user_id != principal.user_id for candidate in organizers
    ):
        raise Forbidden("only this competition's organizers may do that", code="not_organizer")
    principal.require_reauthentication()
    session.delete(organizer)
    user = session.get_one(User, user_id)
    audit.record(session, principal, "organizer.remove", round_.competition_id, subject=user)
