"""Celery task that judges guesses: the sandbox compares each guess with the opened secret."""

from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from anoncup.runner.jobs import JudgeJob
from app.boards import standing_updates
from app.config import Settings, get_settings
from app.core import sealing
from app.core.db.stored_files import read_rules
from app.core.db.transaction import transaction
from app.core.storage import get_store
from app.jobs.queue import JUDGE, celery
from app.targets import guesses
from app.targets.guesses import GuessClaim
from workers import jobs, lease_runner, rank
from workers.allocate import build_worker_inputs
from workers.lease_runner import Lease
from workers.readiness import SCORING_READINESS


@celery.task(name=JUDGE, throws=(Unavailable,))
@lease_runner.leave_to_sweep()
def judge(*_: str) -> None:
    """Claim the next guess or rejudgement by fair order, judge it and record the outcome.

    Stale standings are computed afterwards. Running the task twice or killing it does no harm.
    """
    _judge_next()
    rank.compute_next()


def _judge_next() -> None:
    claim = lease_runner.claim_when_ready(guesses.claim_next, SCORING_READINESS)
    if claim is None:
        return
    settings = get_settings()
    result = lease_runner.run(
        lambda on_step: jobs.run(_build_job(claim, settings), settings, on_step=on_step),
        Lease(claim.kind, claim.job_id, claim.attempt),
        readiness=SCORING_READINESS,
    )
    if result is not None:
        with transaction() as session:
            standing_updates.refresh_judged(session, guesses.record(session, claim, **result))


def _build_job(claim: GuessClaim, settings: Settings) -> JudgeJob:
    """Return the job for the child. The opened secret reaches the child only in memory."""
    secret = sealing.open_sealed(
        settings.opening_keys_dir, key_id=claim.key_id, box=claim.sealed, bound_to=claim.submission_id
    )
    track = TRACKS[read_rules(claim.competition_file).track]
    return JudgeJob(
        competition_file=claim.competition_file,
        original=jobs.load_files(claim.original),
        guess=get_store().get(claim.file),
        secret=secret,
        question=claim.question,
        sizes=dict(claim.sizes),
        guesser=claim.guesser,
        guesser_files=jobs.load_files(claim.guesser_files),
        inputs=build_worker_inputs(track, claim.allocation_inputs, settings),
    )
