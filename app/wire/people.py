"""Who takes part, how others join, and what is said and done around them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from app.wire.form import Form


class Person(Form):
    """Somebody, as their team and their organizers know them."""

    user_id: UUID
    name: str


class Team(Form):
    """A team and who is in it."""

    id: UUID
    name: str
    members: list[Person]
    disqualified_at: datetime | None


class TeamJudged(Form):
    id: UUID
    name: str
    disqualified_at: datetime | None


class Entrant(Team):
    """A team as the organizers see it."""

    created_at: datetime
    baseline: Annotated[bool, Field(description="put on the board for comparison, by the organizers")]
    submissions: Annotated[int, Field(description="all of them, whatever became of them")]


class Invite(Form):
    code: Annotated[str, Field(description="Shown this once; only its hash is kept")]
    uses: int


class Announcement(Form):
    """An announcement in the languages it was written in."""

    id: UUID
    at: datetime
    text: dict[str, str]


class AuditEntry(Form):
    """An act: who did what to what, and what it changed."""

    number: int
    at: datetime
    actor: Annotated[str, Field(description="the person's name then; `anoncup`: the service by the clock")]
    action: Annotated[str, Field(description="such as `phase.extend`")]
    subject: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
