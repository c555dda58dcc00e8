"""Celery tasks: each does the next job of a kind. Running one twice or killing it does no harm."""

from collections.abc import Callable
from threading import Lock

from celery.exceptions import Ignore
from sqlalchemy.orm import Session

from anoncup.errors import DatabaseUnavailable, Unavailable
from anoncup.plugins import TRACKS
from anoncup.runner.jobs import AdviceJob, Job, JudgeJob, ScoreJob
from anoncup.runner.results import JudgeResult, ScoreResult
from app.boards import standing_updates
from app.config import get_settings
from app.core.db.stored_files import read_rules
from app.core.storage import get_store
from app.jobs.queue import ADVISE, JUDGE, SCORE, celery
from app.originals import threshold_reports
from app.originals.threshold_reports import ReportClaim
from app.submissions import evaluations
from app.submissions.evaluations import EvaluationClaim
from app.targets import guesses
from app.targets.guesses import GuessClaim
from workers import jobs, lease_runner, rank
from workers.allocate import build_worker_inputs, open_box
from workers.lease_runner import ClaimT, OnStep, ResultT
from workers.readiness import REPORT_READINESS, SCORING_READINESS, Readiness

_report_lock = Lock()
"""Held while this process makes a report, so that its other threads are left for scores."""


@celery.task(name=SCORE, throws=(Unavailable,))
def score() -> None:
    """Score a submission, then compute stale standings."""
    _do_next(evaluations.claim_next, _build_score_job, _record_verdict, SCORING_READINESS)
    rank.compute_next()


@celery.task(name=JUDGE, throws=(Unavailable,))
def judge() -> None:
    """Judge a guess, or judge one again, then compute stale standings."""
    _do_next(guesses.claim_next, _build_judge_job, _record_guess, SCORING_READINESS)
    rank.compute_next()


@celery.task(name=ADVISE, throws=(Unavailable,))
def advise() -> None:
    """Make a threshold report, one at a time."""
    # A message for the next report is sent when this one is recorded, or by the sweep.
    if _report_lock.acquire(blocking=False):
        try:
            _do_next(
                threshold_reports.claim_next, _build_advice_job, threshold_reports.record, REPORT_READINESS
            )
        finally:
            _report_lock.release()


def _do_next(
    claim_next: Callable[[Session], ClaimT | None],
    build_job: Callable[[ClaimT], Job[ResultT]],
    record: Callable[[Session, ClaimT, ResultT], object],
    readiness: Readiness,
) -> None:
    """Do the next job once this process is ready. If the database is unavailable, leave it to the sweep."""

    def run_job(claim: ClaimT, on_step: OnStep) -> ResultT:
        return jobs.run(build_job(claim), get_settings(), on_step=on_step)

    readiness.wait()
    try:
        lease_runner.do_next(claim_next, run_job, record, readiness)
    except DatabaseUnavailable:  # which has been logged
        raise Ignore from None


def _build_score_job(claim: EvaluationClaim) -> ScoreJob:
    settings = get_settings()
    track = TRACKS[read_rules(claim.competition_file).track]
    return ScoreJob(
        competition_file=claim.competition_file,
        original=jobs.load_files(claim.original),
        files=jobs.load_release(
            claim.files,
            settings,
            sealed_for=claim.secret.bound_to if track.target_files.seals_release else None,
        ),
        secret=open_box(claim.secret, settings),
        inputs=build_worker_inputs(track, claim.allocation_inputs, settings),
    )


def _record_verdict(session: Session, claim: EvaluationClaim, result: ScoreResult) -> None:
    evaluation = evaluations.record_verdict(session, claim, **result)
    if evaluation is not None:
        standing_updates.refresh_evaluation(session, evaluation)


def _build_judge_job(claim: GuessClaim) -> JudgeJob:
    settings = get_settings()
    track = TRACKS[read_rules(claim.competition_file).track]
    return JudgeJob(
        competition_file=claim.competition_file,
        original=jobs.load_files(claim.original),
        guess=get_store().get(claim.file),
        secret=open_box(claim.secret, settings),
        question=claim.question,
        sizes=dict(claim.sizes),
        guesser=claim.guesser,
        guesser_files=jobs.load_files(claim.guesser_files),
        inputs=build_worker_inputs(track, claim.allocation_inputs, settings),
    )


def _record_guess(session: Session, claim: GuessClaim, result: JudgeResult) -> None:
    standing_updates.refresh_judged(session, guesses.record(session, claim, **result))


def _build_advice_job(claim: ReportClaim) -> AdviceJob:
    return AdviceJob(
        competition_file=claim.competition_file,
        original=jobs.load_files(claim.original),
        question=claim.question,
    )
