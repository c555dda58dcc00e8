"""Leases on jobs: only one worker at a time holds a job, it ends once, and its attempts are limited."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

import structlog
from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.messages import CodedMessage, Message, PluralMessage
from app.core.db.models import (
    Evaluation,
    Guess,
    LeasedJob,
    Rejudgement,
    StaleStanding,
    State,
    ThresholdReport,
)
from app.core.db.now import read_clock
from app.jobs import fairness

log = structlog.get_logger(__name__)

_JobT = TypeVar("_JobT", bound=LeasedJob)
_ClaimedJobT = TypeVar("_ClaimedJobT", Evaluation, Guess, Rejudgement, ThresholdReport, StaleStanding)

UNFINISHED = fairness.UNFINISHED
ATTEMPTS_EXHAUSTED = "attempts_used_up"
_MESSAGE_GRACE = timedelta(seconds=5)
"""Time that the message of a job may take before it counts as lost."""

_MIN_BACKOFF = timedelta(seconds=5)
"""Shortest time before a job that was released uncounted can be claimed again."""
_MAX_DOUBLINGS = 10
"""Maximum number of doublings of the backoff, so that the product does not overflow."""


def claim_next(
    session: Session, kind: type[_ClaimedJobT], *, lease: timedelta, max_attempts: int
) -> _ClaimedJobT | None:
    """Claim the job that is next in the fair order; None if there is none.

    A job that has been tried ``max_attempts`` times ends in ERROR instead, because it probably kills its
    workers.
    """
    while (job := _lock_next(session, kind)) is not None:
        if not _mark_abandoned(session, job, max_attempts) and begin_attempt(session, job, lease=lease):
            return job
    return None


def _lock_next(session: Session, kind: type[_ClaimedJobT]) -> _ClaimedJobT | None:
    """Lock the first job in the fair order that no other worker has locked."""
    job: _ClaimedJobT | None = session.scalar(_select_next(kind))
    return job


@lru_cache(maxsize=len(fairness.PARTY_COLUMNS))
def _select_next(kind: fairness.JobKind) -> Select[Any]:
    """Build the statement. It is cached because building it takes longer than running it."""
    order = fairness.build_claim_order(kind)
    return (
        select(kind)
        .join(order, order.c.id == kind.id)
        .where(fairness.is_claimable(kind))
        .order_by(order.c.place)
        .limit(1)
        .with_for_update(of=kind, skip_locked=True)
        .execution_options(populate_existing=True)
    )


def begin_attempt(session: Session, job: LeasedJob, *, lease: timedelta) -> bool:
    """Begin an attempt; return False if a job that excludes this one has begun at the same moment."""
    now = read_clock(session)
    try:
        with session.begin_nested():
            job.state = State.SCORING
            job.attempt += 1
            job.started_at, job.leased_until = now, now + lease
    except IntegrityError:
        return False
    return True


def _mark_abandoned(session: Session, job: LeasedJob, max_attempts: int) -> bool:
    attempt_count = job.attempt - job.excused
    if attempt_count < max_attempts:
        return False
    finish(session, job, State.ERROR)
    last_failure = job.failure.message if job.failure else Message("its worker was lost")
    if "package" in last_failure.values:  # its organizers should see it
        job.traceback = str(last_failure)
    job.failure = CodedMessage(
        ATTEMPTS_EXHAUSTED,
        PluralMessage(
            "scoring was tried {times} time and never finished; last: {last}",
            "scoring was tried {times} times and never finished; last: {last}",
            "times",
            times=attempt_count,
            last=last_failure,
        ),
    )
    return True


def renew(
    session: Session,
    kind: type[LeasedJob],
    job_id: UUID,
    attempt: int,
    *,
    lease: timedelta,
    **progress: Any,
) -> bool:
    """Extend the lease and record progress; return False if another worker has taken over."""
    renewed_rows = session.execute(
        update(kind)
        .where(kind.id == job_id, kind.state == State.SCORING, kind.attempt == attempt)
        .values(leased_until=func.clock_timestamp() + lease, **progress)
        .returning(kind.id)
        .execution_options(synchronize_session=False)  # the session has not loaded the row
    )
    return renewed_rows.first() is not None


def lock_lease(session: Session, kind: type[_JobT], job_id: UUID, attempt: int) -> _JobT | None:
    """Lock and return the job; None if this attempt no longer holds the lease, or if the job is gone."""
    job = session.get(kind, job_id, with_for_update=True)
    return job if job is not None and (job.state, job.attempt) == (State.SCORING, attempt) else None


def finish(session: Session, job: LeasedJob, state: State) -> datetime:
    """End a job and return the time of its end."""
    job.finished_at = finished_at = read_clock(session)
    job.state = state
    job.leased_until = None
    log.info("work_finished", work=type(job).__name__, id=str(job.id), state=state, attempt=job.attempt)
    return finished_at


def fail(
    session: Session,
    kind: type[LeasedJob],
    job_id: UUID,
    attempt: int,
    reason: CodedMessage,
    *,
    traceback: str | None = None,
) -> bool:
    """End the job in ERROR, which is a fault of the service. Teams may read the reason, not the traceback."""
    job = lock_lease(session, kind, job_id, attempt)
    if job is None:
        return False
    finish(session, job, State.ERROR)
    job.failure, job.traceback = reason, traceback
    return True


def release(
    session: Session, kind: type[LeasedJob], job_id: UUID, attempt: int, reason: CodedMessage
) -> None:
    """Release the job after a transient fault; the sweep requeues it."""
    job = lock_lease(session, kind, job_id, attempt)
    if job is not None:
        job.failure = reason
        job.state = State.QUEUED
        job.leased_until = None


def release_uncounted(
    session: Session, kind: type[LeasedJob], job_id: UUID, attempt: int, reason: CodedMessage
) -> None:
    """Release the job without counting the attempt, because only this worker lacks what the job needs.

    The job waits before it can be claimed again, longer each time, so that a worker that has what it needs
    finds it after this one has moved on.
    """
    job = lock_lease(session, kind, job_id, attempt)
    if job is not None:
        _requeue_with_backoff(session, job, reason)


def release_for_missing_file(
    session: Session,
    kind: type[LeasedJob],
    job_id: UUID,
    attempt: int,
    reason: CodedMessage,
    *,
    max_wait: timedelta,
) -> None:
    """Release the job uncounted because a file is missing or incomplete in a store that responds.

    Once the file has been missing for ``max_wait``, no worker seems to have it: the job ends in ERROR.
    """
    job = lock_lease(session, kind, job_id, attempt)
    if job is None:
        return
    now = read_clock(session)
    job.missing_since = job.missing_since or now
    if job.missing_since + max_wait > now:
        _requeue_with_backoff(session, job, reason)
    else:
        finish(session, job, State.ERROR)
        job.failure = reason


def _requeue_with_backoff(session: Session, job: LeasedJob, reason: CodedMessage) -> None:
    job.not_before = read_clock(session) + min(
        _MIN_BACKOFF * 2 ** min(job.excused, _MAX_DOUBLINGS), job.max_backoff
    )
    job.excused += 1
    job.failure = reason
    job.state = State.QUEUED
    job.leased_until = None


def count_unattended(session: Session, kind: fairness.JobKind) -> int:
    """Return the number of claimable jobs without a message: their worker or their message was lost."""
    now = func.clock_timestamp()
    # A job from the future was created while the database's clock was ahead.
    is_overdue = or_(kind.created_at < now - _MESSAGE_GRACE, kind.created_at > now)
    is_unattended = or_(kind.state == State.SCORING, is_overdue)
    count_query = select(func.count()).select_from(kind).where(fairness.is_claimable(kind), is_unattended)
    return session.scalars(count_query).one()
