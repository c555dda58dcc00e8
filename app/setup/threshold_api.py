"""Routes of threshold reports: request one, list and read them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, status
from pydantic import BaseModel, Field

from anoncup import schemas
from anoncup.excessive import SIMULATED_PERMUTATIONS
from anoncup.excessive.question import AdviceQuestion
from anoncup.schemas.fields import example
from app.core.db.models import ThresholdReport
from app.core.db.transaction import transaction
from app.core.identity.authentication import CurrentPrincipal
from app.originals import threshold_reports

router = APIRouter(tags=["threshold reports"])


class ThresholdReportIn(BaseModel):
    """Assumptions and options of the threshold advisor."""

    groups: Annotated[
        list[Annotated[str, Field(max_length=200)]] | None,
        Field(
            max_length=1000,
            description="columns that a cheat keeps unchanged; with [] all individuals are in one"
            " group; by default the columns of the cross-tables",
        ),
        example(["sex", "age"]),
    ] = None
    distance: Annotated[
        str | None, Field(description="by default the distance of the competition"), example("gower")
    ] = None
    bits: Annotated[
        int, Field(ge=1, le=1000, description="a cheat passes with a probability of at most 2^-bits")
    ] = 50
    draws: Annotated[
        int,
        Field(ge=0, le=100_000, description="number of simulated permutations of each type"),
        example(1000),
    ] = SIMULATED_PERMUTATIONS


@router.post("/competitions/{slug}/threshold-reports", status_code=status.HTTP_202_ACCEPTED)
def ask_for_report(slug: str, principal: CurrentPrincipal, body: ThresholdReportIn) -> schemas.ReportSummary:
    """Request a report on the threshold of the rule against excessive anonymization. A worker writes it."""
    with transaction() as session:
        report = threshold_reports.request_report(
            session, principal, slug, AdviceQuestion(**body.model_dump())
        )
        return _summarize(report)


@router.get("/competitions/{slug}/threshold-reports")
def list_reports(slug: str, principal: CurrentPrincipal) -> list[schemas.ReportSummary]:
    """List the competition's threshold reports, newest first."""
    with transaction() as session:
        return [_summarize(report) for report in threshold_reports.list_reports(session, principal, slug)]


@router.get("/threshold-reports/{report_id}")
def get_report(report_id: UUID, principal: CurrentPrincipal) -> schemas.Report:
    """Return a threshold report: the advice, its bounds and histograms."""
    with transaction() as session:
        row = threshold_reports.find_visible(session, principal, report_id)
        advice = None if row.report is None else schemas.parse_advice(row.report)
        return schemas.Report(**_summarize(row).model_dump(), report=advice)


def _summarize(report: ThresholdReport) -> schemas.ReportSummary:
    return schemas.ReportSummary.from_row(
        report, status=report.state, **schemas.build_failure_fields(report.failure)
    )
