"""The life of an evaluation: queued, scoring under a lease, then finished once."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup import schemas
from app.db.models import Competition, Evaluation, Rescore, Secret, State, Submission
from app.services.contests import revisions, sealed_inputs
from app.services.contests.competitions import completed, published_file
from app.services.contests.sealed_inputs import Means
from app.services.jobs import leases, queue


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker needs to score one evaluation, and the attempt that is its right to record."""

    evaluation_id: UUID
    attempt: int
    submission_id: UUID
    competition_file: str
    original: dict[str, str]
    files: dict[str, str]
    means: Means | None
    key_id: str
    sealed: bytes


def queue_up(session: Session, submission_id: UUID, *, rescore: Rescore | None = None) -> Evaluation:
    """A new evaluation: the one that counts, or one of a re-score set that does not count yet."""
    submission = session.get_one(Submission, submission_id)
    evaluation = Evaluation(
        submission_id=submission_id,
        competition_id=submission.competition_id,
        party_id=rescore.id if rescore else submission.team_id,
        current=rescore is None,
        rescore_id=rescore.id if rescore else None,
    )
    session.add(evaluation)
    session.flush()
    queue.defer(session, queue.SCORE)
    return evaluation


def include(session: Session, competition_id: UUID, submission_id: UUID) -> None:
    """Have what is accepted while a set is open scored by its rules too, so that nothing is missing."""
    rescore = revisions.open_rescore(session, competition_id)
    known = rescore and session.scalar(
        select(Evaluation.id).where(
            Evaluation.rescore_id == rescore.id, Evaluation.submission_id == submission_id
        )
    )
    if rescore is not None and known is None:
        queue_up(session, submission_id, rescore=rescore)


def claim_next(session: Session, *, lease: timedelta, attempts: int) -> Claim | None:
    """Take the evaluation that is fairly next for this worker, or None if none waits."""
    evaluation = leases.claim_next(session, Evaluation, lease=lease, attempts=attempts)
    return None if evaluation is None else claim_of(session, evaluation)


def claim_of(session: Session, evaluation: Evaluation) -> Claim:
    known = (
        select(Submission, Competition, Secret)
        .join(Competition, Competition.id == Submission.competition_id)
        .join(Secret, Secret.submission_id == Submission.id)
    )
    submission, competition, secret = session.execute(
        known.where(Submission.id == evaluation.submission_id)
    ).one()
    return Claim(
        evaluation_id=evaluation.id,
        attempt=evaluation.attempt,
        submission_id=submission.id,
        competition_file=rules_of(session, evaluation, competition),
        original=competition.given,
        files=submission.files,
        means=sealed_inputs.means_for(session, competition, submission.id),
        key_id=secret.key_id,
        sealed=secret.sealed,
    )


def rules_of(session: Session, evaluation: Evaluation, competition: Competition) -> str:
    """The competition file to score by: the re-score set's own, else the one in force."""
    if evaluation.rescore_id is None:
        return published_file(competition)
    rescore = session.get_one(Rescore, evaluation.rescore_id)
    return completed(rescore.file, rescore.scales, rescore.scored_by)


def record(session: Session, claimed: Claim, *, verdict: dict[str, Any], scorer: str) -> bool:
    """Store a verdict, once: False if another worker has taken the evaluation since."""
    evaluation = leases.held(session, Evaluation, claimed.evaluation_id, claimed.attempt)
    if evaluation is None:
        return False
    leases.finish(session, evaluation, State.SCORED if verdict["verdict"] == "accepted" else State.REJECTED)
    evaluation.step = evaluation.steps
    evaluation.verdict, evaluation.scorer, evaluation.failure = verdict | schemas.FORMAT, scorer, None
    return True
