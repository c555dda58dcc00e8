"""What keeps promises when processes die: work that nobody does is asked for again."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from app.db.models import Evaluation, Guess, RehearsalMove, ThresholdReport
from app.services.jobs import leases, queue
from app.services.jobs.fairness import Kind

KINDS: dict[str, tuple[Kind, ...]] = {
    queue.SCORE: (Evaluation,),
    queue.JUDGE: (Guess,),
    queue.ADVISE: (ThresholdReport, RehearsalMove),
}
"""What each task does."""

MOST = 100
"""Rings for one kind of work at a time: a worker that answers them all is busy until the next."""


def ask_again(session: Session, *, waiting: Mapping[str, int]) -> dict[str, int]:
    """Ring as often as there is work without a message; how often, by task. Safe to do twice at once.

    ``waiting``: the messages in each task's queue.
    """
    found = {}
    for task, kinds in KINDS.items():
        waits = sum(leases.unattended(session, kind) for kind in kinds)
        rings = min(waits - waiting[task], MOST)
        for _ in range(rings):
            queue.defer(session, task)
        if rings > 0:
            found[task] = rings
    return found
