"""Accounts of people: administrators create them and change roles; everybody can close their own."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, Forbidden
from anoncup.schemas import PasswordLink as IssuedLink
from anoncup.schemas.fields import Role
from app.accounts import email_addresses, identities, memberships, passwords
from app.accounts.models import PasswordLink
from app.core import audit
from app.core.db.models import Competition, Organizer, Token, User
from app.core.db.paging import Position, fetch_newest_first
from app.core.db.transaction import read_clock
from app.core.identity import names, tokens, users
from app.core.identity.password_hashes import UNUSABLE_HASH
from app.core.identity.principal import Principal


def create(session: Session, principal: Principal, *, name: str, role: Role) -> tuple[User, IssuedLink]:
    """Create an account of any role, with a link with which its owner sets the password."""
    _require_administrator(principal)
    principal.require_reauthentication()
    user = users.add_user(session, name=name, password_hash=UNUSABLE_HASH, role=role)
    audit.record(session, principal, "user.create", None, subject=user, after={"role": role})
    return user, passwords.issue_link(session, principal, user.name)


def list_people(
    session: Session, principal: Principal, *, cursor: Position | None, limit: int
) -> Sequence[User]:
    """Return the accounts that are not closed, newest first. Only for administrators."""
    _require_administrator(principal)
    open_accounts = select(User).where(User.closed_at.is_(None))
    return fetch_newest_first(session, open_accounts, User.created_at, User.id, cursor=cursor, limit=limit)


def change_role(session: Session, principal: Principal, user_id: UUID, role: Role) -> User:
    """Change the role of a person; all tokens, sessions and password links of the person end.

    A session has the scopes of the old role, and an organizer who made a link for a participant must not get
    into the account of an organizer.
    """
    _require_administrator(principal)
    user, is_last_administrator = _lock_with_administrators(session, user_id)
    if user.role == role:
        return user
    if is_last_administrator:
        raise _build_last_administrator_error()
    if role == Role.PARTICIPANT and memberships.list_organized(session, user.id):
        raise Conflict("this person organizes a competition: remove them there first", code="organizes_it")
    if role == Role.ADMINISTRATOR and memberships.list_teams(session, user.id):
        raise Conflict("a member of a team cannot be an administrator", code="in_a_team")
    principal.require_reauthentication()
    change = {"before": {"role": user.role}, "after": {"role": role}}
    audit.record(session, principal, "user.role", None, subject=user, **change)
    user.role = role
    tokens.revoke_all(session, user.id, except_id=None)
    passwords.expire_links(session, user.id)
    return user


def close(session: Session, principal: Principal) -> None:
    """Close the principal's account: access ends, name and address are forgotten, teams and results stay."""
    principal.require("submit")
    user, is_last_administrator = _lock_with_administrators(session, principal.user_id)
    if is_last_administrator:
        raise _build_last_administrator_error()
    _leave_organizers(session, principal, user)
    principal.require_reauthentication()
    session.execute(delete(Token).where(Token.user_id == user.id))
    session.execute(delete(PasswordLink).where(PasswordLink.user_id == user.id))
    email_addresses.delete_address(session, user.id)
    identities.remove(session, user.id)
    user.name, user.name_key = names.build_closed_name(user.id), str(user.id)
    user.password_hash, user.role, user.closed_at = UNUSABLE_HASH, Role.PARTICIPANT, read_clock(session)
    audit.record(session, principal, "user.close", None, subject=user)


def _require_administrator(principal: Principal) -> None:
    principal.require("organize")
    if principal.role != Role.ADMINISTRATOR:
        raise Forbidden("only administrators may do that", code="not_administrator")


def _lock_with_administrators(session: Session, user_id: UUID) -> tuple[User, bool]:
    """Lock a person and all administrators; return the person, and whether no other administrator is left.

    With all locked, of two administrators who go at the same time the second sees that it is the last.
    """
    is_concerned = or_(User.id == user_id, User.role == Role.ADMINISTRATOR)
    query = select(User).where(is_concerned, User.closed_at.is_(None)).order_by(User.id)
    locked = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    people = {user.id: user for user in session.scalars(locked)}
    if user_id not in people:
        raise users.build_missing_error()
    user = people.pop(user_id)
    has_others = any(other.role == Role.ADMINISTRATOR for other in people.values())
    return user, user.role == Role.ADMINISTRATOR and not has_others


def _leave_organizers(session: Session, principal: Principal, user: User) -> None:
    """Remove the person from the organizers of all competitions. Raise Conflict for the only one of any."""
    own_competitions = select(Organizer.competition_id).where(Organizer.user_id == user.id)
    organizers = select(Organizer).where(Organizer.competition_id.in_(own_competitions))
    # Lock all in one order, so that of two who go at the same time the second sees that it is the last.
    rows = session.scalars(
        organizers.order_by(Organizer.competition_id, Organizer.user_id).with_for_update()
    ).all()
    kept = {row.competition_id for row in rows if row.user_id != user.id}
    for row in rows:
        if row.competition_id not in kept:
            raise Conflict(
                "you are the only organizer of {name!r}: add another one first",
                code="last_organizer",
                name=session.get_one(Competition, row.competition_id).slug,
            )
        if row.user_id == user.id:
            session.delete(row)
            audit.record(session, principal, "organizer.remove", row.competition_id, subject=user)


def _build_last_administrator_error() -> Conflict:
    return Conflict("this is the last administrator: make somebody else one first", code="last_administrator")
