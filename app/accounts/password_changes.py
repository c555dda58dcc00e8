"""Password changes with the old password, or with a link from an organizer, an administrator or by mail."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from anoncup.errors import Forbidden, NotFound, WrongCredential
from anoncup.schemas.roles import Role
from app.accounts import email_addresses, identities, memberships
from app.accounts.models import PasswordLink
from app.core import audit
from app.core.db.models import Member, User
from app.core.db.now import read_clock
from app.core.identity import tokens, users
from app.core.identity.principal import Principal

_LINK_LIFETIME = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class IssuedPasswordLink:
    """The code of a password link in clear, which is shown once."""

    code: str
    expires_at: datetime


def change(session: Session, principal: Principal, *, verified_hash: str, new_hash: str) -> None:
    """Set a new password hash. The old password must have matched ``verified_hash``.

    All other tokens and sessions are revoked, because anyone who knew the old password may have created one.
    """
    principal.require("submit")
    user = users.lock_user(session, principal.user_id)
    if user.password_hash != verified_hash:
        raise build_wrong_old_password_error()
    _replace_password(session, user, new_hash, except_token=principal.token_id)
    audit.record(session, principal, "user.password", None, subject=user.name)


def load_hash(session: Session, principal: Principal) -> str:
    """Return the hash against which the principal's present password is checked."""
    return session.get_one(User, principal.user_id).password_hash


def build_wrong_old_password_error() -> WrongCredential:
    return WrongCredential("the old password is wrong", code="wrong_password")


def issue_link(session: Session, principal: Principal, name: str) -> IssuedPasswordLink:
    """Issue a link that sets a new password; earlier links of the user expire."""
    principal.require("organize")
    user = users.find_user(session, name)
    competition_ids: Sequence[UUID] = ()
    if user is not None:
        users.lock_user(session, user.id)
        participations = select(Member.competition_id).where(Member.user_id == user.id)
        competition_ids = session.scalars(participations).all()
    _require_authority(session, principal, user, competition_ids)
    if user is None:
        raise NotFound("there is nobody of that name", code="no_such_user")
    principal.require_reauthentication()
    expire_links(session, user.id)
    code = tokens.generate_code(24)
    link = PasswordLink(
        user_id=user.id,
        digest=tokens.hash_token(code),
        expires_at=read_clock(session) + _LINK_LIFETIME,
    )
    session.add(link)
    for competition_id in (*competition_ids,) or (None,):
        audit.record(session, principal, "user.password_link", competition_id, subject=user.name)
    return IssuedPasswordLink(code, link.expires_at)


def _require_authority(
    session: Session, principal: Principal, user: User | None, competition_ids: Sequence[UUID]
) -> None:
    """Require an administrator, or an organizer of all competitions in which the user participates.

    A new password gives access to everything that the user may see. A participant in another organizer's
    competition therefore needs an administrator.
    """
    if principal.role == Role.ADMINISTRATOR:
        return
    if principal.role != Role.ORGANIZER:
        raise Forbidden("only organizers and administrators may do that", code="not_organizer")
    own_competitions = memberships.list_organized_ids(session, principal)
    if user is None or user.role != Role.PARTICIPANT or not own_competitions.intersection(competition_ids):
        raise NotFound("nobody of that name takes part in your competitions", code="no_such_user")
    if not own_competitions.issuperset(competition_ids):
        raise Forbidden(
            "this person is in another organizer's competition, too: ask an administrator",
            code="in_another_competition",
        )


def reset_with_link(session: Session, *, code: str, new_hash: str) -> User:
    """Set a new password hash with a link's code.

    All tokens and sessions of the user and the link to a provider are revoked: a stranger may have made them.
    So is the e-mail address, unless the link was sent to it.
    """
    digest = tokens.hash_token(code.strip())
    user_id = session.scalar(select(PasswordLink.user_id).where(PasswordLink.digest == digest))
    # Lock the user before reading the link, so that two requests with the same code are serialized.
    user = users.lock_user(session, user_id) if user_id else None
    link = session.scalar(
        select(PasswordLink).where(
            PasswordLink.digest == digest,
            PasswordLink.used_at.is_(None),
            PasswordLink.expires_at > func.clock_timestamp(),
        )
    )
    if user is None or link is None:
        raise WrongCredential("the code is unknown, used or expired", code="invalid_code")
    _replace_password(session, user, new_hash, except_token=None)
    identities.remove(session, user.id)
    if not link.mailed:
        email_addresses.delete_address(session, user.id)
    link_principal = Principal(user.id, user.name, user.role, frozenset(), link.id)
    audit.record(session, link_principal, "user.password_by_link", None, subject=user.name)
    return user


def _replace_password(session: Session, user: User, new_hash: str, *, except_token: UUID | None) -> None:
    """Replace the password hash of a locked user; revoke other tokens and expire all links."""
    user.password_hash = new_hash
    tokens.revoke_all(session, user.id, except_id=except_token)
    expire_links(session, user.id)


def expire_links(session: Session, user_id: UUID) -> None:
    """Expire all unused password links of a user."""
    session.execute(
        update(PasswordLink)
        .where(PasswordLink.user_id == user_id, PasswordLink.used_at.is_(None))
        .values(used_at=func.clock_timestamp())
    )
