"""Standings of contests whose rows tests have changed by hand."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.boards import standing_updates
from app.boards.models import AttackStanding, Standing
from app.core.db.models import Competition, Evaluation, Rescore, Round, Submission
from app.core.db.transaction import transaction
from app.submissions import evaluations
from app.submissions.evaluations import EvaluationClaim

TIMES = (
    Competition.created_at,
    Submission.received_at,
    Evaluation.created_at,
    Evaluation.finished_at,
    Rescore.applied_at,
)
"""Moments of everything before the second phase."""


def load_standings() -> list[tuple[Any, ...]]:
    """Return all rows of both tables."""
    with transaction() as session:
        return [
            tuple(row)
            for table in (Standing.__table__, AttackStanding.__table__)
            for row in session.execute(select(table).order_by(*table.primary_key))
        ]


def rebuild_standings() -> None:
    """Compute the standings of all rounds again."""
    with transaction() as session:
        for round_id in session.scalars(select(Round.id)):
            standing_updates.refresh(session, round_id)


def move_times_back(age: timedelta, *columns: InstrumentedAttribute[Any]) -> None:
    """Move these moments back, or by default all before the second phase."""
    with transaction() as session:
        for column in columns or TIMES:
            session.execute(update(column.class_).values({column.key: column - age}))
    rebuild_standings()


def record_verdict(session: Session, claim: EvaluationClaim, verdict: dict[str, Any]) -> None:
    """Record a made-up verdict, as a worker does."""
    evaluation = evaluations.record_verdict(session, claim, verdict=verdict, scorer="by hand")
    assert evaluation is not None
    standing_updates.refresh_evaluation(session, evaluation)
