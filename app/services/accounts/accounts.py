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
from sqlalchemy import ColumnElement, Select, and_, func, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from anoncup.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotSignedIn
from anoncup.schemas.roles import Role
from app.db.models import Token, TokenKind, User
from app.services.accounts import names

T = TypeVar("T")

SCOPES = ("read", "submit", "organize")
TOKEN_LIFE = timedelta(days=180)
SESSION_LIFE = timedelta(days=14)
SESSION_NAME = "browser"
SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 256
UNCONFIRMED = "password_needed"

hasher = PasswordHasher()
NOBODY = "$argon2id$v=19$m=65536,t=3,p=4$i4TlCL1eG59dM8/ULgLyzA$gaDOZ/bSk/rIQlVPXtIdWx5NYJjfcs02uj0hvmKwhQs"
"""Of a long random text that nobody kept: what is checked against for unknown names, so that the answer takes
as long as for known ones. Written down, for making it would take every start of a process that long."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a request shows of its sender: the digest of a token or session, and which of both it is.

    Neither is taken for the other: what leaks at one door opens nothing at the other.
    """

    digest: bytes
    kind: TokenKind


@dataclass(frozen=True, slots=True)
class Principal:
    """Who makes a request, and what their token allows. ``confirmed``: they gave their password with it."""

    user_id: UUID
    name: str
    role: Role
    scopes: frozenset[str]
    token_id: UUID
    confirmed: bool = False

    def require(self, scope: str) -> None:
        if scope not in self.scopes:
            raise NotAllowed("this token lacks the scope {scope}", code="scope_missing", scope=scope)

    def require_confirmed(self) -> None:
        """For what cannot be undone or opens a way in; asked after the right: it tells strangers nothing."""
        if not self.confirmed:
            raise NotAllowed(
                "confirm this with your password in the header X-Confirm-Password",
                code="password_needed",
            )

    def who_confirmed(self) -> "Principal":
        return replace(self, confirmed=True)


@dataclass(frozen=True, slots=True)
class Opened:
    """Whose a token is, until when."""

    principal: Principal
    expires_at: datetime


def create_user(session: Session, *, name: str, password: str, role: Role = Role.PARTICIPANT) -> User:
    return add_user(session, name=name, password_hash=hashed(password), role=role)


def add_user(session: Session, *, name: str, password_hash: str, role: Role = Role.PARTICIPANT) -> User:
    """A new account. The hash comes from outside of the transaction: others wait for what this one locks."""
    name = names.clean(name)
    alike = names.columns(name)
    if session.scalar(select(User.id).filter_by(name_key=alike["name_key"])):
        raise name_taken()
    user = User(name=name, **alike, password_hash=password_hash, role=role)
    session.add(user)
    try:
        session.flush()
    except IntegrityError:  # somebody took it between the question and the insert
        raise name_taken() from None
    return user


def name_taken() -> Conflict:
    return Conflict("this name, or one that looks like it, is taken: choose another", code="name_taken")


def hashed(password: str) -> str:
    """What is kept of a new password."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InvalidInput(
            "a password must have {least} to {most} characters",
            code="password_length",
            least=SHORTEST_PASSWORD,
            most=LONGEST_PASSWORD,
        )
    return hasher.hash(as_bytes(password))


def as_bytes(password: str) -> bytes:
    """JSON can hold half a character, which plain UTF-8 cannot."""
    return password.encode("utf-8", "surrogatepass")


def matches(kept: str | None, password: str) -> bool:
    """Whether the password is that of the hash; as slow for nobody's as for somebody's."""
    try:
        return hasher.verify(kept or NOBODY, as_bytes(password[: LONGEST_PASSWORD + 1]))
    except (VerificationError, InvalidHashError):
        return False


def find_user(session: Session, name: str) -> User | None:
    """The user of that name in any spelling."""
    return session.scalar(named(select(User), name))


def named(query: Select[T], name: str) -> Select[T]:
    """Limit the query to the user of that name in any spelling."""
    return query.where(User.name_key == searched_key(name))


def confirming_key(principal: Principal) -> str:
    """Where the wrong passwords of somebody who is signed in count: under their token or session.

    Under the account's key a stolen token would keep its owner from signing in. No name has a NUL.
    """
    return f"token\x00{principal.token_id}"


def searched_key(name: str) -> str:
    """The key of a name as somebody typed it, made to fit into a query."""
    return askable(names.key(name))


def askable(text: str) -> str:
    """Postgres has no text with a NUL or half a character; no user has such a name either."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()


def held(session: Session, user_id: UUID) -> User:
    """The user, whose password and memberships nobody else changes until the transaction ends."""
    return session.get_one(User, user_id, with_for_update={"key_share": True}, populate_existing=True)


def kept_hash(session: Session, name: str) -> str | None:
    """What the password of that name is checked against; None if there is nobody."""
    return session.scalar(named(select(User.password_hash), name))


def matching(kept: str | None, password: str) -> str:
    """The hash, or the same refusal whether there is none or the password is another. Needs no session."""
    if not matches(kept, password) or kept is None:
        raise wrong_password()
    return kept


def wrong_password() -> NotSignedIn:
    return NotSignedIn("name or password is wrong", code="wrong_password")


