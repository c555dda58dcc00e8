"""Schemas of rescores: all submissions scored by new rules before these take effect."""

from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import Field

from anoncup.schemas.fields import Form, Id, Moment, TeamName, example, open_enum
from anoncup.schemas.notices import FailureFields

Stage = Literal["scoring", "ready", "applied", "cancelled"]


class RescoreOutcome(FailureFields):
    status: Annotated[str, example("SCORED")]
    rank: Annotated[
        int | None,
        Field(
            description="of the team on the organizers' board by these rules; null: none, or not all scored"
        ),
        example(1),
    ]
    utility: Annotated[float | None, example(0.084)]
    security: Annotated[float | None, Field(description="by the built-in attackers alone"), example(0.18)]
    overall: Annotated[float | None, example(0.132)]
    violations: Annotated[list[str], example([])]


class RescoreChange(Form):
    submission_id: Id
    team: TeamName
    before: RescoreOutcome
    after: RescoreOutcome


class RescoreSummary(Form):
    id: Id
    state: Annotated[str, open_enum(*get_args(Stage))]
    created_at: Moment
    applied_at: datetime | None
    cancelled_at: datetime | None
    finished: Annotated[int, example(12)]
    total: Annotated[int, example(12)]


class Rescore(RescoreSummary):
    rows: Annotated[list[RescoreChange], Field(description="every submission by the old and the new rules")]
