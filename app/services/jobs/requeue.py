"""Recovery of lost jobs: sends new messages for jobs that no worker is processing."""

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Competition, Evaluation, Guess, Rejudgement, Round, ThresholdReport
from app.services.jobs import leases, queue
from app.services.jobs.fairness import JobKind

_KINDS_BY_TASK: dict[str, tuple[JobKind, ...]] = {
    queue.SCORE: (Evaluation,),
    queue.JUDGE: (Guess, Rejudgement),
    queue.ADVISE: (ThresholdReport,),
}
"""Kinds of the jobs that each task processes."""

MAX_MESSAGES = 100
"""Messages sent per task and sweep: enough to keep a worker busy until the next sweep."""


def requeue_unattended(session: Session, *, waiting_messages: Mapping[str, int]) -> dict[str, int]:
    """Send messages for jobs without one and return their number by task. Safe to run concurrently.

    ``waiting_messages`` is the number of messages in the queue of each task.
    """
    sent_by_task = {}
    for task, kinds in _KINDS_BY_TASK.items():
        unattended_count = sum(leases.count_unattended(session, kind) for kind in kinds)
        message_count = min(unattended_count - waiting_messages[task], MAX_MESSAGES)
        for _ in range(message_count):
            queue.enqueue_after_commit(session, task)
        if message_count > 0:
            sent_by_task[task] = message_count
    if queue.ADVISE not in sent_by_task and not waiting_messages[queue.ADVISE] and list_rehearsals(session):
        queue.enqueue_after_commit(session, queue.ADVISE)
    return sent_by_task


def list_rehearsals(session: Session) -> list[Round]:
    """Return the rehearsals that have not ended. A message of ``ADVISE`` asks for one of their moves, too."""
    rehearsals = select(Round).join(Competition).where(Competition.rehearsal_of.is_not(None))
    return list(
        session.scalars(rehearsals.where(Competition.removed_at.is_(None), Round.closed_at.is_(None)))
    )
