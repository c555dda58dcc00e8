"""Evaluations: queue them, claim them under a lease, and record the verdict once."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup import schemas
from app.competitions import revisions
from app.competitions.competitions import build_published_file, complete_file
from app.core.db.models import Evaluation, RecordedVerdict, Rescore, Round, Secret, State, Submission
from app.jobs import leases, queue
from app.jobs.leases import Lease
from app.originals import sealed_inputs
from app.originals.sealed_inputs import AllocationInputs, SealedBox


@dataclass(frozen=True, slots=True)
class EvaluationClaim:
    """Everything a worker needs to score one evaluation."""

    lease: Lease[Evaluation]
    competition_file: str
    original: dict[str, str]
    files: dict[str, str]
    allocation_inputs: AllocationInputs | None
    secret: SealedBox


def enqueue(session: Session, submission_id: UUID, *, rescore: Rescore | None = None) -> Evaluation:
    """Queue an evaluation of a submission.

    It is the submission's current one or, with ``rescore``, one that counts once the rescore is applied.
    """
    submission = session.get_one(Submission, submission_id)
    evaluation = Evaluation(
        submission_id=submission_id,
        round_id=submission.round_id,
        # Jobs of different parties take turns. A rescore is one party, however many teams it concerns.
        party_id=rescore.id if rescore else submission.team_id,
        current=rescore is None,
        rescore_id=rescore.id if rescore else None,
    )
    session.add(evaluation)
    session.flush()
    queue.enqueue_after_commit(session, queue.SCORE)
    return evaluation


def include_in_open_rescore(session: Session, round_id: UUID, submission_id: UUID) -> None:
    """Add a submission to the open rescore, if there is one, so that it covers all submissions."""
    rescore = revisions.find_open_rescore(session, round_id)
    if rescore is None:
        return
    query = select(Evaluation.id).where(
        Evaluation.rescore_id == rescore.id, Evaluation.submission_id == submission_id
    )
    if session.scalar(query) is None:
        enqueue(session, submission_id, rescore=rescore)


def claim_next(session: Session) -> EvaluationClaim | None:
    """Claim the next evaluation in fair order; None if none is waiting."""
    evaluation = leases.claim_next(session, Evaluation)
    return None if evaluation is None else build_claim(session, evaluation)


def build_claim(session: Session, evaluation: Evaluation) -> EvaluationClaim:
    """Load what a worker needs to score an evaluation that it has leased."""
    query = (
        select(Submission, Round, Secret)
        .join(Round, Round.id == Submission.round_id)
        .join(Secret, Secret.submission_id == Submission.id)
    )
    submission, round_, secret = session.execute(query.where(Submission.id == evaluation.submission_id)).one()
    return EvaluationClaim(
        lease=Lease.create(evaluation),
        competition_file=_get_competition_file(session, evaluation, round_),
        original=round_.public_files,
        files=submission.files,
        allocation_inputs=sealed_inputs.load_inputs_for_submission(session, round_, submission.id),
        secret=SealedBox(submission.id, secret.key_id, secret.sealed),
    )


def _get_competition_file(session: Session, evaluation: Evaluation, round_: Round) -> str:
    """Return the competition file to score by: that of the rescore, or else the current one."""
    if evaluation.rescore_id is None:
        return build_published_file(round_)
    rescore = session.get_one(Rescore, evaluation.rescore_id)
    return complete_file(rescore.file, rescore.scales, rescore.scored_by)


def record_verdict(
    session: Session, claim: EvaluationClaim, *, verdict: dict[str, Any], scorer: str, steps: int = 0
) -> Evaluation | None:
    """Store a verdict and return its evaluation; None if another worker has claimed it meanwhile."""
    evaluation = leases.lock_job(session, claim.lease)
    if evaluation is None:
        return None
    leases.finish(session, evaluation, State.SCORED if verdict["verdict"] == "accepted" else State.REJECTED)
    session.add(RecordedVerdict(evaluation_id=evaluation.id, scorer=scorer, content=verdict | schemas.FORMAT))
    evaluation.failure = None
    evaluation.step = steps
    evaluation.steps = steps
    return evaluation
