"""Advice on the threshold of the rule against excessive anonymization."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from app.wire.said import Failed


class ReportSummary(Failed):
    id: UUID
    status: Annotated[str, Field(description="QUEUED, SCORING, SCORED (made) or ERROR")]
    created_at: datetime
    finished_at: datetime | None
    question: dict[str, Any]


class Report(ReportSummary):
    report: Annotated[
        dict[str, Any] | None, Field(description="as `anoncup threshold --json` prints it, once it is made")
    ]
