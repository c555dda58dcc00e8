"""Judges guesses: claim, have the child hold the guess against the opened secret, record."""

from collections.abc import Callable
from datetime import timedelta

from anoncup.errors import Unavailable
from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.models import Guess
from app.db.transaction import transaction
from app.services.attacks import guesses
from app.services.attacks.guesses import Claim
from app.services.jobs.queue import JUDGE, celery
from workers import child_manager, lease_runner
from workers.allocate import aids
from workers.child_manager import Step, Verdict
from workers.jobs import Trial
from workers.readiness import FOR_SECRETS


@celery.task(name=JUDGE, throws=(Unavailable,))
@lease_runner.left_to_sweep()
def judge(*_: str) -> None:
    """Judge the guess that is fairly next. Safe to ring twice, and to kill."""
    if not FOR_SECRETS.admitted():
        return  # the sweep asks again, and somebody else may hear it
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claimed = guesses.claim_next(session, lease=lease, attempts=settings.scoring_attempts)
    if claimed is None:
        return  # another worker was there first

    def do(on_step: Callable[[Step], None]) -> Verdict:
        return child_manager.evaluate(trial_of(claimed, settings), settings, on_step=on_step)

    found = lease_runner.done(do, Guess, claimed.guess_id, claimed.attempt, fitness=FOR_SECRETS)
    if found is not None:
        with transaction() as session:
            guesses.record(session, claimed, outcome=found.content["outcome"])


def trial_of(claimed: Claim, settings: Settings) -> Trial:
    """What the child is told; the secret is opened here and goes to it through a pipe only."""
    secret = sealing.open_sealed(
        settings.opening_keys_dir,
        key_id=claimed.key_id,
        box=claimed.sealed,
        submission_id=claimed.submission_id,
    )
    return Trial(
        competition_file=claimed.competition_file,
        original=claimed.original,
        guess=claimed.file,
        secret=secret.decode(),
        question=claimed.question,
        sizes=dict(claimed.sizes),
        aids=aids(claimed.competition_file, claimed.means, settings),
    )
