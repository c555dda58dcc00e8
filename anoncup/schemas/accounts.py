"""Schemas of accounts, tokens and sessions."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from anoncup.schemas.fields import Form, Id, Moment, PersonName, Slug, TeamName, example
from anoncup.schemas.roles import Role

_ShownOnce = Annotated[str, Field(description="Shown this once; only its hash is kept")]
Secret = Annotated[_ShownOnce, example("anoncup_Yk1mV3o5c2lIb0ZQdVhqZ0xOYTZ3RTdSdDRCOQ")]
OneTimeCode = Annotated[_ShownOnce, example("q3c1Jt2nUe0VbW8s")]
_Scopes = Annotated[list[str], example(["read", "submit"])]
_Expiry = Annotated[datetime, example("2027-07-10T05:30:00Z")]


class TokenKind(StrEnum):
    """At which door a token opens: as the bearer token of a request, or as a browser's cookie."""

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
    """A token or a browser's session; what it is in clear nobody can tell any more."""

    id: Id
    kind: Annotated[TokenKind, Field(description="`session`: a browser's, which is no bearer token")]
    name: Annotated[str, example("laptop")]
    scopes: _Scopes
    created_at: Moment
    expires_at: _Expiry
    revoked_at: datetime | None
    current: Annotated[bool, Field(description="whether it made this request"), example(True)]


class Me(Form):
    """A person, what this token may do, and where they take part."""

    user_id: Id
    name: PersonName
    role: Annotated[str, Field(description="participant, organizer or administrator"), example("participant")]
    scopes: _Scopes
    teams: list[TeamMembership]
    organizes: Annotated[
        list[str], Field(description="slugs of the competitions one is an organizer of"), example([])
    ]


class User(Form):
    """An account, without its password."""

    user_id: Id
    name: PersonName
    role: Annotated[Role, example("participant")]


class PasswordLink(Form):
    """What its owner sends to `POST /password`; hand it over where only they read it."""

    code: OneTimeCode
    expires_at: _Expiry
