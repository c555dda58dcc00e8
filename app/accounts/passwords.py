"""Passwords: hash and check them, change them, and reset them with a link.

A hash deliberately takes a tenth of a second and 64 MB. Forty simultaneous sign-ins would otherwise occupy
every thread and database connection of the process, so hashes are computed a few at a time and outside of
transactions.
"""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import Forbidden, NotFound, NotSignedIn, WrongCredential
from anoncup.schemas.fields import Role
from app.accounts import email_addresses, identities, memberships
from app.accounts.models import PasswordLink
from app.config import get_settings
from app.core import audit
from app.core.db.models import Member, User
from app.core.db.transaction import read_clock, transaction
from app.core.http import throttle
from app.core.identity import password_hashes, tokens, users
from app.core.identity.principal import Principal

P = ParamSpec("P")
T = TypeVar("T")

MAX_CONCURRENT_HASHES = 2
_LINK_LIFETIME = timedelta(hours=48)

limiter_variable: RunVar[CapacityLimiter] = RunVar("passwords")
"""The limiter of the current event loop."""


def _get_limiter() -> CapacityLimiter:
    try:
        return limiter_variable.get()
    except LookupError:
        limiter_variable.set(CapacityLimiter(get_settings().compute_process_share(MAX_CONCURRENT_HASHES)))
        return limiter_variable.get()


def limit_concurrency(route: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Run a route in a small separate thread pool. A waiting request holds no thread or connection."""

    @wraps(route)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await to_thread.run_sync(partial(route, *args, **kwargs), limiter=_get_limiter())

    return run


@contextmanager
def sign_in(address: str | None, *, name: str, password: str) -> Iterator[tuple[Session, User]]:
    """Open a transaction for the user whose password it is. Raise NotSignedIn if it is nobody's.

    An unknown name gets the same error as a wrong password, and after the same time.
    """
    with throttle.limit_tries(address, account=users.build_search_key(name)):
        with transaction() as session:
            known_user = users.find_user(session, name)
            password_hash = known_user.password_hash if known_user else None
        is_correct = password_hashes.is_correct_password(password_hash, password)
        with transaction() as session:
            # Lock against a password change: no token may be issued for the old password afterwards.
            user = users.find_user(session, name, for_share=True)
            if not is_correct or user is None or user.password_hash != password_hash:
                raise NotSignedIn("name or password is wrong", code="wrong_password")
            yield session, user


def load_hash(principal: Principal) -> str:
    """Return the hash against which the principal's present password is checked."""
    with transaction() as session:
        return session.get_one(User, principal.user_id).password_hash


def change_own_password(principal: Principal, address: str | None, *, old: str, new: str) -> None:
    """Set a new password after checking the old one, or for a person without one, a recent sign-in.

    All other tokens and sessions are revoked, because anyone who knew the old password may have created one.
    """
    wrong_password = WrongCredential("the old password is wrong", code="wrong_password")
    with throttle.limit_tries(address, account=principal.step_up_key):
        principal.require("submit")
        old_hash = load_hash(principal)
        if old_hash == password_hashes.UNUSABLE_HASH:
            principal.require_reauthentication()
        elif not password_hashes.is_correct_password(old_hash, old):
            raise wrong_password
        new_hash = password_hashes.hash_password(new)
        with transaction() as session:
            user = users.lock_user(session, principal.user_id)
            if user.password_hash != old_hash:
                raise wrong_password
            _replace_password(session, user, new_hash, except_token=principal.token_id)
            audit.record(session, principal, "user.password", None, subject=user)


def issue_link(session: Session, principal: Principal, name: str) -> schemas.PasswordLink:
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
        audit.record(session, principal, "user.password_link", competition_id, subject=user)
    return schemas.PasswordLink(code=code, expires_at=link.expires_at)


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
    own_competitions = {row.id for row in memberships.list_organized(session, principal.user_id)}
    if user is None or user.role != Role.PARTICIPANT or not own_competitions.intersection(competition_ids):
        raise NotFound("nobody of that name takes part in your competitions", code="no_such_user")
    if not own_competitions.issuperset(competition_ids):
        raise Forbidden(
            "this person is in another organizer's competition, too: ask an administrator",
            code="in_another_competition",
        )


def reset_with_link(address: str | None, *, code: str, password: str) -> None:
    """Set a new password with a link's code.

    All tokens and sessions of the user and the link to a provider are revoked: a stranger may have made them.
    So is the e-mail address, unless the link was sent to it.
    """
    with throttle.limit_tries(address):
        new_hash = password_hashes.hash_password(password)
        with transaction() as session:
            user, link = _lock_link(session, code)
            _replace_password(session, user, new_hash, except_token=None)
            identities.remove(session, user.id)
            if not link.mailed:
                email_addresses.delete_address(session, user.id)
            link_principal = Principal(user.id, user.name, user.role, frozenset(), link.id)
            audit.record(session, link_principal, "user.password_by_link", None, subject=user)
    throttle.remember_address(address, user.name_key)


def _lock_link(session: Session, code: str) -> tuple[User, PasswordLink]:
    """Return the valid link with this code and its user, locked."""
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
    return user, link


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
