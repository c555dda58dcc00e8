"""Scores submissions: claim, evaluate in the limited child, record."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.models import Evaluation
from app.db.transaction import transaction
from app.services.contests.contest import read_file
from app.services.jobs.queue import SCORE, celery
from app.services.submissions import evaluations
from app.services.submissions.evaluations import Claim
from workers import child_manager, lease_runner
from workers.allocate import aids
from workers.child_manager import Step, Verdict
from workers.jobs import Request
from workers.readiness import FOR_SECRETS


@celery.task(name=SCORE, throws=(Unavailable,))
@lease_runner.left_to_sweep()
def score(*_: str) -> None:
    """Score the submission that is fairly next. Safe to ring twice, and to kill."""
    if not FOR_SECRETS.admitted():
        return  # the sweep asks again, and somebody else may hear it
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claimed = evaluations.claim_next(session, lease=lease, attempts=settings.scoring_attempts)
    if claimed is None:
        return  # another worker was there first

    def do(on_step: Callable[[Step], None]) -> Verdict:
        return child_manager.evaluate(request_of(claimed, settings), settings, on_step=on_step)

    verdict = lease_runner.done(
        do, Evaluation, claimed.evaluation_id, claimed.attempt, fitness=FOR_SECRETS, progress=columns
    )
    if verdict is not None:
        with transaction() as session:
            evaluations.record(session, claimed, verdict=verdict.content, scorer=verdict.scorer)


def columns(step: Step) -> dict[str, Any]:
    """How far it is, as the team reads it."""
    return {"step": step.number, "steps": step.of, "step_name": step.name}


def request_of(claimed: Claim, settings: Settings) -> Request:
    """What the child is told; the secret is opened here and goes to it through a pipe only."""
    secret = sealing.open_sealed(
        settings.opening_keys_dir,
        key_id=claimed.key_id,
        box=claimed.sealed,
        submission_id=claimed.submission_id,
    )
    return Request(
        competition_file=claimed.competition_file,
        original=claimed.original,
        files=claimed.files,
        secret=secret.decode(),
        sealed_for=str(claimed.submission_id) if seals(claimed.competition_file) else None,
        aids=aids(claimed.competition_file, claimed.means, settings),
    )


def seals(competition_file: str) -> bool:
    """Whether the releases of a competition are kept sealed."""
    return TRACKS[read_file(competition_file).track].seals_release
