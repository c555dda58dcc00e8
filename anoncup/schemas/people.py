"""Schemas of teams, invites, announcements, clarifications and the audit log."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from anoncup.schemas.accounts import OneTimeCode
from anoncup.schemas.fields import Form, Id, Moment, PersonName, TeamName, example


class Person(Form):
    """Somebody, as their team and their organizers know them."""

    user_id: Id
    name: PersonName


DisqualificationReason = Annotated[
    str | None,
    Field(description="why it is disqualified, for the team and the organizers; null where none was given"),
    example("It has the rows of another team."),
]


class TeamDisqualification(Form):
    id: Id
    name: TeamName
    disqualified_at: Moment | None
    disqualification_reason: DisqualificationReason


class Team(TeamDisqualification):
    """A team and who is in it."""

    members: list[Person]
    method_description: Annotated[
        str | None,
        Field(description="description of the team's method; public once the competition has closed"),
    ]


class RulingIn(Form):
    reason: Annotated[
        str, Field(description="for the audit log; of a disqualification, for the team, too")
    ] = ""


class Entrant(Team):
    """A team as the organizers see it."""

    created_at: Moment
    baseline: Annotated[bool, Field(description="put on the board for comparison, by the organizers")]
    submissions: Annotated[int, Field(description="all of them, whatever became of them"), example(4)]


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
    code: Annotated[str | None, Field(description="stable; null: written by people")]
    values: Annotated[
        dict[str, Any] | None, Field(description="what the sentence says of this case, by name")
    ]


class Clarification(Form):
    """What a team asked the organizers, and their answer."""

    id: Id
    asked_at: Moment
    question: Annotated[str, example("May a release have fewer rows than the original?")]
    answer: Annotated[str | None, example("Yes: see the rules, Accepted.")]
    answered_at: datetime | None
    public: Annotated[bool, Field(description="whether everybody reads it, not naming the team")]
    own: Annotated[bool, Field(description="whether the reader's team asked")]
    team: Annotated[TeamName | None, Field(description="who asked; for organizers and the team itself")]


class AuditEntry(Form):
    """An act: who did what to what, and what it changed."""

    number: Annotated[int, example(17)]
    at: Moment
    actor: Annotated[
        str, Field(description="the person's name then; `anoncup`: the service by the clock"), example("Ada")
    ]
    action: Annotated[str, Field(description="such as `phase.extend`"), example("phase.extend")]
    subject: Annotated[str, example("anonymization")]
    before: Annotated[dict[str, Any] | None, example({"end": "2027-01-24T09:00:00+09:00"})]
    after: Annotated[dict[str, Any] | None, example({"end": "2027-01-25T09:00:00+09:00"})]
