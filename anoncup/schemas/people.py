"""Schemas of teams, invites, announcements and the audit log."""

from typing import Annotated

from pydantic import Field

from anoncup.messages import JsonObject
from anoncup.schemas.accounts import OneTimeCode
from anoncup.schemas.fields import Form, Id, Moment, PersonName, TeamName, example


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
    """name of the person at that time; `anoncup` for actions of the clock"""
    action: Annotated[str, example("phase.extend")]
    """such as `phase.extend`"""
    subject: Annotated[str, example("anonymization")]
    before: Annotated[JsonObject | None, example({"end": "2027-01-24T09:00:00+09:00"})]
    after: Annotated[JsonObject | None, example({"end": "2027-01-25T09:00:00+09:00"})]
