"""Celery task that makes threshold reports in the scoring child."""

from anoncup.errors import Unavailable
from app.config import get_settings
from app.db.models import ThresholdReport
from app.db.transaction import transaction
from app.services.jobs.queue import ADVISE, celery
from app.services.originals import threshold_reports
from workers import lease_runner, scoring_child
from workers.jobs import AdviceJob
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
    job = AdviceJob(claim.competition_file, claim.original, claim.question)
    result = lease_runner.run(
        lambda on_step: scoring_child.run(job, get_settings(), on_step=on_step),
        Lease(ThresholdReport, claim.report_id, claim.attempt),
        readiness=REPORT_READINESS,
    )
    if result is not None:
        with transaction() as session:
            threshold_reports.record(session, claim, result.content)
