"""What keeps promises when processes die: work that nobody does is asked for again."""

from uuid import UUID

from sqlalchemy.orm import Session

from app import queue
from app.db.models import Evaluation, Guess, ThresholdReport
from app.db.models.declarations import Work
from app.services import leases

KINDS: dict[str, type[Work]] = {queue.SCORE: Evaluation, queue.JUDGE: Guess, queue.ADVISE: ThresholdReport}
"""The task that does each kind of work."""


def ask_again(session: Session, *, queue_is_empty: bool) -> list[UUID]:
    """Ring for evaluations, guesses and reports that nobody works on. Safe to do twice at once."""
    found = []
    for task, kind in KINDS.items():
        for identifier in leases.unattended(session, kind, queue_is_empty=queue_is_empty):
            queue.defer(session, task, identifier)
            found.append(identifier)
    return found
