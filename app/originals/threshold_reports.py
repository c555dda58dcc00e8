"""Threshold reports: advice on the threshold for excessive anonymization, computed by a worker and stored."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.errors import Conflict, NotFound
from anoncup.excessive.question import AdviceQuestion, resolve_question
from app.competitions import competitions
from app.core import audit
from app.core.db.models import State, ThresholdReport
from app.core.identity.principal import Principal
from app.jobs import leases, queue
from app.jobs.leases import Lease


@dataclass(frozen=True, slots=True)
class ReportClaim:
    """Everything a worker needs to make a report."""

    lease: Lease[ThresholdReport]
    competition_file: str
    original: dict[str, str]
    question: dict[str, Any]


def request_report(
    session: Session, principal: Principal, slug: str, question: AdviceQuestion
) -> ThresholdReport:
    """Queue a report on the competition's present data."""
    round_ = competitions.lock_for_organizer(session, principal, slug)
    if round_.original_rows is None:
        raise Conflict("the competition has no original data yet", code="no_original")
    question_fields = asdict(resolve_question(question, round_.rules))
    report = ThresholdReport(
        round_id=round_.id,
        user_id=principal.user_id,
        file=round_.file,
        original=round_.original,
        question=question_fields,
    )
    session.add(report)
    session.flush()
    queue.enqueue_after_commit(session, queue.ADVISE)
    audit.record(session, principal, "threshold.ask", round_.competition_id, subject=str(report.id))
    return report


def list_reports(session: Session, principal: Principal, slug: str) -> Sequence[ThresholdReport]:
    """Return the reports of a competition, newest first, for its organizers."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    query = select(ThresholdReport).where(ThresholdReport.round_id == round_.id)
    return session.scalars(query.order_by(ThresholdReport.created_at.desc())).all()


def find_visible(session: Session, principal: Principal, report_id: UUID) -> ThresholdReport:
    report = session.get(ThresholdReport, report_id)
    if report is None or not competitions.is_round_organizer(session, report.round_id, principal):
        raise NotFound("there is no such report", code="no_such_report")
    principal.require("organize")
    return report


def claim_next(session: Session) -> ReportClaim | None:
    """Claim the next report in fair order; None if there is none.

    Reports of a competition are made one at a time, so the others are not claimable meanwhile.
    """
    report = leases.claim_next(session, ThresholdReport)
    if report is None:
        return None
    return ReportClaim(Lease.create(report), report.file, report.original, report.question)


def record(session: Session, claim: ReportClaim, content: dict[str, Any]) -> None:
    """Store a report, unless another worker has claimed it meanwhile."""
    report = leases.lock_job(session, claim.lease)
    if report is None:
        return
    leases.finish(session, report, State.SCORED)
    report.report, report.failure = content, None
    # Send a message only now: while this report ran, no worker could have claimed another of the competition.
    queue.enqueue_after_commit(session, queue.ADVISE)
