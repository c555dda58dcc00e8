"""Celery task that makes threshold reports in the sandbox."""

from collections.abc import Callable
from typing import Any

from anoncup.errors import Unavailable
from anoncup.runner.client import ProgressStep
from anoncup.runner.jobs import AdviceJob
from app.config import get_settings
from app.db.models import ThresholdReport
from app.db.transaction import transaction
from app.services.jobs.queue import ADVISE, celery
from app.services.originals import threshold_reports
from workers import jobs, lease_runner
from workers.lease_runner import Lease
from workers.readiness import REPORT_READINESS


@celery.task(name=ADVISE, throws=(Unavailable,))
@lease_runner.leave_to_sweep()
def advise(*_: str) -> None:
    """Make the next threshold report. Running the task twice or killing it does no harm."""
    if not REPORT_READINESS.wait_until_ready():
        return  # the sweep sends the message again, and another worker may receive it
    claim = lease_runner.claim(threshold_reports.claim_next)
    if claim is None:
        return

    def run_job(on_step: Callable[[ProgressStep], None]) -> dict[str, Any]:
        job = AdviceJob(
            competition_file=claim.competition_file,
            original=jobs.load_files(claim.original),
            question=claim.question,
        )
        return jobs.run(job, get_settings(), on_step=on_step)

    result = lease_runner.run(
        run_job,
        Lease(ThresholdReport, claim.report_id, claim.attempt),
        readiness=REPORT_READINESS,
    )
    if result is not None:
        with transaction() as session:
            threshold_reports.record(session, claim, result)
