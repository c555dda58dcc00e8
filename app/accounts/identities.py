"""The account of a user at a sign-in provider, at most one. It is never matched by name or e-mail address."""

from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound
from app.accounts.models import UserIdentity
from app.core import audit
from app.core.db.models import User
from app.core.identity import tokens, users
from app.core.identity.password_hashes import UNUSABLE_HASH
from app.core.identity.principal import Principal


def find_user(session: Session, issuer: str, subject: str) -> User | None:
    """Return the user who is linked to this account, locked against changes of credentials."""
    is_linked = UserIdentity.issuer == issuer, UserIdentity.subject == subject
    # The lock waits for a closing and then reads the user again, but not the link, which it deleted.
    query = select(User).join(UserIdentity).where(*is_linked, User.closed_at.is_(None))
    return session.scalar(query.with_for_update(of=User, read=True))


def find_issuer(session: Session, user_id: UUID) -> str | None:
    """Return the provider that the user is linked to."""
    return session.scalar(select(UserIdentity.issuer).where(UserIdentity.user_id == user_id))


def link(session: Session, user: User, issuer: str, subject: str) -> None:
    """Link the account to a locked or new user.

    Raise Conflict if the account is linked already, or the user is linked to another one.
    """
    session.add(UserIdentity(issuer=issuer, subject=subject, user_id=user.id))
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(
            "this account of the provider is linked already, or you are linked to another one",
            code="identity_taken",
        ) from None
    principal = Principal(user.id, user.name, user.role, frozenset(), user.id)
    audit.record(session, principal, "user.identity_link", None, subject=user, after={"issuer": issuer})


def unlink(session: Session, principal: Principal) -> None:
    """Remove the link to the provider; all other tokens and sessions are revoked."""
    principal.require("submit")
    principal.require_reauthentication()
    user = users.lock_user(session, principal.user_id)
    issuer = find_issuer(session, user.id)
    if issuer is None:
        raise NotFound("you are not linked to a provider", code="no_such_identity")
    if user.password_hash == UNUSABLE_HASH:
        raise Conflict("this is your only way to sign in: set a password first", code="last_credential")
    remove(session, user.id)
    tokens.revoke_all(session, user.id, except_id=principal.token_id)
    audit.record(session, principal, "user.identity_unlink", None, subject=user, before={"issuer": issuer})


def remove(session: Session, user_id: UUID) -> None:
    session.execute(delete(UserIdentity).where(UserIdentity.user_id == user_id))
