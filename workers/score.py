"""Celery task that scores submissions in the scoring child."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from app.config import Settings, get_settings
from app.crypto import sealing
from app.db.models import Evaluation
from app.db.transaction import transaction
from app.services.contests.contest import parse_stored_rules
from app.services.jobs.queue import SCORE, celery
from app.services.submissions import evaluations
from app.services.submissions.evaluations import EvaluationClaim
from workers import lease_runner, scoring_child
from workers.allocate import build_worker_inputs
from workers.jobs import ScoreJob
from workers.readiness import SCORING_READINESS
from workers.scoring_child import JobResult, ProgressStep


@celery.task(name=SCORE, throws=(Unavailable,))
@lease_runner.leave_to_sweep()
def score(*_: str) -> None:
    """Claim the next submission by fair order, evaluate it and record the result.

    Running the task twice or killing it does no harm.
    """
    if not SCORING_READINESS.wait_until_ready():
        return  # the sweep sends the message again, and another worker may receive it
    settings = get_settings()
    lease = timedelta(seconds=settings.lease_s)
    with transaction() as session:
        claim = evaluations.claim_next(session, lease=lease, max_attempts=settings.scoring_attempts)
    if claim is None:
        return  # another worker has claimed it

    def evaluate_submission(on_step: Callable[[ProgressStep], None]) -> JobResult:
        return scoring_child.run(_build_job(claim, settings), settings, on_step=on_step)

    result = lease_runner.run(
        evaluate_submission,
        Evaluation,
        claim.evaluation_id,
        claim.attempt,
        readiness=SCORING_READINESS,
        progress_columns=build_progress_columns,
    )
    if result is not None:
        with transaction() as session:
            evaluations.record(session, claim, verdict=result.content, scorer=result.scorer_version)


def build_progress_columns(step: ProgressStep) -> dict[str, Any]:
    """Return the columns that show the team the progress of its evaluation."""
    return {"step": step.number, "steps": step.total, "step_name": step.name}


def _build_job(claim: EvaluationClaim, settings: Settings) -> ScoreJob:
    """Return the job for the child. The opened secret reaches the child only through its pipe."""
    secret = sealing.open_sealed(
        settings.opening_keys_dir,
        key_id=claim.key_id,
        box=claim.sealed,
        bound_to=claim.submission_id,
    )
    return ScoreJob(
        competition_file=claim.competition_file,
        original=claim.original,
        files=claim.files,
        secret=secret.decode(),
        sealed_for=str(claim.submission_id) if _is_release_sealed(claim.competition_file) else None,
        inputs=build_worker_inputs(claim.competition_file, claim.allocation_inputs, settings),
    )


def _is_release_sealed(competition_file: str) -> bool:
    """Return whether the track stores releases sealed."""
    return TRACKS[parse_stored_rules(competition_file).track].seals_release
