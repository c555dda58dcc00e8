"""API tokens and browser sessions."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy.orm import Session, joinedload

from anoncup.errors import InvalidInput, NotFound, NotSignedIn
from anoncup.schemas import TokenKind
from anoncup.schemas.fields import Role
from app.core.db.models import Token, User
from app.core.db.paging import Position, fetch_newest_first
from app.core.identity import names
from app.core.identity.password_hashes import UNUSABLE_HASH
from app.core.identity.principal import Principal
from app.core.identity.users import lock_user

_SCOPES = ("read", "submit", "organize")
TOKEN_LIFETIME = timedelta(days=180)
SESSION_LIFETIME = timedelta(days=14)
SESSION_NAME = "browser"
CONFIRMATION_LIFETIME = timedelta(minutes=5)
"""How long a sign-in with a provider stands in for the password of a person without one."""


@dataclass(frozen=True, slots=True)
class Credential:
    """Digest of the token or session of a request, with its kind.

    The kinds are not interchangeable: a leaked API token cannot be used as a browser session, nor vice versa.
    """

    digest: bytes
    kind: TokenKind


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
            # ``created_at`` is the clock's time during this statement and therefore later than its start.
            # So the token never exceeds its lifetime.
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
    # A password change may have revoked it meanwhile.
    if current_token is None or current_token.revoked_at is not None:
        raise NotSignedIn("the token is unknown, expired or revoked", code="invalid_token")
    for scope in scopes:
        principal.require(scope)
    principal.require_reauthentication()
    return issue_token(session, user, name=name, scopes=scopes, lifetime=lifetime)


def generate_code(size: int) -> str:
    """Return a random code of ``size`` bytes. Without a leading hyphen, it is not taken for an option."""
    while (code := secrets.token_urlsafe(size)).startswith("-"):
        pass
    return code


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a token or code. Random values need no slow hash, which would delay requests."""
    return hashlib.sha256(token.encode()).digest()


def resolve_credential(session: Session, credential: Credential) -> Principal:
    """Return the principal of a credential. Raise NotSignedIn if it is not valid."""
    is_confirmed = Token.confirmed_at > func.clock_timestamp() - CONFIRMATION_LIFETIME
    row = session.execute(
        select(Token, is_confirmed)
        .where(Token.digest == credential.digest, Token.kind == credential.kind, is_valid())
        .options(joinedload(Token.user, innerjoin=True))
    ).one_or_none()
    if row is None:
        raise NotSignedIn("the token is unknown, expired or revoked", code="invalid_token")
    token, user = row[0], row[0].user
    has_password = user.password_hash != UNUSABLE_HASH
    return Principal(
        user.id,
        user.name,
        user.role,
        frozenset(token.scopes),
        token.id,
        is_reauthenticated=bool(row[1]) and not has_password,
        has_password=has_password,
    )


def is_valid() -> ColumnElement[bool]:
    """Return the condition that a token is neither revoked nor expired."""
    return and_(Token.revoked_at.is_(None), Token.expires_at > func.clock_timestamp())


def confirm_session(session: Session, principal: Principal) -> None:
    """Let the principal's session act without a password for some minutes."""
    session.execute(
        update(Token).where(Token.id == principal.token_id).values(confirmed_at=func.clock_timestamp())
    )


def list_tokens(
    session: Session,
    principal: Principal,
    *conditions: ColumnElement[bool],
    cursor: Position | None = None,
    limit: int | None = None,
) -> Sequence[Token]:
    """Return the principal's tokens and sessions, newest first, starting after the cursor."""
    principal.require("read")
    query = select(Token).where(Token.user_id == principal.user_id, *conditions)
    return fetch_newest_first(session, query, Token.created_at, Token.id, cursor=cursor, limit=limit)


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
    own_tokens = Token.user_id == user_id
    _revoke_tokens(session, own_tokens if except_id is None else and_(own_tokens, Token.id != except_id))


def _revoke_tokens(session: Session, condition: ColumnElement[bool]) -> None:
    """Revoke the tokens that match; those already revoked keep their time."""
    session.execute(
        update(Token).where(condition, Token.revoked_at.is_(None)).values(revoked_at=func.clock_timestamp())
    )
