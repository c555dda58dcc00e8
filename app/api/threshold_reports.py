"""Threshold reports: ask the advisor about a competition's data, read what it found."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, Field

from anoncup import schemas
from anoncup.excessive import DRAWS
from anoncup.excessive.question import Question
from anoncup.schemas.fields import example
from app.api.documentation.responses import ORGANIZER, refusing
from app.db.models import ThresholdReport
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.services.originals import threshold_reports

router = APIRouter(tags=["threshold reports"])


class QuestionIn(BaseModel):
    """What the advisor is to assume and to try."""

    groups: Annotated[
        list[Annotated[str, Field(max_length=200)]] | None,
        Field(
            max_length=1000,
            description="columns a cheat may keep; []: none, so that everybody is in one group; "
            "default: the cross-tables'",
        ),
        example(["sex", "age"]),
    ] = None
    distance: Annotated[str | None, Field(description="default: the competition's"), example("gower")] = None
    bits: Annotated[int, Field(ge=1, le=1000, description="reject cheats but for a chance of 2^-bits")] = 50
    draws: Annotated[int, Field(ge=0, le=100_000, description="permutations of each type"), example(1000)] = (
        DRAWS
    )
    seconds: Annotated[float, Field(ge=0, le=300, description="time to make more bounds exact")] = 0.0


@router.post(
    "/competitions/{slug}/threshold-reports",
    status_code=status.HTTP_202_ACCEPTED,
    responses=refusing(
        ORGANIZER,
        "409.no_original is_rehearsal no_distances unknown_distance unknown_column too_many_reports",
    ),
)
def ask_for_report(slug: str, principal: SignedIn, body: QuestionIn) -> schemas.ReportSummary:
    """Have a worker advise on the threshold of the rule against excessive anonymization."""
    with transaction() as session:
        made = threshold_reports.ask(session, principal, slug, Question(**body.model_dump()))
        return summary(made)


@router.get("/competitions/{slug}/threshold-reports", responses=refusing(ORGANIZER))
def list_reports(slug: str, principal: SignedIn) -> list[schemas.ReportSummary]:
    """The competition's reports, newest first."""
    with transaction() as session:
        return [summary(each) for each in threshold_reports.listed(session, principal, slug)]


@router.get("/threshold-reports/{report_id}")
def get_report(report_id: UUID, principal: SignedIn) -> schemas.Report:
    """One report: the advice, its bounds and histograms."""
    with transaction() as session:
        found = threshold_reports.visible(session, principal, report_id)
        told = None if found.report is None else schemas.advice(found.report)
        return schemas.Report(**summary(found).model_dump(), report=told)


def summary(found: ThresholdReport) -> schemas.ReportSummary:
    return schemas.ReportSummary(
        id=found.id,
        status=found.state,
        created_at=found.created_at,
        finished_at=found.finished_at,
        **schemas.failed(found.failure),
        question=found.question,
    )
