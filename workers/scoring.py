"""Scores submissions: claim, evaluate in the limited child, record."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import structlog

from app import sealing
from app.config import Settings, get_settings
from app.errors import Unavailable
from app.queue import celery
from app.services import evaluations
from app.services.evaluations import Claim
from app.transaction import transaction
from workers import child
from workers.child import ChildDied, Request, ScoringFailed, Step

log = structlog.get_logger(__name__)


@celery.task(name=evaluations.SCORE)
def score(evaluation_id: str) -> None:
    """Score one submission. Safe to deliver twice, and to kill."""
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claimed = evaluations.claim(
            session, UUID(evaluation_id), lease=lease, attempts=settings.scoring_attempts
        )
    if claimed is None:
        return  # finished, or another worker holds it
    try:
        verdict = child.evaluate(request_of(claimed, settings), settings, on_step=renewal(claimed, lease))
    except ScoringFailed as problem:
        end_in_error(claimed, str(problem))
    except LostClaim:
        log.info("claim_lost", evaluation=evaluation_id, attempt=claimed.attempt)
    except (Unavailable, ChildDied) as problem:
        give_back(claimed, str(problem))
    else:
        with transaction() as session:
            evaluations.record(session, claimed, verdict=verdict.content, scorer=verdict.scorer)


class LostClaim(Exception):  # not an error: another worker goes on
    """The lease ran out and another worker has taken over."""


def request_of(claimed: Claim, settings: Settings) -> Request:
    """What the child is told; the secret is opened here and goes to it through a pipe only."""
    secret = sealing.open_sealed(
        settings.opening_keys_dir,
        key_id=claimed.key_id,
        box=claimed.sealed,
        submission_id=claimed.submission_id,
    )
    return Request(
        data=str(settings.data),
        competition_file=claimed.competition_file,
        original=claimed.original,
        files=claimed.files,
        secret=secret.decode(),
    )


def renewal(claimed: Claim, lease: timedelta) -> Callable[[Step], None]:
    """Called at every step and every few seconds between them: keeps the claim, or stops the work."""

    def renew(step: Step) -> None:
        with transaction() as session:
            held = evaluations.renew(
                session, claimed, lease=lease, step=step.number, steps=step.of, name=step.name
            )
        if not held:
            raise LostClaim

    return renew


def end_in_error(claimed: Claim, reason: str) -> None:
    log.error("scoring_failed", evaluation=str(claimed.evaluation_id), reason=reason)
    with transaction() as session:
        evaluations.fail(session, claimed, reason)


def give_back(claimed: Claim, reason: str) -> None:
    """A part was away or the child was killed: the sweep tries again, up to the cap of attempts."""
    log.warning("scoring_postponed", evaluation=str(claimed.evaluation_id), reason=reason)
    with transaction() as session:
        evaluations.release(session, claimed, reason)
