"""What readers see of a question and its answer."""

from datetime import datetime
from typing import Annotated

from anoncup.schemas.fields import Form, Id, Moment, TeamName, example


class Clarification(Form):
    """A question of a team to the organizers, and their answer."""

    id: Id
    asked_at: Moment
    question: Annotated[str, example("May a release have fewer rows than the original?")]
    answer: Annotated[str | None, example("Yes, at least half as many. The rules page states the limit.")]
    answered_at: datetime | None
    public: bool
    """whether everybody can read it, without the name of the team"""
    own: bool
    """whether the reader's team asked the question"""
    team: TeamName | None
    """the team that asked; only organizers and this team see it"""
