"""Leases on jobs: only one worker at a time holds a job, it ends once, and its attempts are limited."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Generic, TypeVar
from uuid import UUID

import structlog
from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.messages import CodedMessage, Message, PluralMessage
from app.config import get_settings
from app.core.db.models import (
    Evaluation,
    Guess,
    LeasedJob,
    Rejudgement,
    StaleStanding,
    State,
    ThresholdReport,
)
from app.core.db.transaction import read_clock
from app.jobs import fairness, queue
from app.jobs.fairness import JobKind

log = structlog.get_logger(__name__)

_JobT = TypeVar("_JobT", bound=LeasedJob)
_ClaimedJobT = TypeVar("_ClaimedJobT", Evaluation, Guess, Rejudgement, ThresholdReport, StaleStanding)

UNFINISHED = fairness.UNFINISHED
_KINDS_BY_TASK: dict[str, tuple[JobKind, ...]] = {
    queue.SCORE: (Evaluation, StaleStanding),
    queue.JUDGE: (Guess, Rejudgement),
    queue.ADVISE: (ThresholdReport,),
}
"""Kinds of the jobs that each task processes."""
MAX_MESSAGES = 100
"""Messages sent per task and sweep: enough to keep a worker busy until the next sweep."""
_MESSAGE_GRACE = timedelta(seconds=5)
"""Time that the message of a job may take before it counts as lost."""
_MIN_BACKOFF = timedelta(seconds=5)
"""Shortest time before a job that was released uncounted can be claimed again."""
_MAX_DOUBLINGS = 10
"""Maximum number of doublings of the backoff, so that the product does not overflow."""


@dataclass(frozen=True, slots=True)
class Lease(Generic[_JobT]):
    """An attempt at a job, for as long as no other worker has taken it over."""

    kind: type[_JobT]
    job_id: UUID
    attempt: int

    @classmethod
    def create(cls, job: _JobT) -> "Lease[_JobT]":
        return cls(type(job), job.id, job.attempt)

    def describe(self) -> dict[str, str]:
        """Return the fields that identify the job in the log."""
        return {"work": self.kind.__name__, "id": str(self.job_id)}


def claim_next(session: Session, kind: type[_ClaimedJobT]) -> _ClaimedJobT | None:
    """Claim the first job in the fair order that no other worker has locked; None if there is none.

    A job that has been tried too often ends in ERROR instead, because it probably kills its workers.
    """
    while True:
        job: _ClaimedJobT | None = session.scalar(_select_next(kind))
        if job is None:
            return None
        if job.attempt - job.excused >= get_settings().scoring_attempts:
            _abandon(session, job)
        elif begin_attempt(session, job):
            return job


@lru_cache(maxsize=len(fairness.PARTY_COLUMNS))
def _select_next(kind: Any) -> Select[Any]:
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


def begin_attempt(session: Session, job: LeasedJob) -> bool:
    """Begin an attempt; return False if a job that excludes this one has begun at the same moment."""
    now = read_clock(session)
    try:
        with session.begin_nested():
            job.state = State.SCORING
            job.attempt += 1
            job.started_at, job.leased_until = now, now + _get_duration()
    except IntegrityError:
        return False
    return True


def _get_duration() -> timedelta:
    return timedelta(seconds=get_settings().lease_s)


def _abandon(session: Session, job: LeasedJob) -> None:
    finish(session, job, State.ERROR)
    last_failure = job.failure.message if job.failure else Message("its worker was lost")
    if "package" in last_failure.values:  # its organizers should see it
        job.traceback = str(last_failure)
    job.failure = CodedMessage(
        "attempts_used_up",
        PluralMessage(
            "scoring was tried {times} time and never finished; last: {last}",
            "scoring was tried {times} times and never finished; last: {last}",
            "times",
            times=job.attempt - job.excused,
            last=last_failure,
        ),
    )


def renew(session: Session, lease: Lease[Any], **progress: Any) -> bool:
    """Extend the lease and record progress; return False if another worker has taken over."""
    kind = lease.kind
    renewed_rows = session.execute(
        update(kind)
        .where(kind.id == lease.job_id, kind.state == State.SCORING, kind.attempt == lease.attempt)
        .values(leased_until=func.clock_timestamp() + _get_duration(), **progress)
        .returning(kind.id)
        .execution_options(synchronize_session=False)  # the session has not loaded the row
    )
    return renewed_rows.first() is not None


def lock_job(session: Session, lease: Lease[_JobT]) -> _JobT | None:
    """Lock and return the job; None if this attempt no longer holds the lease, or if the job is gone."""
    job = session.get(lease.kind, lease.job_id, with_for_update=True)
    return job if job is not None and (job.state, job.attempt) == (State.SCORING, lease.attempt) else None


def finish(session: Session, job: LeasedJob, state: State) -> datetime:
    """End a job and return the time of its end."""
    job.finished_at = finished_at = read_clock(session)
    job.state = state
    job.leased_until = None
    log.info("work_finished", work=type(job).__name__, id=str(job.id), state=state, attempt=job.attempt)
    return finished_at


def fail(session: Session, lease: Lease[Any], reason: CodedMessage, *, traceback: str | None = None) -> None:
    """End the job in ERROR, which is a fault of the service. Teams may read the reason, not the traceback."""
    job = lock_job(session, lease)
    if job is not None:
        finish(session, job, State.ERROR)
        job.failure, job.traceback = reason, traceback


def release(
    session: Session,
    lease: Lease[Any],
    reason: CodedMessage,
    *,
    counts: bool = True,
    is_file_missing: bool = False,
) -> None:
    """Release the job, so that the sweep requeues it.

    If the attempt does not count, only this worker lacks what the job needs. The job then waits before it can
    be claimed again, longer each time, so that a worker that has what it needs finds it after this one has
    moved on. If a file has been missing for ``lost_after_s``, no worker seems to have it: the job ends in
    ERROR.
    """
    job = lock_job(session, lease)
    if job is None:
        return
    now = read_clock(session)
    job.failure = reason
    if is_file_missing:
        job.missing_since = job.missing_since or now
        if job.missing_since + timedelta(seconds=get_settings().lost_after_s) <= now:
            finish(session, job, State.ERROR)
            return
    if not counts:
        backoff = min(_MIN_BACKOFF * 2 ** min(job.excused, _MAX_DOUBLINGS), job.max_backoff)
        job.not_before = now + backoff
        job.excused += 1
    job.state, job.leased_until = State.QUEUED, None


def requeue_unattended(session: Session, *, waiting_messages: Mapping[str, int]) -> dict[str, int]:
    """Send messages for jobs without one and return their number by task. Safe to run concurrently.

    ``waiting_messages`` is the number of messages in the queue of each task.
    """
    sent_by_task = {}
    for task, kinds in _KINDS_BY_TASK.items():
        unattended_count = sum(count_unattended(session, kind) for kind in kinds)
        message_count = min(unattended_count - waiting_messages[task], MAX_MESSAGES)
        if message_count > 0:
            queue.enqueue_after_commit(session, task, times=message_count)
            sent_by_task[task] = message_count
    return sent_by_task


def count_unattended(session: Session, kind: JobKind) -> int:
    """Return the number of claimable jobs without a message: their worker or their message was lost."""
    now = func.clock_timestamp()
    # A job from the future was created while the database's clock was ahead.
    is_overdue = or_(kind.created_at < now - _MESSAGE_GRACE, kind.created_at > now)
    is_unattended = or_(kind.state == State.SCORING, is_overdue)
    count_query = select(func.count()).select_from(kind).where(fairness.is_claimable(kind), is_unattended)
    return session.scalars(count_query).one()
