"""New passwords: by the old one, or by a link that an organizer or administrator hands over."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from anoncup.errors import NotAllowed, NotFound, WrongCredential
from anoncup.schemas.roles import Role
from app.db.models import Member, Organizer, PasswordLink, User
from app.db.now import clock
from app.services.accounts import accounts, audit
from app.services.accounts.accounts import Principal

LINK_LIFE = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class Link:
    """A code in clear, which is shown once."""

    code: str
    expires_at: datetime


def change(session: Session, principal: Principal, *, proven: str, new: str) -> None:
    """Set a new password, by its hash; the old one was found to match the hash ``proven``.

    Every other token and session of the person ends: whoever knew the old password may have made one.
    """
    principal.require("submit")
    user = accounts.held(session, principal.user_id)
    if user.password_hash != proven:
        raise wrong_old_password()
    put(session, user, new, kept_token=principal.token_id)
    audit.record(session, principal, "user.password", competition_id=None, subject=user.name)


def own_hash(session: Session, principal: Principal) -> str:
    """What the old password of the one who asks is checked against."""
    principal.require("submit")
    return session.get_one(User, principal.user_id).password_hash


def kept_hash(session: Session, principal: Principal) -> str:
    """What the password is checked against that confirms an act."""
    return session.get_one(User, principal.user_id).password_hash


def wrong_password() -> WrongCredential:
    return WrongCredential("the password is wrong", code="wrong_password")


def wrong_old_password() -> WrongCredential:
    return WrongCredential("the old password is wrong", code="wrong_password")


def issue_link(session: Session, principal: Principal, name: str) -> Link:
    """A link for somebody who forgot the password; earlier ones end."""
    principal.require("organize")
    user = accounts.find_user(session, name)
    if user is not None:
        accounts.held(session, user.id)
    places = memberships(session, user) if user else []
    require_charge(session, principal, user, places)
    if user is None:
        raise NotFound("there is nobody of that name", code="no_such_user")
    principal.require_confirmed()
    end_links(session, user.id)
    code = secrets.token_urlsafe(24)
    link = PasswordLink(
        user_id=user.id,
        digest=accounts.digest(code),
        expires_at=clock(session) + LINK_LIFE,
    )
    session.add(link)
    for place in (*places,) or (None,):
        audit.record(session, principal, "user.password_link", competition_id=place, subject=user.name)
    return Link(code, link.expires_at)


def memberships(session: Session, user: User) -> Sequence[UUID]:
    """The competitions that a person takes part in."""
    return session.scalars(select(Member.competition_id).where(Member.user_id == user.id)).all()


def require_charge(session: Session, principal: Principal, user: User | None, places: Sequence[UUID]) -> None:
    """An administrator answers for anybody, an organizer for who takes part in their competitions only.

    A new password opens all that the person may see: somebody who is in another organizer's competition,
    too, needs an administrator.
    """
    if principal.role == Role.ADMINISTRATOR:
        return
    if principal.role != Role.ORGANIZER:
        raise NotAllowed("only organizers and administrators may do that", code="not_organizer")
    own = set(session.scalars(select(Organizer.competition_id).where(Organizer.user_id == principal.user_id)))
    if user is None or user.role != Role.PARTICIPANT or not own.intersection(places):
        raise NotFound("nobody of that name takes part in your competitions", code="no_such_user")
    if not own.issuperset(places):
        raise NotAllowed(
            "this person is in another organizer's competition, too: ask an administrator",
            code="in_another_competition",
        )


def set_by_link(session: Session, *, code: str, new: str) -> User:
    """Set a password, by its hash, with a link's code; all tokens and sessions of the person end."""
    digest = accounts.digest(code.strip())
    owner = session.scalar(select(PasswordLink.user_id).where(PasswordLink.digest == digest))
    # First the person, then the link: in this order, two with the same code take turns.
    user = accounts.held(session, owner) if owner else None
    link = session.scalar(
        select(PasswordLink).where(
            PasswordLink.digest == digest,
            PasswordLink.used_at.is_(None),
            PasswordLink.expires_at > func.clock_timestamp(),
        )
    )
    if user is None or link is None:
        raise WrongCredential("the code is unknown, used or expired", code="invalid_code")
    put(session, user, new, kept_token=None)
    by_link = Principal(user.id, user.name, user.role, frozenset(), link.id)
    audit.record(session, by_link, "user.password_by_link", competition_id=None, subject=user.name)
    return user


def put(session: Session, user: User, new: str, *, kept_token: UUID | None) -> None:
    """Exchange the password's hash of a person whose row is held; end every other way in."""
    user.password_hash = new
    accounts.revoke_all(session, user.id, but=kept_token)
    end_links(session, user.id)


def end_links(session: Session, user_id: UUID) -> None:
    """Whoever holds a code for this person cannot use it any more."""
    session.execute(
        update(PasswordLink)
        .where(PasswordLink.user_id == user_id, PasswordLink.used_at.is_(None))
        .values(used_at=func.clock_timestamp())
    )
