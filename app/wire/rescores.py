"""Re-score sets: every submission by other rules, before they are in force."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.wire.form import Form
from app.wire.said import Failed

Stage = Literal["scoring", "ready", "applied", "cancelled"]


class Outcome(Failed):
    status: str
    rank: Annotated[
        int | None,
        Field(
            description="of the team on the organizers' board by these rules; null: none, or not all scored"
        ),
    ]
    utility: float | None
    security: Annotated[float | None, Field(description="by the built-in attackers alone")]
    overall: float | None
    violations: list[str]


class Change(Form):
    submission_id: UUID
    team: str
    before: Outcome
    after: Outcome


class RescoreSummary(Form):
    id: UUID
    state: Stage
    created_at: datetime
    applied_at: datetime | None
    cancelled_at: datetime | None
    finished: int
    total: int


class Rescore(RescoreSummary):
    rows: Annotated[list[Change], Field(description="every submission by the old and the new rules")]
