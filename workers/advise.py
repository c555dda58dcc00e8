"""Makes threshold reports, and the moves of rehearsals: claim, work in the limited child, record."""

from collections.abc import Callable
from datetime import timedelta

from anoncup.errors import Unavailable
from app.config import get_settings
from app.db.models import ThresholdReport
from app.db.transaction import transaction
from app.services.jobs.queue import ADVISE, celery
from app.services.originals import threshold_reports
from workers import child_manager, lease_runner, rehearse
from workers.child_manager import Step, Verdict
from workers.jobs import Inquiry
from workers.readiness import FOR_REPORTS, FOR_SECRETS


@celery.task(name=ADVISE, throws=(Unavailable,))
@lease_runner.left_to_sweep()
def advise(*_: str) -> None:
    """Make the move that is fairly next, else the report: a move takes seconds, a report minutes. Safe to
    ring twice, and to kill."""
    if not FOR_REPORTS.admitted():
        return  # the sweep asks again, and somebody else may hear it
    if FOR_SECRETS.is_fit() and rehearse.play():
        return
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claimed = threshold_reports.claim_next(session, lease=lease, attempts=settings.scoring_attempts)
    if claimed is None:
        return  # another worker was there first
    inquiry = Inquiry(claimed.competition_file, claimed.original, claimed.question)

    def do(on_step: Callable[[Step], None]) -> Verdict:
        return child_manager.evaluate(inquiry, settings, on_step=on_step)

    found = lease_runner.done(do, ThresholdReport, claimed.report_id, claimed.attempt, fitness=FOR_REPORTS)
    if found is not None:
        with transaction() as session:
            threshold_reports.record(session, claimed, found.content)
