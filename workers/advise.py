"""Celery task that makes threshold reports and rehearsal moves in the scoring child."""

from collections.abc import Callable
from datetime import timedelta

from anoncup.errors import Unavailable
from app.config import get_settings
from app.db.models import ThresholdReport
from app.db.transaction import transaction
from app.services.jobs.queue import ADVISE, celery
from app.services.originals import threshold_reports
from workers import lease_runner, rehearse, scoring_child
from workers.jobs import AdviceJob
from workers.readiness import REPORT_READINESS, SCORING_READINESS
from workers.scoring_child import JobResult, ProgressStep


@celery.task(name=ADVISE, throws=(Unavailable,))
@lease_runner.leave_to_sweep()
def advise(*_: str) -> None:
    """Make the next rehearsal move, or else the next threshold report.

    Moves come first because they take seconds and reports take minutes. Running the task twice or killing it
    does no harm.
    """
    if not REPORT_READINESS.wait_until_ready():
        return  # the sweep sends the message again, and another worker may receive it
    if SCORING_READINESS.is_ready() and rehearse.make_next_move():
        return
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claim = threshold_reports.claim_next(session, lease=lease, max_attempts=settings.scoring_attempts)
    if claim is None:
        return  # another worker has claimed it
    job = AdviceJob(claim.competition_file, claim.original, claim.question)

    def make_report(on_step: Callable[[ProgressStep], None]) -> JobResult:
        return scoring_child.run(job, settings, on_step=on_step)

    result = lease_runner.run(
        make_report, ThresholdReport, claim.report_id, claim.attempt, readiness=REPORT_READINESS
    )
    if result is not None:
        with transaction() as session:
            threshold_reports.record(session, claim, result.content)
