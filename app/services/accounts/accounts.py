"""Users, their passwords, tokens and sessions."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import ColumnElement, Select, and_, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from anoncup.errors import Conflict, Forbidden, InvalidInput, NotFound, NotSignedIn
from anoncup.schemas import TokenKind
from anoncup.schemas.roles import Role
from app.db.models import Token, User
from app.db.paging import Position, fetch_newest_first
from app.services.accounts import names

T = TypeVar("T")

_SCOPES = ("read", "submit", "organize")
TOKEN_LIFETIME = timedelta(days=180)
SESSION_LIFETIME = timedelta(days=14)
SESSION_NAME = "browser"
_MIN_PASSWORD_LENGTH = 8
_MAX_PASSWORD_LENGTH = 256
STEP_UP_REQUIRED = "password_needed"

hasher = PasswordHasher()
DUMMY_HASH = (
    "$argon2id$v=19$m=65536,t=3,p=4$i4TlCL1eG59dM8/ULgLyzA$gaDOZ/bSk/rIQlVPXtIdWx5NYJjfcs02uj0hvmKwhQs"
)
"""Hash of a discarded random password. It is verified for unknown names, so that the response takes as long
as for known ones. It is a constant because computing it would slow down every process start."""

UNUSABLE_HASH = "!"
"""Password hash of an account in which nobody can sign in."""


@dataclass(frozen=True, slots=True)
class Credential:
    """Digest of the token or session of a request, with its kind.

    The kinds are not interchangeable: a leaked API token cannot be used as a browser session, nor vice versa.
    """

    digest: bytes
    kind: TokenKind


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated sender of a request, with the scopes of the token.

    ``is_reauthenticated`` means that the request also carried the password.
    """

    user_id: UUID
    name: str
    role: Role
    scopes: frozenset[str]
    token_id: UUID
    is_reauthenticated: bool = False

    def require(self, scope: str) -> None:
        if scope not in self.scopes:
            raise Forbidden("this token lacks the scope {scope}", code="scope_missing", scope=scope)

    def require_reauthentication(self) -> None:
        """Require the password for acts that are irreversible or grant access.

        Call this after the permission checks, so that it reveals nothing to those without permission.
        """
        if not self.is_reauthenticated:
            raise Forbidden(
                "confirm this with your password in the header X-Confirm-Password",
                code="password_needed",
            )

    def mark_reauthenticated(self) -> "Principal":
        return replace(self, is_reauthenticated=True)


@dataclass(frozen=True, slots=True)
class AuthenticatedCredential:
    """The principal of a credential, and when the credential expires."""

    principal: Principal
    expires_at: datetime


def create_user(session: Session, *, name: str, password: str, role: Role = Role.PARTICIPANT) -> User:
    return add_user(session, name=name, password_hash=hash_password(password), role=role)


def add_user(session: Session, *, name: str, password_hash: str, role: Role = Role.PARTICIPANT) -> User:
    """Add an account. Hash the password before the transaction, so that its locks are not held meanwhile."""
    name = names.clean_name(name)
    name_keys = names.build_key_columns(name)
    if session.scalar(select(User.id).filter_by(name_key=name_keys["name_key"])):
        raise _build_name_taken_error()
    user = User(name=name, **name_keys, password_hash=password_hash, role=role)
    session.add(user)
    try:
        session.flush()
    except IntegrityError:  # the name was taken between the query and the insert
        raise _build_name_taken_error() from None
    return user


def _build_name_taken_error() -> Conflict:
    return Conflict("this name, or one that looks like it, is taken: choose another", code="name_taken")


def hash_password(password: str) -> str:
    """Hash a new password. Raise InvalidInput if its length is out of bounds."""
    if not _MIN_PASSWORD_LENGTH <= len(password) <= _MAX_PASSWORD_LENGTH:
        raise InvalidInput(
            "a password must have {least} to {most} characters",
            code="password_length",
            least=_MIN_PASSWORD_LENGTH,
            most=_MAX_PASSWORD_LENGTH,
        )
    return hasher.hash(_encode_password(password))


def _encode_password(password: str) -> bytes:
    """Encode a password; JSON can contain lone surrogates, which strict UTF-8 rejects."""
    return password.encode("utf-8", "surrogatepass")


def is_correct_password(password_hash: str | None, password: str) -> bool:
    """Return whether the password matches the hash. Without a hash this takes as long as with one."""
    try:
        return hasher.verify(
            password_hash or DUMMY_HASH, _encode_password(password[: _MAX_PASSWORD_LENGTH + 1])
        )
    except (VerificationError, InvalidHashError):
        return False


def find_user(session: Session, name: str) -> User | None:
    """Return the user with this name in any spelling."""
    return session.scalar(_filter_by_name(select(User), name))


def _filter_by_name(query: Select[T], name: str) -> Select[T]:
    """Limit the query to the user with this name in any spelling."""
    return query.where(User.name_key == build_search_key(name))


def build_step_up_key(principal: Principal) -> str:
    """Return the throttle key for wrong passwords of a signed-in user: that of the token or session.

    With the key of the account, a stolen token could lock out its owner. Names contain no NUL, so the key
    cannot be that of a name.
    """
    return f"token\x00{principal.token_id}"


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


def verify_password(password_hash: str | None, password: str) -> str:
    """Return the hash if the password matches. Raise the same error for an unknown name and a wrong password.

    No session is needed, so that no transaction is open during the slow comparison.
    """
    if not is_correct_password(password_hash, password) or password_hash is None:
        raise _build_wrong_password_error()
    return password_hash


def _build_wrong_password_error() -> NotSignedIn:
    return NotSignedIn("name or password is wrong", code="wrong_password")


