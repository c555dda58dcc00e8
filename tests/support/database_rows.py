"""Rows of teams and evaluations."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select

from app.db.models import Evaluation, Team
from app.db.transaction import transaction
from app.services.submissions import evaluations
from app.services.submissions.evaluations import EvaluationClaim
from tests.support.arena import Arena

LEASE = timedelta(seconds=30)


def submit_evaluation(arena: Arena, *, seed: int = 1) -> UUID:
    """Submit a release. Return the identifier of its queued evaluation."""
    response = arena.submit("red", seed=seed)
    with transaction() as session:
        evaluation_ids = session.scalars(
            select(Evaluation.id).where(Evaluation.submission_id == UUID(response.json()["id"]))
        )
        return evaluation_ids.one()


def claim_evaluation(
    identifier: UUID, *, lease: timedelta = LEASE, attempts: int = 3
) -> EvaluationClaim | None:
    with transaction() as session:
        evaluation_claim = evaluations.claim_next(session, lease=lease, max_attempts=attempts)
    assert evaluation_claim is None or evaluation_claim.evaluation_id == identifier
    return evaluation_claim


def load_evaluation(identifier: UUID) -> Evaluation:
    with transaction() as session:
        return session.get_one(Evaluation, identifier)


def load_team_id(name: str) -> UUID:
    with transaction() as session:
        return session.scalars(select(Team.id).where(Team.name == name)).one()
