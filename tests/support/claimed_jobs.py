"""Claims on work that a test names, though another piece be fairly next."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.messages import Message, Statement
from app.db.models import Evaluation, Guess
from app.services.attacks import guesses
from app.services.jobs import leases
from app.services.submissions import evaluations

LEASE = timedelta(minutes=1)
FAULT = Statement("scoring_failed", Message("a fault of ours"))


def claim_evaluation(session: Session, identifier: UUID) -> evaluations.Claim:
    work = session.get_one(Evaluation, identifier, with_for_update=True)
    assert leases.take(session, work, lease=LEASE)
    return evaluations.claim_of(session, work)


def claim_guess(session: Session, identifier: UUID) -> guesses.Claim:
    work = session.get_one(Guess, identifier, with_for_update=True)
    assert leases.take(session, work, lease=LEASE)
    return guesses.claim_of(session, work)
