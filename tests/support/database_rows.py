"""Statements in a transaction of their own, and rows of teams and evaluations."""

from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Executable, Select, select

from app.core.db.models import Evaluation, Team
from app.core.db.transaction import read_clock, transaction
from app.submissions import evaluations
from app.submissions.evaluations import EvaluationClaim
from tests.support.arena import Arena

Entity = TypeVar("Entity")


def execute(statement: Executable) -> None:
    with transaction() as session:
        session.execute(statement)


def load_all(query: Select[Entity]) -> list[Entity]:
    with transaction() as session:
        return list(session.scalars(query))


def load_one(query: Select[Entity]) -> Entity:
    with transaction() as session:
        return session.scalars(query).one()


def submit_evaluation(arena: Arena, *, seed: int = 1) -> UUID:
    """Submit a release. Return the identifier of its queued evaluation."""
    response = arena.submit("red", seed=seed)
    return load_one(select(Evaluation.id).where(Evaluation.submission_id == UUID(response.json()["id"])))


def claim_evaluation(identifier: UUID, *, lease: timedelta | None = None) -> EvaluationClaim | None:
    """Claim the next evaluation, which must be this one, for the usual time or that of ``lease``."""
    with transaction() as session:
        claim = evaluations.claim_next(session)
        if claim is not None and lease is not None:
            session.get_one(Evaluation, identifier).leased_until = read_clock(session) + lease
    assert claim is None or claim.lease.job_id == identifier
    return claim


def load_evaluation(identifier: UUID) -> Evaluation:
    with transaction() as session:
        return session.get_one(Evaluation, identifier)


def load_team_id(name: str) -> UUID:
    return load_one(select(Team.id).where(Team.name == name))
