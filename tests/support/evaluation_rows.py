"""Evaluations as the tables have them."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select

from app.db.models import Evaluation
from app.db.transaction import transaction
from app.services.submissions import evaluations
from app.services.submissions.evaluations import Claim
from tests.support.arena import Arena

LEASE = timedelta(seconds=30)


def submitted(arena: Arena, *, seed: int = 1) -> UUID:
    """The identifier of a queued evaluation."""
    answer = arena.submit("red", seed=seed)
    with transaction() as session:
        found = session.scalars(
            select(Evaluation.id).where(Evaluation.submission_id == UUID(answer.json()["id"]))
        )
        return found.one()


def claim(identifier: UUID, *, lease: timedelta = LEASE, attempts: int = 3) -> Claim | None:
    with transaction() as session:
        found = evaluations.claim_next(session, lease=lease, attempts=attempts)
    assert found is None or found.evaluation_id == identifier
    return found


def row(identifier: UUID) -> Evaluation:
    with transaction() as session:
        return session.get_one(Evaluation, identifier)
