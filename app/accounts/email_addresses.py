"""E-mail addresses of users. They are for mail only: nobody signs in with one, or is found by one."""

import re
from datetime import timedelta
from uuid import UUID

from sqlalchemy import any_, delete, func, literal, select, update
from sqlalchemy.orm import Session

from anoncup.errors import InvalidInput, WrongCredential
from app.accounts.models import PasswordLink
from app.config import EMAIL_PATTERN
from app.core import audit, outbox
from app.core.db.models import EmailAddress
from app.core.db.transaction import read_clock
from app.core.identity import tokens, users
from app.core.identity.principal import Principal

CONFIRMATION_LIFETIME = timedelta(hours=24)
_MAX_LENGTH = 254


def find(session: Session, user_id: UUID) -> EmailAddress | None:
    return session.scalar(select(EmailAddress).where(EmailAddress.user_id == user_id))


def clean_address(address: str) -> str | None:
    """Return the address without surrounding spaces; None unless it is one in ASCII."""
    address = address.strip()
    is_valid = len(address) <= _MAX_LENGTH and re.fullmatch(EMAIL_PATTERN, address)
    return address if is_valid else None


def store(session: Session, principal: Principal, *, address: str, language: str) -> None:
    """Store an unconfirmed address instead of an earlier one, and ask for the mail that confirms it.

    This requires the password because whoever reads mail to the address can set a new one.
    """
    principal.require("submit")
    valid_address = clean_address(address)
    if valid_address is None:
        raise InvalidInput(
            "this is no e-mail address such as {example}",
            code="invalid_email_address",
            example="name@example.org",
        )
    principal.require_reauthentication()
    user = users.lock_user(session, principal.user_id)
    delete_address(session, user.id)
    row = EmailAddress(user_id=user.id, address=valid_address, language=language)
    session.add(row)
    session.flush()
    outbox.add_confirmation(session, row.id)
    audit.record(session, principal, "user.email_store", None, subject=user)


def confirm(session: Session, code: str) -> None:
    """Confirm the address that the code was sent to; confirming it again changes nothing."""
    is_sent = literal(tokens.hash_token(code.strip())) == any_(EmailAddress.digests)
    is_recent = EmailAddress.created_at > func.clock_timestamp() - CONFIRMATION_LIFETIME
    row = session.scalar(select(EmailAddress).where(is_sent, is_recent).with_for_update())
    if row is None:
        raise WrongCredential("the code is unknown, used or expired", code="invalid_code")
    if row.confirmed_at is None:
        row.confirmed_at = read_clock(session)


def set_subscribed(session: Session, principal: Principal, subscribed: bool) -> None:
    """Start or stop mail about competitions to the principal."""
    principal.require("submit")
    own = EmailAddress.user_id == principal.user_id
    session.execute(update(EmailAddress).where(own).values(subscribed=subscribed))


def unsubscribe(session: Session, address_id: UUID) -> None:
    """Stop mail about competitions to an address. Only its mail contains the id."""
    session.execute(update(EmailAddress).where(EmailAddress.id == address_id).values(subscribed=False))


def remove(session: Session, principal: Principal) -> None:
    principal.require("submit")
    user = users.lock_user(session, principal.user_id)
    if find(session, user.id) is not None:
        audit.record(session, principal, "user.email_remove", None, subject=user)
    delete_address(session, principal.user_id)


def delete_address(session: Session, user_id: UUID) -> None:
    """Delete the address of a user, and expire the password links that were sent to it."""
    links = PasswordLink.user_id == user_id, PasswordLink.mailed, PasswordLink.used_at.is_(None)
    session.execute(update(PasswordLink).where(*links).values(used_at=func.clock_timestamp()))
    session.execute(delete(EmailAddress).where(EmailAddress.user_id == user_id))
