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
    method_description: Annotated[
        str | None,
        Field(description="description of the team's method; public once the competition has closed"),
    ]


class RulingIn(Form):
    reason: Annotated[
        str,
        Field(description="reason for the audit log; the team sees the reason of a disqualification, too"),
    ] = ""


class Entrant(Team):
    """A team as the organizers see it."""

    created_at: Moment
    baseline: Annotated[bool, Field(description="whether the organizers added it for comparison")]
    submissions: Annotated[int, Field(description="number of all submissions, in any state"), example(4)]


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
    code: Annotated[str | None, Field(description="stable; null if people wrote the announcement")]
    values: Annotated[JsonObject | None, Field(description="the values in the sentence, by name")]


class AuditEntry(Form):
    """An action with its actor, its subject and the change."""

    number: Annotated[int, example(17)]
    at: Moment
    actor: Annotated[
        str,
        Field(description="name of the person at that time; `anoncup` for actions of the clock"),
        example("Ada"),
    ]
    action: Annotated[str, Field(description="such as `phase.extend`"), example("phase.extend")]
    subject: Annotated[str, example("anonymization")]
    before: Annotated[JsonObject | None, example({"end": "2027-01-24T09:00:00+09:00"})]
    after: Annotated[JsonObject | None, example({"end": "2027-01-25T09:00:00+09:00"})]
