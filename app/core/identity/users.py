"""User accounts and their names."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound
from anoncup.schemas.fields import Role
from app.core.db.models import User
from app.core.identity import names
from app.core.identity.password_hashes import hash_password


def create_user(session: Session, *, name: str, password: str, role: Role = Role.PARTICIPANT) -> User:
    return add_user(session, name=name, password_hash=hash_password(password), role=role)


def add_user(session: Session, *, name: str, password_hash: str, role: Role = Role.PARTICIPANT) -> User:
    """Add an account. Hash the password before the transaction, so that its locks are not held meanwhile."""
    name = names.clean_name(name)
    name_key = names.build_key(name)
    name_taken = Conflict("this name is taken: choose another", code="name_taken")
    if session.scalar(select(User.id).filter_by(name_key=name_key)):
        raise name_taken
    user = User(name=name, name_key=name_key, password_hash=password_hash, role=role)
    session.add(user)
    try:
        session.flush()
    except IntegrityError:  # the name was taken between the query and the insert
        raise name_taken from None
    return user


def find_user(session: Session, name: str, *, for_share: bool = False) -> User | None:
    """Return the user with this name in any spelling. ``for_share`` locks it against changes."""
    query = select(User).where(User.name_key == build_search_key(name))
    return session.scalar(query.with_for_update(read=True) if for_share else query)


def build_search_key(name: str) -> str:
    """Return the key of a name as typed, for a query.

    NUL and lone surrogates, which Postgres text cannot contain, are replaced. No user has such a name.
    """
    return names.build_key(name).replace("\x00", "\ufffd").encode(errors="replace").decode()


def lock_user(session: Session, user_id: UUID) -> User:
    """Lock the user, so that password and memberships do not change until the transaction ends.

    Raise NotFound if the account was closed meanwhile.
    """
    user = session.get_one(User, user_id, with_for_update={"key_share": True}, populate_existing=True)
    if user.closed_at is not None:
        raise build_missing_error()
    return user


def build_missing_error() -> NotFound:
    return NotFound("there is no such account", code="no_such_user")
