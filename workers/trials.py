"""Judges guesses: claim, hold the guess against the opened secret, record."""

from datetime import timedelta
from uuid import UUID

import structlog

from app import sealing, storage
from app.config import Settings, get_settings
from app.db.models import Guess
from app.errors import DomainError, Unavailable
from app.queue import celery
from app.scoring.permutation import guess_from_file, source_from_secret
from app.scoring.rates import guess_rate
from app.services import guesses, leases
from app.services.guesses import Claim
from app.transaction import transaction

log = structlog.get_logger(__name__)


@celery.task(name=guesses.JUDGE)
def judge(guess_id: str) -> None:
    """Judge one guess. Safe to deliver twice, and to kill."""
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claimed = guesses.claim(session, UUID(guess_id), lease=lease, attempts=settings.scoring_attempts)
    if claimed is None:
        return  # finished, or another worker holds it
    try:
        correct = correct_rows(claimed, settings)
    except DomainError as problem:
        postpone(claimed, problem)
    else:
        with transaction() as session:
            guesses.record(session, claimed, correct=correct)


def correct_rows(claimed: Claim, settings: Settings) -> int:
    """On how many rows of the target the guess is right."""
    secret = sealing.open_sealed(
        settings.opening_keys_dir,
        key_id=claimed.key_id,
        box=claimed.sealed,
        submission_id=claimed.submission_id,
    )
    sizes = {"originals": claimed.originals, "anonymized": claimed.rows}
    guess = guess_from_file(storage.get(settings.data, claimed.file), **sizes)
    rate = guess_rate(guess, source_from_secret(secret, **sizes), rows=claimed.originals)
    return int(rate.correct)


def postpone(claimed: Claim, problem: DomainError) -> None:
    """A part was away: the sweep tries again, up to the cap of attempts; the reason names no value."""
    reason = problem.detail if isinstance(problem, Unavailable) else "a stored file could not be read"
    log.warning("judging_postponed", guess=str(claimed.guess_id), reason=reason)
    with transaction() as session:
        leases.give_back(session, Guess, claimed.guess_id, claimed.attempt, reason)
