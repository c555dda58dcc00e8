"""Claims on the job that a test names, regardless of fair queueing."""

from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.messages import CodedMessage, Message
from app.boards import standing_updates
from app.core.db.models import Evaluation, Guess, JudgingJob, Rejudgement
from app.jobs import leases
from app.submissions import evaluations
from app.targets import guesses

FAILURE = CodedMessage("scoring_failed", Message("a fault of ours"))


def claim_evaluation(session: Session, identifier: UUID) -> evaluations.EvaluationClaim:
    evaluation = session.get_one(Evaluation, identifier, with_for_update=True)
    assert leases.begin_attempt(session, evaluation)
    return evaluations.build_claim(session, evaluation)


def claim_guess(session: Session, identifier: UUID, *, rescore: UUID | None = None) -> guesses.GuessClaim:
    """Claim a guess, or its rejudgement by the rules of a rescore."""
    job: Guess | Rejudgement = session.get_one(Guess, identifier, with_for_update=True)
    if rescore is not None:
        job = session.scalars(
            select(Rejudgement).where(Rejudgement.guess_id == identifier, Rejudgement.rescore_id == rescore)
        ).one()
    assert leases.begin_attempt(session, job)
    return guesses.build_claim(session, job)


def record_guess(session: Session, claim: guesses.GuessClaim, **result: Any) -> JudgingJob | None:
    """Record the outcome of a guess and the standings that follow, as the worker does."""
    job = guesses.record(session, claim, **result)
    standing_updates.refresh_judged(session, job)
    return job
