"""Run a job in the sandbox under a lease: renew the lease meanwhile, and record failures."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import structlog
from celery.exceptions import Ignore

from anoncup.errors import (
    CompetitionUnavailable,
    DatabaseUnavailable,
    DomainError,
    NotFound,
    PackageChangeError,
    Unavailable,
)
from anoncup.runner.client import ProgressStep
from app.config import get_settings
from app.core.db.models import LeasedJob, ThresholdReport
from app.core.db.transaction import transaction
from app.jobs import leases
from workers.jobs import ScoringError
from workers.readiness import Readiness

log = structlog.get_logger(__name__)

_KEY_MISSING = "opening_key_missing"
LOCAL_PROBLEM_CODES = {_KEY_MISSING, "storage_unavailable", "file_lost", "file_damaged"}
"""Error codes of problems that may be limited to one worker."""

RENEW_INTERVAL_S = 0.2
"""Progress is written at most this often, because the steps of a small table take less time than a write."""

T = TypeVar("T")
ProgressColumns = Callable[[ProgressStep], dict[str, Any]]
"""Returns the columns of a job to update at a step."""


class LeaseLost(Exception):
    """The lease has expired and another worker has taken over the job. This is not an error."""


class Lease(NamedTuple):
    """An attempt at a job, for as long as no other worker has taken it over."""

    model: type[LeasedJob]
    job_id: UUID
    attempt: int

    def describe(self) -> dict[str, str]:
        """Return the fields that identify the job in the log."""
        return {"work": self.model.__name__, "id": str(self.job_id)}


@contextmanager
def leave_to_sweep() -> Iterator[None]:
    """Leave a job to the sweep when the database is unavailable.

    Raises Celery's ``Ignore``, since the failure has been logged.
    """
    try:
        yield
    except DatabaseUnavailable:
        raise Ignore from None


def claim(claim_next: Callable[..., T | None]) -> T | None:
    """Claim the next job by the function of its service; None if none waits."""
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        return claim_next(session, lease=lease, max_attempts=settings.scoring_attempts)


def claim_when_ready(claim_next: Callable[..., T | None], readiness: Readiness) -> T | None:
    """Claim the next job; return None if none waits, or if this process is not ready.

    In the latter case the sweep sends the message again, and another worker may receive it.
    """
    return claim(claim_next) if readiness.wait_until_ready() else None


def run(
    task: Callable[[Callable[[ProgressStep], None]], T],
    lease: Lease,
    *,
    readiness: Readiness,
    progress_columns: ProgressColumns = lambda _: {},
) -> T | None:
    """Return the result of ``task``, or None after recording on the job why it could not be finished.

    ``readiness`` says whether this process can do such jobs.
    """
    try:
        result = task(make_renewal(lease, progress_columns))
        readiness.reset_backoff()
        return result
    except ScoringError as problem:
        _end_in_error(lease, problem, problem.traceback)
    except LeaseLost:
        log.info("claim_lost", **lease.describe(), attempt=lease.attempt)
    except CompetitionUnavailable as problem:
        postpone(lease, problem)
    except (NotFound, Unavailable) as problem:
        if problem.code in LOCAL_PROBLEM_CODES:
            _decline(lease, problem, readiness)
        else:
            _give_back(lease, problem)
    return None


def make_renewal(lease: Lease, progress_columns: ProgressColumns) -> Callable[[ProgressStep], None]:
    """Return a function that renews the lease of a job that was just claimed, or raises LeaseLost.

    It is called at every step and every few seconds between steps.
    """
    duration = timedelta(seconds=get_settings().lease_s)
    renewed_at = time.monotonic()

    def renew(step: ProgressStep) -> None:
        nonlocal renewed_at
        if time.monotonic() < renewed_at + RENEW_INTERVAL_S:
            return
        renewed_at = time.monotonic()
        with transaction() as session:
            is_held = leases.renew(session, *lease, lease=duration, **progress_columns(step))
        if not is_held:
            raise LeaseLost

    return renew


def _decline(lease: Lease, problem: NotFound | Unavailable, readiness: Readiness) -> None:
    """Put the job back because something is missing.

    A problem of this worker costs the job no attempt. Otherwise a file in the store is missing or damaged,
    and the job fails after ``lost_after_s``.
    """
    local_problem = readiness.find_problem()
    log.warning("work_turned_away", **lease.describe(), reason=str(problem), here=local_problem)
    max_wait = timedelta(seconds=get_settings().lost_after_s)
    with transaction() as session:
        if local_problem is not None or problem.code == _KEY_MISSING:
            leases.release_uncounted(session, *lease, problem.coded_message)
        else:
            leases.release_for_missing_file(session, *lease, problem.coded_message, max_wait=max_wait)
    readiness.back_off()


def postpone(lease: Lease, problem: CompetitionUnavailable) -> None:
    """Postpone a job whose competition file cannot be read, or needs other packages than are installed now.

    A threshold report has its own copy of the file, which nobody can correct, so it ends in an error if it
    cannot be read.
    """
    if lease.model is ThresholdReport and not isinstance(problem, PackageChangeError):
        _end_in_error(lease, problem)
        return
    log.error("work_postponed", **lease.describe(), reason=str(problem))
    with transaction() as session:
        leases.release_uncounted(session, *lease, problem.coded_message)


def _end_in_error(lease: Lease, problem: DomainError, traceback: str | None = None) -> None:
    log.error("scoring_failed", **lease.describe(), reason=str(problem))
    with transaction() as session:
        leases.fail(session, *lease, problem.coded_message, traceback=traceback)


def _give_back(lease: Lease, problem: DomainError) -> None:
    """Give the job back after an outage or a killed child. The sweep tries again, up to the attempt limit."""
    if not isinstance(problem, DatabaseUnavailable):  # that one is logged already
        log.warning("scoring_postponed", **lease.describe(), reason=str(problem))
    with transaction() as session:
        leases.release(session, *lease, problem.coded_message)