def signing_in(session: Session, *, name: str, proven: str) -> User:
    """The user whose password was found to match ``proven``, unless it has been changed since."""
    # Held against a change of the password: a token by the old one must not appear after it.
    user = session.scalar(named(select(User), name).with_for_update(read=True))
    if user is None or user.password_hash != proven:
        raise wrong_password()
    return user


def allowed_scopes(role: Role) -> tuple[str, ...]:
    return SCOPES if role != Role.PARTICIPANT else ("read", "submit")


def issue_token(
    session: Session,
    user: User,
    *,
    name: str,
    scopes: tuple[str, ...] | None = None,
    life: timedelta = TOKEN_LIFE,
    kind: TokenKind = TokenKind.API,
) -> str:
    """A new token in clear: it is shown once, only its digest is kept."""
    scopes = allowed_scopes(user.role) if scopes is None else scopes
    if not scopes or not set(scopes) <= set(allowed_scopes(user.role)):
        allowed = allowed_scopes(user.role)
        raise InvalidInput("choose at least one of the scopes {names}", code="unknown_scope", names=allowed)
    clear = "anoncup_" + secrets.token_urlsafe(32)
    session.add(
        Token(
            user_id=user.id,
            kind=kind,
            name=names.clean(name),
            digest=digest(clear),
            scopes=[scope for scope in SCOPES if scope in scopes],
            expires_at=func.clock_timestamp() + life,
        )
    )
    return clear


def begin_session(session: Session, user: User) -> str:
    """A browser's new session in clear, with all the rights of the user."""
    return issue_token(session, user, name=SESSION_NAME, life=SESSION_LIFE, kind=TokenKind.SESSION)


def create_token(
    session: Session, principal: Principal, *, name: str, scopes: tuple[str, ...], life: timedelta
) -> str:
    """One more token of one's own in clear, with no more rights than the one that asks has.

    It outlives the session that asks: this needs the password.
    """
    principal.require("submit")
    user = held(session, principal.user_id)
    asking = session.get(Token, principal.token_id, populate_existing=True)
    if asking is None or asking.revoked_at is not None:  # a new password has ended it meanwhile
        raise NotSignedIn("the token is unknown, expired or revoked", code="invalid_token")
    for scope in scopes:
        principal.require(scope)
    principal.require_confirmed()
    return issue_token(session, user, name=name, scopes=scopes, life=life)


def digest(token: str) -> bytes:
    """A plain SHA-256 is enough for 256 random bits; a slow hash would cost every request."""
    return hashlib.sha256(token.encode()).digest()


def authenticate(session: Session, token: str, *, kind: TokenKind = TokenKind.API) -> Principal:
    """Whose token it is. NotSignedIn if there is none of that kind that still opens something."""
    return opened(session, Shown(digest(token), kind)).principal


def opened(session: Session, shown: Shown) -> Opened:
    """The same, of what is known of a token. Only the clock changes it while the rows stay."""
    found = session.scalar(
        select(Token)
        .where(
            Token.digest == shown.digest,
            Token.kind == shown.kind,
            Token.revoked_at.is_(None),
            Token.expires_at > func.clock_timestamp(),
        )
        .options(joinedload(Token.user, innerjoin=True))
    )
    if found is None:
        raise NotSignedIn("the token is unknown, expired or revoked", code="invalid_token")
    user = found.user
    principal = Principal(user.id, user.name, user.role, frozenset(found.scopes), found.id)
    return Opened(principal, found.expires_at)


def listed(
    session: Session, principal: Principal, *, after: tuple[datetime, UUID] | None, limit: int
) -> Sequence[Token]:
    """The tokens and sessions of the one who asks, newest first, those older than ``after``."""
    principal.require("read")
    query = select(Token).where(Token.user_id == principal.user_id)
    if after is not None:
        query = query.where(tuple_(Token.created_at, Token.id) < after)
    return session.scalars(query.order_by(Token.created_at.desc(), Token.id.desc()).limit(limit)).all()


def alive(session: Session, principal: Principal) -> Sequence[Token]:
    """The tokens and sessions of the one who asks that still open something, newest first."""
    principal.require("read")
    mine = select(Token).where(
        Token.user_id == principal.user_id,
        Token.revoked_at.is_(None),
        Token.expires_at > func.clock_timestamp(),
    )
    return session.scalars(mine.order_by(Token.created_at.desc(), Token.id.desc())).all()


def revoke(session: Session, principal: Principal) -> None:
    """End the token (or session) that made this request."""
    end_tokens(session, Token.id == principal.token_id)


def revoke_own(session: Session, principal: Principal, token_id: UUID) -> None:
    """End one's own token; ending it again changes nothing."""
    principal.require("submit")
    token = session.get(Token, token_id)
    if token is None or token.user_id != principal.user_id:
        raise NotFound("you have no such token", code="no_such_token")
    end_tokens(session, Token.id == token_id)


def revoke_all(session: Session, user_id: UUID, *, but: UUID | None) -> None:
    """End every token and session of a person, except that one."""
    others = Token.user_id == user_id
    end_tokens(session, others if but is None else and_(others, Token.id != but))


def end_tokens(session: Session, which: ColumnElement[bool]) -> None:
    """Revoke those; whatever was revoked before keeps its time."""
    session.execute(
        update(Token).where(which, Token.revoked_at.is_(None)).values(revoked_at=func.clock_timestamp())
    )
