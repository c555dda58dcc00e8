"""Schemas of accounts, tokens, teams, invites, announcements and the audit log."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from anoncup.messages import JsonObject
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
    created_at: Moment


class PasswordLink(Form):
    """A code for `POST /password`. Give it to its owner in a way that nobody else can read."""

    code: OneTimeCode
    expires_at: _Expiry


class NewUser(User):
    """A new account, with the code with which its owner sets a password."""

    password_link: PasswordLink


class Person(Form):
    """A person, as their team and their organizers see them."""

    user_id: Id
    name: PersonName


DisqualificationReason = Annotated[
    str | None,
    Field(
        description="reason of the disqualification, for the team and the organizers; null if none was given"
    ),
    example("It has the rows of another team."),
]


class TeamDisqualification(Form):
    id: Id
    name: TeamName
    disqualified_at: Moment | None
    disqualification_reason: DisqualificationReason


class Team(TeamDisqualification):
    """A team with its members."""

    members: list[Person]
    method_description: str | None
    """description of the team's method; public once the competition has closed"""


class RulingIn(Form):
    reason: str = ""
    """reason for the audit log; the team sees the reason of a disqualification, too"""


class Entrant(Team):
    """A team as the organizers see it."""

    created_at: Moment
    baseline: bool
    """whether the organizers added it for comparison"""
    submissions: Annotated[int, example(4)]
    """number of all submissions, in any state"""


class Invite(Form):
    code: OneTimeCode
    link: Annotated[str, example("https://cup.example.org/sign-up?invite=Zt4Xw0mC9vQe2LbR")]
    """the address of the page where somebody signs up with the code"""
    uses: Annotated[int, example(20)]


class Announcement(Form):
    """An announcement in the languages it was written in."""

    id: Id
    at: Moment
    text: Annotated[
        dict[str, str], example({"en": "The deadline moves by a day.", "ja": "締切を一日延ばします。"})
    ]
    code: str | None
    """stable; null if people wrote the announcement"""
    values: JsonObject | None
    """the values in the sentence, by name"""


class AuditEntry(Form):
    """An action with its actor, its subject and the change."""

    number: Annotated[int, example(17)]
    at: Moment
    actor: Annotated[str, example("Ada")]
    """name of the person; `anoncup` for actions of the clock"""
    action: Annotated[str, example("phase.extend")]
    """such as `phase.extend`"""
    subject: Annotated[str, example("anonymization")]
    before: Annotated[JsonObject | None, example({"end": "2027-01-24T09:00:00+09:00"})]
    after: Annotated[JsonObject | None, example({"end": "2027-01-25T09:00:00+09:00"})]
