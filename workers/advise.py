"""Celery task that makes threshold reports in the sandbox."""

from threading import Lock
from typing import Any

from anoncup.errors import Unavailable
from anoncup.runner.jobs import AdviceJob
from app.config import get_settings
from app.core.db.models import ThresholdReport
from app.core.db.transaction import transaction
from app.jobs.queue import ADVISE, celery
from app.originals import threshold_reports
from app.originals.threshold_reports import ReportClaim
from workers import jobs, lease_runner
from workers.lease_runner import Lease
from workers.readiness import REPORT_READINESS

_report_lock = Lock()
"""Held while this process makes a report, so that its other threads are left for scores."""


@celery.task(name=ADVISE, throws=(Unavailable,))
@lease_runner.leave_to_sweep()
def advise(*_: str) -> None:
    """Make the next threshold report, one at a time. Running the task twice or killing it does no harm."""
    if not _report_lock.acquire(blocking=False):
        return  # a message for the next report is sent when this one is recorded, or by the sweep
    try:
        report = _make_next()
    finally:
        _report_lock.release()
    if report is not None:
        with transaction() as session:
            threshold_reports.record(session, *report)


def _make_next() -> tuple[ReportClaim, dict[str, Any]] | None:
    """Return the content of the next report; None if none waits, or if it cannot be made now."""
    claim = lease_runner.claim_when_ready(threshold_reports.claim_next, REPORT_READINESS)
    if claim is None:
        return None
    content = lease_runner.run(
        lambda on_step: jobs.run(_build_job(claim), get_settings(), on_step=on_step),
        Lease(ThresholdReport, claim.report_id, claim.attempt),
        readiness=REPORT_READINESS,
    )
    return None if content is None else (claim, content)


def _build_job(claim: ReportClaim) -> AdviceJob:
    return AdviceJob(
        competition_file=claim.competition_file,
        original=jobs.load_files(claim.original),
        question=claim.question,
    )
