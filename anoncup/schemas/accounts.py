"""Schemas of accounts, tokens and sessions."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from anoncup.schemas.fields import Form, Id, Moment, PersonName, Role, Slug, TeamName, example

_ShownOnce = Annotated[str, Field(description="shown only once; the service stores only its hash")]
Secret = Annotated[_ShownOnce, example("anoncup_Yk1mV3o5c2lIb0ZQdVhqZ0xOYTZ3RTdSdDRCOQ")]
OneTimeCode = Annotated[_ShownOnce, example("q3c1Jt2nUe0VbW8s")]
_Scopes = Annotated[list[str], example(["read", "submit"])]
_Expiry = Annotated[datetime, example("2027-07-10T05:30:00Z")]


class TokenKind(StrEnum):
    """The kind of a token: the bearer token of a request, or the cookie of a browser."""

    API = "api"
    SESSION = "session"


class TeamMembership(Form):
    """A competition and a person's team in it."""

    competition: Slug
    team_id: Id
    team: TeamName


class SignedUp(TeamMembership):
    """The new account's team and first token."""

    user_id: Id
    token: Secret


class IssuedToken(Form):
    """A new token."""

    token: Secret


class Token(Form):
    """A token or a browser's session, without its secret."""

    id: Id
    kind: TokenKind
    """`session` for a browser's session, which is not a bearer token"""
    name: Annotated[str, example("laptop")]
    scopes: _Scopes
    created_at: Moment
    expires_at: _Expiry
    revoked_at: datetime | None
    current: Annotated[bool, example(True)]
    """whether this token makes the request"""


class Me(Form):
    """A person with the scopes of this token, their teams and competitions."""

    user_id: Id
    name: PersonName
    role: Annotated[str, example("participant")]
    """participant, organizer or administrator"""
    scopes: _Scopes
    teams: list[TeamMembership]
    organizes: Annotated[list[str], example([])]
    """slugs of the competitions that the person organizes"""


class User(Form):
    """An account, without its password."""

    user_id: Id
    name: PersonName
    role: Annotated[Role, example("participant")]


class PasswordLink(Form):
    """A code for `POST /password`. Give it to its owner in a way that nobody else can read."""

    code: OneTimeCode
    expires_at: _Expiry
