"""Do a job in the sandbox under a lease: renew the lease meanwhile, and record the result or the failure."""

import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import structlog
from sqlalchemy.orm import Session

from anoncup.errors import CompetitionUnavailable, DatabaseUnavailable, DomainError, PackageChangeError
from anoncup.runner.client import ProgressStep
from app.core.db.models import Evaluation, ThresholdReport
from app.core.db.transaction import transaction
from app.jobs import leases
from app.jobs.leases import Lease
from workers.jobs import ScoringError
from workers.readiness import Readiness

log = structlog.get_logger(__name__)

_KEY_MISSING = "opening_key_missing"
LOCAL_PROBLEM_CODES = {_KEY_MISSING, "storage_unavailable", "file_lost", "file_damaged"}
"""Error codes of problems that may be limited to one worker."""

RENEW_INTERVAL_S = 0.2
"""Progress is written at most this often, because the steps of a small table take less time than a write."""

OnStep = Callable[[ProgressStep], None]


class LeaseLost(Exception):
    """The lease has expired and another worker has taken over the job. This is not an error."""


class Claim(Protocol):
    """What a worker needs to do a job that it has leased."""

    @property
    def lease(self) -> Lease[Any]: ...


ClaimT = TypeVar("ClaimT", bound=Claim)
ResultT = TypeVar("ResultT")


def do_next(
    claim_next: Callable[[Session], ClaimT | None],
    do: Callable[[ClaimT, OnStep], ResultT],
    record: Callable[[Session, ClaimT, ResultT], object],
    readiness: Readiness,
) -> None:
    """Do the next job and record its result, or why it could not be finished.

    Nothing is done if none waits, or if this process is not ready. In the latter case the sweep sends the
    message again, and another worker may receive it.
    """
    if not readiness.is_ready():
        return
    with transaction() as session:
        claim = claim_next(session)
    if claim is None:
        return
    try:
        result = do(claim, make_renewal(claim.lease))
    except LeaseLost:
        log.info("claim_lost", **claim.lease.describe(), attempt=claim.lease.attempt)
    except DomainError as problem:
        _record_failure(claim.lease, problem, readiness)
    else:
        with transaction() as session:
            record(session, claim, result)


def make_renewal(lease: Lease[Any]) -> OnStep:
    """Return a function that renews the lease of a job that was just claimed, or raises LeaseLost.

    It is called at every step and every few seconds between steps. Teams see the steps of an evaluation.
    """
    renewed_at = time.monotonic()

    def renew(step: ProgressStep) -> None:
        nonlocal renewed_at
        if time.monotonic() < renewed_at + RENEW_INTERVAL_S:
            return
        renewed_at = time.monotonic()
        progress = {"step": step.number, "steps": step.total, "step_name": step.name}
        with transaction() as session:
            is_held = leases.renew(session, lease, **(progress if lease.kind is Evaluation else {}))
        if not is_held:
            raise LeaseLost

    return renew


def _record_failure(lease: Lease[Any], problem: DomainError, readiness: Readiness) -> None:
    """End a job that cannot be done; give back any other, which the sweep tries again.

    An attempt counts after an outage or a killed child, but not if this worker lacks something, or if the
    competition file cannot be read or needs other packages than are installed now. A threshold report has its
    own copy of the file, which nobody can correct.
    """
    is_competition_unavailable = isinstance(problem, CompetitionUnavailable)
    if isinstance(problem, ScoringError) or (
        lease.kind is ThresholdReport
        and is_competition_unavailable
        and not isinstance(problem, PackageChangeError)
    ):
        log.error("scoring_failed", **lease.describe(), reason=str(problem))
        with transaction() as session:
            traceback = getattr(problem, "traceback", None)
            leases.fail(session, lease, problem.coded_message, traceback=traceback)
    elif problem.code in LOCAL_PROBLEM_CODES:
        _decline(lease, problem, readiness)
    else:
        if not isinstance(problem, DatabaseUnavailable):  # that one is logged already
            write_log = log.error if is_competition_unavailable else log.warning
            write_log("work_postponed", **lease.describe(), reason=str(problem))
        with transaction() as session:
            leases.release(session, lease, problem.coded_message, counts=not is_competition_unavailable)


def _decline(lease: Lease[Any], problem: DomainError, readiness: Readiness) -> None:
    """Put the job back because something is missing: on this worker, or else a file in the store."""
    local_problem = readiness.find_problem()
    log.warning("work_turned_away", **lease.describe(), reason=str(problem), here=local_problem)
    is_file_missing = local_problem is None and problem.code != _KEY_MISSING
    with transaction() as session:
        leases.release(session, lease, problem.coded_message, counts=False, is_file_missing=is_file_missing)
    readiness.back_off()
