"""Accounts: who one is, and what opens the service."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.roles import Role
from app.wire.form import Form

Once = Annotated[str, Field(description="Shown this once; only its hash is kept")]


class TokenKind(StrEnum):
    """At which door a token opens: as the bearer token of a request, or as a browser's cookie."""

    API = "api"
    SESSION = "session"


class Joined(Form):
    """The team that a person is in now."""

    team_id: UUID
    team: str
    competition: str


class SignedUp(Joined):
    """The new account's team and first token."""

    user_id: UUID
    token: Once


class IssuedToken(Form):
    """A new token."""

    token: Once


class Token(Form):
    """A token or a browser's session; what it is in clear nobody can tell any more."""

    id: UUID
    kind: Annotated[TokenKind, Field(description="`session`: a browser's, which is no bearer token")]
    name: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    current: Annotated[bool, Field(description="whether it made this request")]


class TeamOfMine(Form):
    """A competition and one's team in it."""

    competition: str
    team_id: UUID
    team: str


class Me(Form):
    """A person, what this token may do, and where they take part."""

    user_id: UUID
    name: str
    role: Annotated[str, Field(description="participant, organizer or administrator")]
    scopes: list[str]
    teams: list[TeamOfMine]
    organizes: Annotated[list[str], Field(description="slugs of the competitions one is an organizer of")]


class User(Form):
    """An account, without its password."""

    user_id: UUID
    name: str
    role: Role


class PasswordLink(Form):
    """What its owner sends to `POST /password`; hand it over where only they read it."""

    code: Once
    expires_at: datetime
