"""Makes threshold reports, and the moves of rehearsals: claim, work in the limited child, record."""

from collections.abc import Callable
from datetime import timedelta

from anoncup.errors import Unavailable
from app.config import get_settings
from app.db.models import ThresholdReport
from app.db.transaction import transaction
from app.services.jobs.queue import ADVISE, celery
from app.services.originals import threshold_reports
from workers import child, leased, rehearsals
from workers.child import Step, Verdict
from workers.fitness import FOR_REPORTS, FOR_SECRETS
from workers.work import Inquiry


@celery.task(name=ADVISE, throws=(Unavailable,))
@leased.left_to_sweep()
def advise(*_: str) -> None:
    """Make the move that is fairly next, else the report: a move takes seconds, a report minutes. Safe to
    ring twice, and to kill."""
    if not FOR_REPORTS.admitted():
        return  # the sweep asks again, and somebody else may hear it
    if FOR_SECRETS.is_fit() and rehearsals.play():
        return
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claimed = threshold_reports.claim_next(session, lease=lease, attempts=settings.scoring_attempts)
    if claimed is None:
        return  # another worker was there first
    inquiry = Inquiry(claimed.competition_file, claimed.original, claimed.question)

    def do(on_step: Callable[[Step], None]) -> Verdict:
        return child.evaluate(inquiry, settings, on_step=on_step)

    found = leased.done(do, ThresholdReport, claimed.report_id, claimed.attempt, fitness=FOR_REPORTS)
    if found is not None:
        with transaction() as session:
            threshold_reports.record(session, claimed, found.content)
