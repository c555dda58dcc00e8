"""User accounts and their names."""

from typing import TypeVar
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.errors import Conflict
from anoncup.schemas.roles import Role
from app.core.db.models import User
from app.core.identity import names
from app.core.identity.password_hashes import build_wrong_password_error, hash_password

T = TypeVar("T")


def create_user(session: Session, *, name: str, password: str, role: Role = Role.PARTICIPANT) -> User:
    return add_user(session, name=name, password_hash=hash_password(password), role=role)


def add_user(session: Session, *, name: str, password_hash: str, role: Role = Role.PARTICIPANT) -> User:
    """Add an account. Hash the password before the transaction, so that its locks are not held meanwhile."""
    name = names.clean_name(name)
    name_key = names.build_key(name)
    if session.scalar(select(User.id).filter_by(name_key=name_key)):
        raise _build_name_taken_error()
    user = User(name=name, name_key=name_key, password_hash=password_hash, role=role)
    session.add(user)
    try:
        session.flush()
    except IntegrityError:  # the name was taken between the query and the insert
        raise _build_name_taken_error() from None
    return user


def _build_name_taken_error() -> Conflict:
    return Conflict("this name is taken: choose another", code="name_taken")


def find_user(session: Session, name: str) -> User | None:
    """Return the user with this name in any spelling."""
    return session.scalar(_filter_by_name(select(User), name))


def _filter_by_name(query: Select[T], name: str) -> Select[T]:
    """Limit the query to the user with this name in any spelling."""
    return query.where(User.name_key == build_search_key(name))


def build_search_key(name: str) -> str:
    """Return the key of a name as typed, for a query.

    NUL and lone surrogates, which Postgres text cannot contain, are replaced. No user has such a name.
    """
    return names.build_key(name).replace("\x00", "\ufffd").encode(errors="replace").decode()


def lock_user(session: Session, user_id: UUID) -> User:
    """Lock the user, so that password and memberships do not change until the transaction ends."""
    return session.get_one(User, user_id, with_for_update={"key_share": True}, populate_existing=True)


def find_password_hash(session: Session, name: str) -> str | None:
    """Return the password hash of the user with this name; None if there is none."""
    return session.scalar(_filter_by_name(select(User.password_hash), name))


def lock_verified_user(session: Session, *, name: str, verified_hash: str) -> User:
    """Return the user whose password matched ``verified_hash``. Raise an error if it has changed since."""
    # Lock against a password change: no token may be issued for the old password afterwards.
    user = session.scalar(_filter_by_name(select(User), name).with_for_update(read=True))
    if user is None or user.password_hash != verified_hash:
        raise build_wrong_password_error()
    return user
