"""Users, their passwords, tokens and sessions."""

import hashlib
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.db.models import Token, User
from app.errors import Conflict, InvalidInput, NotAllowed, NotSignedIn
from app.roles import Role

SCOPES = ("read", "submit", "organize")
TOKEN_LIFE = timedelta(days=180)
SESSION_LIFE = timedelta(days=14)
LONGEST_NAME = 100
JOINER = "\u200d"
SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 256

hasher = PasswordHasher()
NOBODY = hasher.hash(secrets.token_hex())
"""Checked against for unknown names, so that the answer takes as long as for known ones."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who makes a request, and what their token allows."""

    user_id: UUID
    name: str
    role: Role
    scopes: frozenset[str]
    token_id: UUID

    def require(self, scope: str) -> None:
        if scope not in self.scopes:
            raise NotAllowed(f"this token lacks the scope {scope}", code="scope_missing")


def name_key(name: str) -> str:
    """What makes two names the same: NFKC, then case folding; the invisible joiner tells none apart."""
    return unicodedata.normalize("NFKC", name).casefold().replace(JOINER, "")


def clean_name(name: str) -> str:
    """The name as it is kept: any Unicode without control characters, outer spaces removed."""
    name = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise InvalidInput(f"a name has 1 to {LONGEST_NAME} characters", code="name_length")
    if not name_key(name) or any(deceives(character) for character in name):
        raise InvalidInput("a name has no control characters", code="name_characters")
    return name


def deceives(character: str) -> bool:
    """The zero-width joiner is part of many emoji; other invisible characters only deceive."""
    return unicodedata.category(character) in {"Cc", "Cs", "Co", "Cf"} and character != JOINER


def create_user(session: Session, *, name: str, password: str, role: Role = Role.PARTICIPANT) -> User:
    name = clean_name(name)
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InvalidInput(
            f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters", code="password_length"
        )
    if session.scalar(select(User.id).where(User.name_key == name_key(name))):
        raise Conflict("this name is taken", code="name_taken")
    user = User(name=name, name_key=name_key(name), password_hash=hasher.hash(as_bytes(password)), role=role)
    session.add(user)
    try:
        session.flush()
    except IntegrityError:  # somebody took it between the question and the insert
        raise Conflict("this name is taken", code="name_taken") from None
    return user


def as_bytes(password: str) -> bytes:
    """JSON can hold half a character, which plain UTF-8 cannot."""
    return password.encode("utf-8", "surrogatepass")


def check_password(session: Session, *, name: str, password: str) -> User:
    """The user, or the same refusal whether the name or the password is wrong."""
    # Postgres has no text with a NUL or half a character; no user has such a name either.
    key = name_key(name.strip()).replace("\x00", "\ufffd").encode(errors="replace").decode()
    user = session.scalar(select(User).where(User.name_key == key))
    try:
        hasher.verify(user.password_hash if user else NOBODY, as_bytes(password[: LONGEST_PASSWORD + 1]))
    except (VerificationError, InvalidHashError):
        user = None
    if user is None:
        raise NotSignedIn("name or password is wrong", code="wrong_password")
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
) -> str:
    """A new token in clear: it is shown once, only its digest is kept."""
    scopes = allowed_scopes(user.role) if scopes is None else scopes
    if not scopes or not set(scopes) <= set(allowed_scopes(user.role)):
        raise InvalidInput("scopes are of " + ", ".join(allowed_scopes(user.role)), code="unknown_scope")
    clear = "anoncup_" + secrets.token_urlsafe(32)
    session.add(
        Token(
            user_id=user.id,
            name=clean_name(name),
            digest=digest(clear),
            scopes=[scope for scope in SCOPES if scope in scopes],
            expires_at=datetime.now(UTC) + life,
        )
    )
    return clear


def digest(token: str) -> bytes:
    """A plain SHA-256 is enough for 256 random bits; a slow hash would cost every request."""
    return hashlib.sha256(token.encode()).digest()


def authenticate(session: Session, token: str) -> Principal:
    found = session.scalar(
        select(Token)
        .where(
            Token.digest == digest(token), Token.revoked_at.is_(None), Token.expires_at > datetime.now(UTC)
        )
        .options(joinedload(Token.user, innerjoin=True))
    )
    if found is None:
        raise NotSignedIn("the token is unknown, expired or revoked", code="invalid_token")
    return Principal(found.user.id, found.user.name, found.user.role, frozenset(found.scopes), found.id)


def revoke(session: Session, principal: Principal) -> None:
    """End the token (or session) that made this request."""
    session.get_one(Token, principal.token_id).revoked_at = datetime.now(UTC)
