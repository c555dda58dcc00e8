"""Run a job in the scoring child under a lease: renew the lease meanwhile, and record failures."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import structlog
from celery.exceptions import Ignore

from anoncup.errors import CompetitionUnavailable, DatabaseUnavailable, DomainError, NotFound, Unavailable
from app.config import get_settings
from app.db.models import LeasedJob, ThresholdReport
from app.db.transaction import transaction
from app.services.jobs import leases
from workers.readiness import Readiness
from workers.scoring_child import ChildDiedError, ProgressStep, ScoringError

log = structlog.get_logger(__name__)

_KEY_MISSING = "opening_key_missing"
LOCAL_PROBLEM_CODES = {_KEY_MISSING, "storage_unavailable", "file_lost", "file_damaged"}
"""Error codes of problems that may be limited to one worker."""

RENEW_INTERVAL_S = 0.2
"""Progress is written at most this often: the steps of a small table take less time than a write."""

T = TypeVar("T")


class LeaseLost(Exception):
    """The lease has expired and another worker has taken over the job. This is not an error."""


@contextmanager
def leave_to_sweep() -> Iterator[None]:
    """Leave a job to the sweep when the database is unavailable.

    Raises Celery's ``Ignore``, since the failure has been logged.
    """
    try:
        yield
    except DatabaseUnavailable:
        raise Ignore from None


def run(
    task: Callable[[Callable[[ProgressStep], None]], T],
    model: type[LeasedJob],
    job_id: UUID,
    attempt: int,
    *,
    readiness: Readiness,
    progress_columns: Callable[[ProgressStep], dict[str, Any]] = lambda _: {},
) -> T | None:
    """Return the result of ``task``, or None after recording on the job why it could not be finished.

    ``readiness`` says whether this process can do such jobs. ``progress_columns`` returns the columns to
    update at a step.
    """
    try:
        result = task(make_renewal(model, job_id, attempt, progress_columns))
        readiness.reset_backoff()
        return result
    except ScoringError as problem:
        _end_in_error(model, job_id, attempt, problem)
    except LeaseLost:
        log.info("claim_lost", work=model.__name__, id=str(job_id), attempt=attempt)
    except CompetitionUnavailable as problem:
        postpone(model, job_id, attempt, problem)
    except (NotFound, Unavailable) as problem:
        if problem.code in LOCAL_PROBLEM_CODES:
            _decline(model, job_id, attempt, problem, readiness)
        else:
            _give_back(model, job_id, attempt, problem)
    except ChildDiedError as problem:
        _give_back(model, job_id, attempt, problem)
    return None


def make_renewal(
    model: type[LeasedJob],
    job_id: UUID,
    attempt: int,
    progress_columns: Callable[[ProgressStep], dict[str, Any]],
) -> Callable[[ProgressStep], None]:
    """Return a function that renews the lease, or raises LeaseLost.

    It is called at every step and every few seconds between steps.
    """
    lease = timedelta(seconds=get_settings().lease_s)
    renewed_at, total = -math.inf, 0

    def renew(step: ProgressStep) -> None:
        nonlocal renewed_at, total
        if (total or not step.total) and time.monotonic() < renewed_at + RENEW_INTERVAL_S:
            return
        renewed_at, total = time.monotonic(), step.total
        with transaction() as session:
            is_held = leases.renew(session, model, job_id, attempt, lease=lease, **progress_columns(step))
        if not is_held:
            raise LeaseLost

    return renew


def _decline(
    model: type[LeasedJob], job_id: UUID, attempt: int, problem: NotFound | Unavailable, readiness: Readiness
) -> None:
    """Put the job back because something is missing.

    A problem of this worker costs the job no attempt. Otherwise a file in the store is missing or damaged,
    and the job fails after ``lost_after_s``.
    """
    local_problem = readiness.find_problem()
    log.warning(
        "work_turned_away", work=model.__name__, id=str(job_id), reason=str(problem), here=local_problem
    )
    max_wait = timedelta(seconds=get_settings().lost_after_s)
    with transaction() as session:
        if local_problem is not None or problem.code == _KEY_MISSING:
            leases.release_uncounted(session, model, job_id, attempt, problem.coded_message)
        else:
            leases.release_for_missing_file(
                session, model, job_id, attempt, problem.coded_message, max_wait=max_wait
            )
    readiness.back_off()


def postpone(model: type[LeasedJob], job_id: UUID, attempt: int, problem: CompetitionUnavailable) -> None:
    """Postpone a job whose competition file cannot be read, until the organizers correct the file.

    A threshold report has its own copy of the file, which nobody can correct, so it ends in an error.
    """
    if model is ThresholdReport:
        _end_in_error(model, job_id, attempt, problem)
        return
    log.error("competition_unreadable", work=model.__name__, id=str(job_id), reason=str(problem))
    with transaction() as session:
        leases.release_uncounted(session, model, job_id, attempt, problem.coded_message)


def _end_in_error(model: type[LeasedJob], job_id: UUID, attempt: int, problem: DomainError) -> None:
    log.error("scoring_failed", work=model.__name__, id=str(job_id), reason=str(problem))
    with transaction() as session:
        leases.fail(session, model, job_id, attempt, problem.coded_message)


def _give_back(model: type[LeasedJob], job_id: UUID, attempt: int, problem: DomainError) -> None:
    """Give the job back after an outage or a killed child. The sweep tries again, up to the attempt limit."""
    if not isinstance(problem, DatabaseUnavailable):  # that one is logged already
        log.warning("scoring_postponed", work=model.__name__, id=str(job_id), reason=str(problem))
    with transaction() as session:
        leases.release(session, model, job_id, attempt, problem.coded_message)
