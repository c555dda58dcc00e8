"""The life of an evaluation: queued, scoring under a lease, then finished once."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.orm import Session

from app import queue
from app.db.models import Competition, Evaluation, Secret, State, Submission
from app.services.competitions import published_file

log = structlog.get_logger(__name__)

SCORE = "score"
"""The name of the task that scores one evaluation."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker needs to score one evaluation, and the attempt that is its right to record."""

    evaluation_id: UUID
    attempt: int
    submission_id: UUID
    competition_file: str
    original: dict[str, str]
    files: dict[str, str]
    key_id: str
    sealed: bytes


def queue_up(session: Session, submission: Submission) -> Evaluation:
    evaluation = Evaluation(submission_id=submission.id)
    session.add(evaluation)
    session.flush()
    queue.defer(session, SCORE, evaluation.id)
    return evaluation


def lease_has_run_out() -> Any:  # a SQL expression; SQLAlchemy's own type says no more
    return and_(Evaluation.state == State.SCORING, Evaluation.leased_until < func.clock_timestamp())


def claim(session: Session, evaluation_id: UUID, *, lease: timedelta, attempts: int) -> Claim | None:
    """Take the evaluation for this worker, or None if it is not ours to run.

    It is not if it is finished, cancelled, held by a worker whose lease runs, or if it has been tried
    ``attempts`` times: then it ends in ERROR, because it kills its workers.
    """
    evaluation = session.scalar(
        select(Evaluation)
        .where(Evaluation.id == evaluation_id)
        .where(or_(Evaluation.state == State.QUEUED, lease_has_run_out()))
        .with_for_update(skip_locked=True)
    )
    if evaluation is None or gave_up(session, evaluation, attempts):
        return None
    evaluation.state = State.SCORING
    evaluation.attempt += 1
    now = clock(session)
    evaluation.started_at = now
    evaluation.leased_until = now + lease
    return claim_of(session, evaluation)


def clock(session: Session) -> Any:
    """The database's clock now, which inside a transaction ``now()`` is not."""
    return session.scalars(select(func.clock_timestamp())).one()


def gave_up(session: Session, evaluation: Evaluation, attempts: int) -> bool:
    if evaluation.attempt < attempts:
        return False
    finish(session, evaluation, State.ERROR)
    last = evaluation.failure or "its worker was lost"
    evaluation.failure = f"scoring was tried {evaluation.attempt} times and never finished; last: {last}"
    return True


def claim_of(session: Session, evaluation: Evaluation) -> Claim:
    submission = session.get_one(Submission, evaluation.submission_id)
    competition = session.get_one(Competition, submission.competition_id)
    secret = session.get_one(Secret, submission.id)
    return Claim(
        evaluation_id=evaluation.id,
        attempt=evaluation.attempt,
        submission_id=submission.id,
        competition_file=published_file(competition),
        original=competition.original,
        files=submission.files,
        key_id=secret.key_id,
        sealed=secret.sealed,
    )


def renew(session: Session, claimed: Claim, *, lease: timedelta, step: int, steps: int, name: str) -> bool:
    """Keep the claim and say how far the scoring is; False if another worker has taken over."""
    renewed = session.execute(
        update(Evaluation)
        .where(
            Evaluation.id == claimed.evaluation_id,
            Evaluation.state == State.SCORING,
            Evaluation.attempt == claimed.attempt,
        )
        .values(leased_until=func.clock_timestamp() + lease, step=step, steps=steps, step_name=name)
        .returning(Evaluation.id)
    )
    return renewed.first() is not None


def record(session: Session, claimed: Claim, *, verdict: dict[str, Any], scorer: str) -> bool:
    """Store a verdict, once: False if another worker has taken the evaluation since."""
    evaluation = still_held(session, claimed)
    if evaluation is None:
        return False
    finish(session, evaluation, State.SCORED if verdict["verdict"] == "accepted" else State.REJECTED)
    evaluation.verdict, evaluation.scorer, evaluation.failure = verdict, scorer, None
    return True


def fail(session: Session, claimed: Claim, reason: str) -> bool:
    """End the evaluation in ERROR: our fault, with a reason that a team may read."""
    evaluation = still_held(session, claimed)
    if evaluation is None:
        return False
    finish(session, evaluation, State.ERROR)
    evaluation.failure = reason
    return True


def release(session: Session, claimed: Claim, reason: str) -> None:
    """Give the claim back after a passing fault; the sweep asks for it again."""
    evaluation = still_held(session, claimed)
    if evaluation is not None:
        evaluation.failure = reason
        evaluation.state = State.QUEUED
        evaluation.leased_until = None


def still_held(session: Session, claimed: Claim) -> Evaluation | None:
    evaluation = session.get_one(Evaluation, claimed.evaluation_id, with_for_update=True)
    held = (evaluation.state, evaluation.attempt) == (State.SCORING, claimed.attempt)
    return evaluation if held else None


def finish(session: Session, evaluation: Evaluation, state: State) -> None:
    evaluation.state = state
    evaluation.leased_until = None
    evaluation.finished_at = clock(session)
    evaluation.step = evaluation.steps
    log.info("evaluation_finished", evaluation=str(evaluation.id), state=state, attempt=evaluation.attempt)


def ask_again(session: Session, *, queue_is_empty: bool) -> list[UUID]:
    """Ring again for what should be running and is not: nobody holds it and no message waits.

    Queued evaluations are asked for only when the queue is empty: while messages wait, theirs may be one.
    """
    lost = lease_has_run_out()
    if queue_is_empty:
        waiting = Evaluation.created_at < func.clock_timestamp() - timedelta(seconds=5)
        lost = or_(lost, and_(Evaluation.state == State.QUEUED, waiting))
    found = list(session.scalars(select(Evaluation.id).where(lost).order_by(Evaluation.created_at)))
    for evaluation_id in found:
        queue.defer(session, SCORE, evaluation_id)
    return found
