"""Schemas of threshold reports, which advise on the rule against excessive anonymization."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from anoncup.schemas.advice import Advice
from anoncup.schemas.fields import Id, Moment, example
from anoncup.schemas.notices import FailureFields

_STATES_DESCRIPTION = "QUEUED, SCORING, SCORED (made) or ERROR"


class ReportSummary(FailureFields):
    id: Id
    status: Annotated[str, Field(description=_STATES_DESCRIPTION), example("QUEUED")]
    created_at: Moment
    finished_at: Annotated[datetime | None, example("2027-01-11T05:30:04Z")]
    question: Annotated[
        dict[str, Any],
        example({"groups": ["sex", "age"], "distance": "gower", "bits": 50, "draws": 1000, "seconds": 0.0}),
    ]


class Report(ReportSummary):
    status: Annotated[str, Field(description=_STATES_DESCRIPTION), example("SCORED")]
    report: Annotated[
        Advice | None,
        Field(description="as `anoncup threshold --json` prints it, once it is made"),
    ]
