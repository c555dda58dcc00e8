"""What keeps promises when processes die: what nobody works on is asked for again."""

import structlog

from app import queue
from app.queue import celery
from app.services import evaluations, guesses, health, threshold_reports
from app.transaction import transaction

log = structlog.get_logger(__name__)

SWEEP = health.SWEEP
QUEUE = "upkeep"
"""Apart from the scoring queue, whose emptiness says that messages were lost."""


@celery.task(name=SWEEP)
def sweep() -> None:
    """Ring again for lost evaluations, guesses and reports. Safe to run twice at once."""
    queue_is_empty = queue.depth() == 0
    with transaction() as session:
        scoring = evaluations.ask_again(session, queue_is_empty=queue_is_empty)
        judging = guesses.ask_again(session, queue_is_empty=queue_is_empty)
        advising = threshold_reports.ask_again(session, queue_is_empty=queue_is_empty)
    with transaction() as session:
        health.beat(session, SWEEP)
    found = [*scoring, *judging, *advising]
    if found:
        log.info("asked_again", work=[str(identifier) for identifier in found])