def lock_verified_user(session: Session, *, name: str, verified_hash: str) -> User:
    """Return the user whose password matched ``verified_hash``. Raise an error if it has changed since."""
    # Lock against a password change: no token may be issued for the old password afterwards.
    user = session.scalar(_filter_by_name(select(User), name).with_for_update(read=True))
    if user is None or user.password_hash != verified_hash:
        raise _build_wrong_password_error()
    return user


def list_allowed_scopes(role: Role) -> tuple[str, ...]:
    return _SCOPES if role != Role.PARTICIPANT else ("read", "submit")


def issue_token(
    session: Session,
    user: User,
    *,
    name: str,
    scopes: tuple[str, ...] | None = None,
    lifetime: timedelta = TOKEN_LIFETIME,
    kind: TokenKind = TokenKind.API,
) -> str:
    """Issue a token and return it in clear. Only its digest is stored."""
    scopes = list_allowed_scopes(user.role) if scopes is None else scopes
    if not scopes or not set(scopes) <= set(list_allowed_scopes(user.role)):
        allowed = list_allowed_scopes(user.role)
        raise InvalidInput("choose at least one of the scopes {names}", code="unknown_scope", names=allowed)
    token = "anoncup_" + secrets.token_urlsafe(32)
    session.add(
        Token(
            user_id=user.id,
            kind=kind,
            name=names.clean_name(name),
            digest=hash_token(token),
            scopes=[scope for scope in _SCOPES if scope in scopes],
            # Not later than ``created_at`` plus the lifetime: the statement began before its clock is read.
            expires_at=func.statement_timestamp() + lifetime,
        )
    )
    return token


def begin_session(session: Session, user: User) -> str:
    """Begin a browser session with all scopes of the user and return its token in clear."""
    return issue_token(session, user, name=SESSION_NAME, lifetime=SESSION_LIFETIME, kind=TokenKind.SESSION)


def create_token(
    session: Session, principal: Principal, *, name: str, scopes: tuple[str, ...], lifetime: timedelta
) -> str:
    """Issue a token to the principal, with at most the scopes of the present one, and return it in clear.

    This requires the password because the token outlives the present session.
    """
    principal.require("submit")
    user = lock_user(session, principal.user_id)
    current_token = session.get(Token, principal.token_id, populate_existing=True)
    if (
        current_token is None or current_token.revoked_at is not None
    ):  # a password change has revoked it meanwhile
        raise NotSignedIn("the token is unknown, expired or revoked", code="invalid_token")
    for scope in scopes:
        principal.require(scope)
    principal.require_reauthentication()
    return issue_token(session, user, name=name, scopes=scopes, lifetime=lifetime)


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a token or code. Random values need no slow hash, which would delay requests."""
    return hashlib.sha256(token.encode()).digest()


def authenticate(session: Session, token: str, *, kind: TokenKind = TokenKind.API) -> Principal:
    """Return the principal of a token. Raise NotSignedIn unless it is a valid token of that kind."""
    return resolve_credential(session, Credential(hash_token(token), kind)).principal


def resolve_credential(session: Session, credential: Credential) -> AuthenticatedCredential:
    """Return the principal of a credential and its expiry. Raise NotSignedIn if it is not valid.

    Callers may cache the result until the expiry while the rows stay the same.
    """
    token = session.scalar(
        select(Token)
        .where(
            Token.digest == credential.digest,
            Token.kind == credential.kind,
            Token.revoked_at.is_(None),
            Token.expires_at > func.clock_timestamp(),
        )
        .options(joinedload(Token.user, innerjoin=True))
    )
    if token is None:
        raise NotSignedIn("the token is unknown, expired or revoked", code="invalid_token")
    user = token.user
    principal = Principal(user.id, user.name, user.role, frozenset(token.scopes), token.id)
    return AuthenticatedCredential(principal, token.expires_at)


def list_tokens(
    session: Session, principal: Principal, *, cursor: Position | None, limit: int
) -> Sequence[Token]:
    """Return the principal's tokens and sessions, newest first, starting after the cursor."""
    principal.require("read")
    query = select(Token).where(Token.user_id == principal.user_id)
    return fetch_newest_first(session, query, Token.created_at, Token.id, cursor=cursor, limit=limit)


def list_valid_tokens(session: Session, principal: Principal) -> Sequence[Token]:
    """Return the principal's valid tokens and sessions, newest first."""
    principal.require("read")
    own_tokens = select(Token).where(
        Token.user_id == principal.user_id,
        Token.revoked_at.is_(None),
        Token.expires_at > func.clock_timestamp(),
    )
    return session.scalars(own_tokens.order_by(Token.created_at.desc(), Token.id.desc())).all()


def revoke_current(session: Session, principal: Principal) -> None:
    """Revoke the token or session of this request."""
    _revoke_tokens(session, Token.id == principal.token_id)


def revoke_own(session: Session, principal: Principal, token_id: UUID) -> None:
    """Revoke a token of the principal; revoking it again changes nothing."""
    principal.require("submit")
    token = session.get(Token, token_id)
    if token is None or token.user_id != principal.user_id:
        raise NotFound("you have no such token", code="no_such_token")
    _revoke_tokens(session, Token.id == token_id)


def revoke_all(session: Session, user_id: UUID, *, except_id: UUID | None) -> None:
    """Revoke all tokens and sessions of a user except ``except_id``."""
    tokens = Token.user_id == user_id
    _revoke_tokens(session, tokens if except_id is None else and_(tokens, Token.id != except_id))


def _revoke_tokens(session: Session, condition: ColumnElement[bool]) -> None:
    """Revoke the tokens that match; those already revoked keep their time."""
    session.execute(
        update(Token).where(condition, Token.revoked_at.is_(None)).values(revoked_at=func.clock_timestamp())
    )
