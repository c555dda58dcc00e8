"""Celery task that scores submissions in the sandbox."""

from typing import Any

from anoncup.errors import Unavailable
from anoncup.plugins import TRACKS
from anoncup.runner.client import ProgressStep
from anoncup.runner.jobs import ScoreJob
from app.boards import standing_updates
from app.config import Settings, get_settings
from app.core import sealing
from app.core.db.models import Evaluation
from app.core.db.stored_files import read_rules
from app.core.db.transaction import transaction
from app.jobs.queue import SCORE, celery
from app.submissions import evaluations
from app.submissions.evaluations import EvaluationClaim
from workers import jobs, lease_runner, rank
from workers.allocate import build_worker_inputs
from workers.lease_runner import Lease
from workers.readiness import SCORING_READINESS


@celery.task(name=SCORE, throws=(Unavailable,))
@lease_runner.leave_to_sweep()
def score(*_: str) -> None:
    """Claim the next submission by fair order, evaluate it and record the result.

    Stale standings are computed afterwards. Running the task twice or killing it does no harm.
    """
    _score_next()
    rank.compute_next()


def _score_next() -> None:
    claim = lease_runner.claim_when_ready(evaluations.claim_next, SCORING_READINESS)
    if claim is None:
        return
    settings = get_settings()
    result = lease_runner.run(
        lambda on_step: jobs.run(_build_job(claim, settings), settings, on_step=on_step),
        Lease(Evaluation, claim.evaluation_id, claim.attempt),
        readiness=SCORING_READINESS,
        progress_columns=build_progress_columns,
    )
    if result is not None:
        with transaction() as session:
            evaluation = evaluations.record_verdict(
                session, claim, verdict=result["verdict"], scorer=result["scorer"], steps=result["steps"]
            )
            if evaluation is not None:
                standing_updates.refresh_evaluation(session, evaluation)


def build_progress_columns(step: ProgressStep) -> dict[str, Any]:
    """Return the columns that show the team the progress of its evaluation."""
    return {"step": step.number, "steps": step.total, "step_name": step.name}


def _build_job(claim: EvaluationClaim, settings: Settings) -> ScoreJob:
    """Return the job for the child. The opened secret reaches the child only in memory."""
    secret = sealing.open_sealed(
        settings.opening_keys_dir, key_id=claim.key_id, box=claim.sealed, bound_to=claim.submission_id
    )
    track = TRACKS[read_rules(claim.competition_file).track]
    return ScoreJob(
        competition_file=claim.competition_file,
        original=jobs.load_files(claim.original),
        files=jobs.load_release(
            claim.files,
            settings,
            sealed_for=claim.submission_id if track.target_files.seals_release else None,
        ),
        secret=secret,
        inputs=build_worker_inputs(track, claim.allocation_inputs, settings),
    )
