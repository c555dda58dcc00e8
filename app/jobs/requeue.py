"""Recovery of lost jobs: sends new messages for jobs that no worker is processing."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from app.core.db.models import Evaluation, Guess, Rejudgement, StaleStanding, ThresholdReport
from app.jobs import leases, queue
from app.jobs.fairness import JobKind

_KINDS_BY_TASK: dict[str, tuple[JobKind, ...]] = {
    queue.SCORE: (Evaluation, StaleStanding),
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
    return sent_by_task
